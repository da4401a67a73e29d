//! Words that may not be what they look like: letters of several scripts side by side, as in `gіt` with a Cyrillic `і`.

use unicode_script::{Script, ScriptExtension, UnicodeScript};

/// Scripts that are written together, and none of which is taken for another.
const TOGETHER: [&[Script]; 3] = [
    &[
        Script::Latin,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
    ],
    &[Script::Latin, Script::Han, Script::Bopomofo],
    &[Script::Latin, Script::Han, Script::Hangul],
];

/// Whether letters of more than one script stand side by side in the word.
///
/// A path or an option is judged part by part, since what stands between (`/`, `.`, `-`) also parts them for the eye:
/// `src/тест.rs` does not mix. Latin together with Chinese, Japanese or Korean does not count either.
pub fn mixes_scripts(word: &str) -> bool {
    !word.is_ascii()
        && word
            .split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric())
            .any(|part| !part.is_ascii() && part_mixes(part))
}

fn part_mixes(part: &str) -> bool {
    // An extension names every script that a letter is used in; those of digits and marks are all of them.
    let common = part
        .chars()
        .map(|c| c.script_extension())
        .fold(ScriptExtension::default(), ScriptExtension::intersection);
    common.is_empty()
        && !TOGETHER.iter().any(|scripts| {
            part.chars().all(|c| {
                let extension = c.script_extension();
                extension.is_common()
                    || extension.is_inherited()
                    || scripts
                        .iter()
                        .any(|script| extension.contains_script(*script))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_mix_scripts_are_found() {
        for word in ["gіt", "раypal", "--fоrce", "src/mаin.rs", "ΑΒC", "a1б"] {
            assert!(mixes_scripts(word), "{word}");
        }
        for word in [
            "git",
            "",
            "тест",
            "src/тест.rs",
            "naïve",
            "日本語",
            "日本語ファイル2",
            "report日本",
            "한국어abc",
            "β2",
            "1²",
            "e\u{301}",
            "x=кот",
            "👍a",
            "µs",
        ] {
            assert!(!mixes_scripts(word), "{word}");
        }
    }
}
