//! What a program that is not known might run: the parts of its arguments that could be a command's name or a text of
//! commands.
//!
//! Guarantees no completeness, and no doubt: what is found here is only compared with deny and ask rules, so that it costs
//! a refusal where the name that a rule denies stands there itself, and nothing else.

use super::word::Word;

/// Words behind a part that are looked at with it.
const FOLLOWING: usize = 32;

/// Bytes of an option cluster in which a value is looked for: `-xVALUE`, `-HxVALUE`.
const CLUSTERED: [usize; 2] = [2, 3];

/// Characters by which a word may be a text of commands, or a list.
pub(super) const TEXT: [char; 8] = [' ', '\t', '\n', ';', '|', '&', '`', '$'];

/// What may be run of one word.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// Possible command names.
    pub(super) names: Vec<String>,
    /// Possible texts of commands.
    pub(super) texts: Vec<String>,
}

/// The parts of a word: the whole, what stands behind each `=`, the rest of a cluster of short options, the members of a
/// list with commas; and what stands behind a `!`, by which many programs mark a command of the shell.
pub(super) fn pieces(text: &str) -> Pieces {
    let mut found = Pieces::default();
    found.add(text, false);
    for (at, _) in text.match_indices('=').take(8) {
        found.add(text.get(at + 1..).unwrap_or_default(), true);
    }
    for (at, _) in text.match_indices('!').take(8) {
        found.add(text.get(at + 1..).unwrap_or_default(), true);
    }
    if text.starts_with('-') && !text.starts_with("--") {
        for rest in CLUSTERED.iter().filter_map(|at| text.get(*at..)) {
            found.add(rest, true);
        }
    }
    if text.contains(',') && !text.contains(TEXT) {
        for member in text.split(',').take(16) {
            found.add(member, true);
        }
    }
    found
}

impl Pieces {
    fn add(&mut self, part: &str, is_part: bool) {
        let bare = part.trim_matches(|c: char| {
            matches!(c, '"' | '\'' | '!' | '|' | '\\' | '(' | ')') || c.is_whitespace()
        });
        if bare.is_empty() {
            return;
        }
        if bare.contains(TEXT) {
            self.texts
                .push(part.trim_start_matches(['!', '|']).to_owned());
            if bare != part {
                self.texts.push(bare.to_owned());
            }
            // `.shell rm x`, `:silent rm x`: a command of the program itself before that of the shell.
            if part.starts_with(['.', ':', '\\', '+', '@'])
                && let Some((_, rest)) = part.split_once(TEXT)
            {
                self.texts.push(rest.to_owned());
            }
        } else if is_part || bare != part {
            self.names.push(bare.to_owned());
        }
    }
}

/// A command that begins with this name, and goes on with these words.
pub(super) fn command(name: &str, following: &[Word]) -> Vec<Word> {
    let mut words = vec![Word::literal(name)];
    words.extend(following.iter().take(FOLLOWING).cloned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found() {
        for (text, names, texts) in [
            ("plain", vec![], vec![]),
            ("--exec=rm", vec!["rm"], vec![]),
            ("-xrm", vec!["rm", "m"], vec![]),
            ("-Hxrm", vec!["xrm", "rm"], vec![]),
            ("rm,x", vec!["rm", "x"], vec![]),
            ("!rm", vec!["rm", "rm"], vec![]),
            ("!rm x", vec![], vec!["rm x", "rm x", "rm x"]),
            (
                "--a=exec=rm x",
                vec![],
                vec!["--a=exec=rm x", "exec=rm x", "rm x"],
            ),
        ] {
            let found = pieces(text);
            assert_eq!(found.names, names, "{text}");
            assert_eq!(found.texts, texts, "{text}");
        }
    }
}
