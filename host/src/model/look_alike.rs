//! Names that look alike at a glance, and are not the same.

/// A name without what the eye passes over: case, dashes, and letters that stand for each other. Names with one outline
/// look alike.
pub fn outline(name: &str) -> String {
    let letters: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| match c.to_ascii_lowercase() {
            '0' => 'o',
            '1' | 'i' => 'l',
            '5' => 's',
            other => other,
        })
        .collect();
    letters.replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_found() {
        for (one, other) in [
            ("acme__Resize", "acme__resize"),
            ("acme__Resize", "acrne__Resize"),
            ("acme__Fill", "acme__F1ll"),
            ("acme__O2", "acme__02"),
            ("acme__web-fetch", "acme__web_fetch"),
            ("Read", "read"),
        ] {
            assert_eq!(outline(one), outline(other), "{one} {other}");
        }
        assert_ne!(outline("acme__Resize"), outline("acme__Rotate"));
    }
}
