//! A command line, judged once and matched often.

use std::sync::Arc;

use super::grammar;
use super::scan::{RawCommand, scan};
use super::unwrap::{Situation, unwrap};
use super::view::View;
use super::word::Word;
use crate::model::mixes_scripts;

/// Bytes of a text that are analysed.
const MAX_BYTES: usize = 64 * 1024;

/// Texts of commands inside texts of commands (`sh -c 'sh -c …'`).
const MAX_TEXTS: usize = 8;

/// Bytes of all texts in a line, whatever they are inside of.
const MAX_BYTES_OF_TEXTS: usize = 1024 * 1024;

/// Words of the text as it stands that are compared with rules. Longer texts are cut.
const MAX_RAW_WORDS: usize = 1024;

/// What a command line says, for rules.
#[derive(Clone, Debug)]
pub struct CommandLine {
    commands: Vec<SimpleCommand>,
    opaque: Option<&'static str>,
    undecidable: Option<&'static str>,
    wraps: bool,
    mixed: Vec<String>,
    views: Vec<View>,
    bytes_read: usize,
}

/// A command word and its arguments, as the program is given them; an unquoted wildcard, brace or tilde in an argument
/// still stands as it was written.
#[derive(Clone, Debug)]
pub struct SimpleCommand {
    words: Arc<[Word]>,
}

impl SimpleCommand {
    /// The words, the command word first; at least one.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(Word::text)
    }

    pub(super) fn parts(&self) -> &[Word] {
        &self.words
    }
}

impl CommandLine {
    /// Analyses exactly the text that `bash -c` will be given. Never fails: what is not understood is opaque.
    pub fn analyse(text: &str) -> Self {
        let mut line = Self {
            commands: Vec::new(),
            opaque: None,
            undecidable: None,
            wraps: false,
            mixed: Vec::new(),
            views: vec![raw_view(text)],
            bytes_read: 0,
        };
        // Without `--` before it, bash would take it for options.
        let option = text.starts_with(['-', '+']);
        line.opaque = line.read(text, 0, false);
        line.opaque = line
            .opaque
            .or(option.then_some("a text that begins as an option does"));
        line.undecidable = line.opaque.or(line.undecidable);
        line
    }

    /// The simple commands, if the text is a list of them (`;`, `&&`, `||`, `|`, lines) whose words are all literal: what
    /// an allow rule is matched with. At least one.
    pub fn commands(&self) -> Option<&[SimpleCommand]> {
        match self.opaque {
            None => Some(&self.commands),
            Some(_) => None,
        }
    }

    /// Why there is no such list; a short phrase for people ("a redirection").
    pub fn opaque(&self) -> Option<&str> {
        self.opaque
    }

    /// Why it is not sure that no deny rule is touched, even if none was found to be: the text is opaque, or it has a
    /// shell or another program run what cannot be read here. A short phrase for people.
    pub fn undecidable(&self) -> Option<&str> {
        self.undecidable
    }

    /// Whether a command in it runs another command, or code, from its arguments (`sudo`, `xargs`, `find -exec`,
    /// `sh -c`, `python -c`): an answer that is remembered for it would cover more than was seen.
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// Its words in which letters of several scripts stand together, so that they may not be what they look like.
    pub fn mixed_script_words(&self) -> &[String] {
        &self.mixed
    }

    /// Every reading of every command that was found.
    pub(super) fn views(&self) -> &[View] {
        &self.views
    }

    /// Reads one text, and those inside it. At depth 0 it is the line. Gives the reason why it is opaque.
    fn read(&mut self, text: &str, depth: usize, piped: bool) -> Option<&'static str> {
        if let Some(limit) = self.limit(text, depth) {
            return Some(limit);
        }
        let scan = scan(text);
        let mut opaque = scan.reason;
        if opaque.is_none() {
            opaque = if scan.commands.is_empty() {
                Some("a text without a command")
            } else {
                grammar::confirm(text, &scan.commands).err()
            };
        }
        for inner in scan.backquoted {
            opaque = opaque.or(self.read(&inner, depth + 1, piped));
        }
        for command in scan.commands {
            opaque = opaque.or(self.take(command, depth, piped));
        }
        opaque
    }

    /// Reads a text that is one of commands only if some program takes it for one: it is compared with rules, and what
    /// is not understood in it is no reason to doubt.
    fn read_possible(&mut self, text: &str, depth: usize) {
        if let Some(limit) = self.limit(text, depth) {
            self.undecidable.get_or_insert(limit);
            return;
        }
        let scan = scan(text);
        for inner in scan.backquoted {
            self.read_possible(&inner, depth + 1);
        }
        for command in scan.commands {
            let words: Arc<[Word]> = command.words.into();
            let situation = Situation {
                piped: false,
                guess: true,
            };
            let found = unwrap(&words, &command.starts, situation);
            self.views.extend(found.views);
            self.undecidable = self.undecidable.or(found.undecidable);
            for text in found.texts.iter().chain(&found.possible) {
                self.read_possible(text, depth + 1);
            }
        }
    }

    /// Why a text is not read.
    fn limit(&mut self, text: &str, depth: usize) -> Option<&'static str> {
        if text.len() > MAX_BYTES {
            return Some("text that is too long to be analysed");
        }
        self.bytes_read += text.len();
        (depth > MAX_TEXTS || self.bytes_read > MAX_BYTES_OF_TEXTS)
            .then_some("more texts inside texts than are analysed")
    }

    fn take(&mut self, command: RawCommand, depth: usize, piped: bool) -> Option<&'static str> {
        let mixed = command.words.iter().map(Word::text);
        for word in mixed.filter(|word| mixes_scripts(word)) {
            if !self.mixed.iter().any(|known| known == word) {
                self.mixed.push(word.to_owned());
            }
        }
        let piped = piped || command.piped;
        let words: Arc<[Word]> = command.words.into();
        let situation = Situation {
            piped,
            guess: false,
        };
        let found = unwrap(&words, &command.starts, situation);
        if depth == 0 {
            self.commands.push(SimpleCommand { words });
        }
        self.wraps |= found.wraps;
        self.views.extend(found.views);
        self.undecidable = self.undecidable.or(found.undecidable);
        for text in &found.texts {
            let doubt = self.read(text, depth + 1, piped);
            self.undecidable = self.undecidable.or(doubt);
        }
        for text in &found.possible {
            self.read_possible(text, depth + 1);
        }
        found.changes_meaning
    }
}

/// The text as it stands, without any decoding.
fn raw_view(text: &str) -> View {
    let words = text
        .split([' ', '\t', '\n'])
        .filter(|word| !word.is_empty());
    View::whole(words.take(MAX_RAW_WORDS).map(Word::literal).collect())
}
