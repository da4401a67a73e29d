//! The violations that binding finds, as the sentences a model reads. Every sentence names the parameter by its path
//! and says that nothing was done. At most 50 are kept, the rest is counted, so that no input makes an endless answer.

use crate::JsonType;

/// Most sentences that are kept.
const MAX_SENTENCES: usize = 50;
/// Most characters of a caller's own text in a sentence.
const MAX_ECHO: usize = 100;
const NOT_EXECUTED: &str = "The tool was not executed.";

/// What does not fit in an input, and where in it the binding stands.
#[derive(Debug, Default)]
pub struct Faults {
    path: String,
    sentences: Vec<String>,
    unlisted: usize,
}

impl Faults {
    /// Binds the field `name` of the current place.
    pub fn in_field<T>(&mut self, name: &str, bind: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let bound = bind(self);
        self.path.truncate(length);
        bound
    }

    /// Binds the element `index`, from 0, of the current place.
    pub fn in_element<T>(&mut self, index: usize, bind: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let bound = bind(self);
        self.path.truncate(length);
        bound
    }

    /// The current place is absent or null and must not be.
    pub fn required(&mut self, expected: JsonType) {
        match expected {
            JsonType::Any => self.report("is required"),
            named => self.report(&format!("is required ({})", named.name())),
        }
    }

    /// The current place holds a value of another type.
    pub fn wrong_type(&mut self, expected: JsonType) {
        self.report(&format!("must be {}", expected.with_article()));
    }

    /// The current place holds an integer out of its type's range.
    pub fn out_of_range(&mut self, min: i128, max: i128) {
        self.report(&format!("must be an integer from {min} to {max}"));
    }

    /// The current place holds another string than one of `choices`.
    pub fn not_one_of(&mut self, choices: &[&str], actual: &str) {
        self.report(&format!(
            "must be one of [{}], but was '{}'",
            choices.join(", "),
            echo(actual)
        ));
    }

    /// The object at the current place has a field that is none of `known`.
    pub fn unknown(&mut self, name: &str, known: &[&str]) {
        let prefix = if self.path.is_empty() {
            String::new()
        } else {
            format!("{}.", self.path)
        };
        let question = match nearest(name, known) {
            Some(near) => format!(" Did you mean '{prefix}{near}'?"),
            None => String::new(),
        };
        self.push(format!(
            "Unknown parameter '{prefix}{}'.{question} {NOT_EXECUTED}",
            echo(name)
        ));
    }

    /// Another violation at the current place: `rule` completes a sentence that begins with the parameter, such as
    /// `must not be empty`.
    pub fn report(&mut self, rule: &str) {
        if self.path.is_empty() {
            self.push(format!("The input {rule}. {NOT_EXECUTED}"));
        } else {
            self.push(format!("Parameter '{}' {rule}. {NOT_EXECUTED}", self.path));
        }
    }

    /// Whether nothing was found so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The sentences, in the order in which they were found.
    #[must_use]
    pub fn into_sentences(mut self) -> Vec<String> {
        if self.unlisted > 0 {
            let rest = format!(
                "{} more violations are not listed. {NOT_EXECUTED}",
                self.unlisted
            );
            self.sentences.push(rest);
        }
        self.sentences
    }

    fn push(&mut self, sentence: String) {
        if self.sentences.len() < MAX_SENTENCES {
            self.sentences.push(sentence);
        } else {
            self.unlisted += 1;
        }
    }
}

/// A caller's text, short and without control characters.
fn echo(text: &str) -> String {
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MAX_ECHO {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The known name that a caller most likely meant: it differs in case and word separators only, or in at most a third
/// of its characters.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = plain(name);
    // Longer names are no typing mistakes, and comparing them costs.
    if plain.len() > MAX_ECHO {
        return None;
    }
    known
        .iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&plain, &self::plain(candidate)),
                *candidate,
            )
        })
        .filter(|(distance, candidate)| distance * 3 <= candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The letters and digits of a name in lower case; the name itself if it has none.
fn plain(name: &str) -> String {
    let letters: String = name
        .chars()
        .filter(|character| !matches!(character, '_' | '-'))
        .collect();
    if letters.is_empty() {
        name.to_owned()
    } else {
        letters.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let known = ["file_path", "offset", "limit"];
        for (written, meant) in [
            ("file_paht", Some("file_path")),
            ("filePath", Some("file_path")),
            ("FILE-PATH", Some("file_path")),
            ("limits", Some("limit")),
            ("ofset", Some("offset")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, &known), meant, "{written}");
        }
    }

    #[test]
    fn short_names_are_not_near_each_other() {
        assert_eq!(nearest("-n", &["-i", "-A"]), None);
        assert_eq!(nearest("A", &["-A"]), Some("-A"));
    }

    #[test]
    fn a_callers_text_is_cut_and_escaped() {
        assert_eq!(echo("a\nb\u{1b}[0m"), "a\\nb\\u{1b}[0m");
        assert_eq!(echo(&"é".repeat(101)).chars().count(), 101);
        assert!(echo(&"é".repeat(101)).ends_with('…'));
        assert_eq!(echo(&"é".repeat(100)), "é".repeat(100));
    }

    #[test]
    fn sentences_are_bounded_and_counted() {
        let mut faults = Faults::default();
        for index in 0..60 {
            faults.in_element(index, |faults| faults.wrong_type(JsonType::String));
        }
        let sentences = faults.into_sentences();
        assert_eq!(sentences.len(), 51);
        assert_eq!(
            sentences[50],
            "10 more violations are not listed. The tool was not executed."
        );
    }
}
