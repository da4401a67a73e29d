//! What a write did, in a sentence.

use toolgate_reply::counted;

/// The reply to a write: what happened to which file, and how much it holds now.
#[must_use]
pub fn report(created: bool, path: &str, content: &str) -> String {
    let verb = if created { "Created" } else { "Overwrote" };
    let bytes = counted(content.len() as u64, "byte", "bytes");
    let lines = counted(content.lines().count() as u64, "line", "lines");
    format!("{verb} {path} ({bytes}, {lines}).")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_happened() {
        assert_eq!(
            report(true, "/ws/a.txt", "a\nb\n"),
            "Created /ws/a.txt (4 bytes, 2 lines)."
        );
        assert_eq!(
            report(false, "/ws/a.txt", "ä"),
            "Overwrote /ws/a.txt (2 bytes, 1 line)."
        );
        assert_eq!(
            report(true, "/ws/a.txt", ""),
            "Created /ws/a.txt (0 bytes, 0 lines)."
        );
    }
}
