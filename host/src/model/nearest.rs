//! "Did you mean": one measure of nearness for tools, parameters and configuration keys.

/// The candidate nearest to `text`, if one is near enough to be what was meant.
///
/// Letter case, `_` and `-` do not count, so `filePath` finds `file_path`. Near enough is a Jaro-Winkler similarity of
/// 0.75, or one text within the other when the shorter has at least 4 letters, or `-` + text (flags such as `-n`).
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(text);
    candidates
        .into_iter()
        .map(|candidate| (score(&wanted, text, candidate), candidate))
        .filter(|(score, _)| *score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// ` Did you mean 'x'?`, or nothing.
pub fn suggestion<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(text, candidates).map_or_else(String::new, |near| format!(" Did you mean '{near}'?"))
}

fn score(wanted: &str, text: &str, candidate: &str) -> f64 {
    let folded = folded(candidate);
    if wanted == folded || candidate.strip_prefix('-') == Some(text) {
        return 1.0;
    }
    let shorter = wanted.len().min(folded.len());
    if shorter >= 4 && (wanted.contains(&folded) || folded.contains(wanted)) {
        return 0.9;
    }
    strsim::jaro_winkler(wanted, &folded)
}

fn folded(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '_' && *c != '-')
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let fields = ["file_path", "offset", "limit", "-n"];
        for (text, found) in [
            ("path", Some("file_path")),
            ("filePath", Some("file_path")),
            ("FILE_PATH", Some("file_path")),
            ("file_paht", Some("file_path")),
            ("n", Some("-n")),
            ("ofset", Some("offset")),
            ("zebra", None),
        ] {
            assert_eq!(nearest(text, fields), found, "{text}");
        }
    }
}
