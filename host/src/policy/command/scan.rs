//! The first reader: text into commands of words, in one pass and without recursion.
//!
//! Reads all of bash's quoting and separators, as `bash -c` does: without history expansion. What it reads further than a plain list of commands is only there to be
//! found by deny and ask rules: the commands inside substitutions, groups and loops, with more commands than there are
//! rather than fewer. The first such thing is also the reason why the text is not a plain list.

use std::str::Chars;

use super::ansi_c;
use super::word::{Word, WordBuilder};

/// Quotations, substitutions and groups inside each other.
const MAX_NESTING: usize = 50;

/// Words that are syntax where a command word is looked for.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The commands that have a word, in the order of their ends.
    pub(super) commands: Vec<RawCommand>,
    /// The texts of backquoted substitutions, which are read on their own.
    pub(super) backquoted: Vec<String>,
    /// Why it is not a list of simple commands of literal words; a phrase for people.
    pub(super) reason: Option<&'static str>,
}

/// The words between two separators.
#[derive(Clone, Debug, Default)]
pub(super) struct RawCommand {
    /// All of them.
    pub(super) words: Vec<Word>,
    /// Where in them a command may begin: at the first, and behind assignments, reserved words, substitutions and
    /// redirections.
    pub(super) starts: Vec<usize>,
    /// Whether its input is the output of the command before.
    pub(super) piped: bool,
    start_here: bool,
    start_after_next: bool,
    skip_next: bool,
}

/// Reads a whole text.
pub(super) fn scan(text: &str) -> Scan {
    let mut scanner = Scanner::new(text, RawCommand::new());
    scanner.run();
    scanner.scan
}

/// Reads text that stands behind a command word: nothing in it is reserved or an assignment.
pub(super) fn scan_arguments(text: &str) -> Scan {
    let mut scanner = Scanner::new(text, RawCommand::default());
    scanner.run();
    scanner.scan
}

struct Scanner<'a> {
    rest: Chars<'a>,
    within: Vec<Within>,
    command: RawCommand,
    word: WordBuilder,
    /// Behind `&&`, `||` or `|`, which need a command.
    needs_command: bool,
    /// Behind `|`.
    behind_pipe: bool,
    scan: Scan,
}

/// What the scanner is inside of.
enum Within {
    /// `"…"`.
    Quotes,
    /// `${…}`.
    Braces,
    /// `(…)`, with what stands around it.
    List(RawCommand, WordBuilder),
}

impl RawCommand {
    fn new() -> Self {
        Self {
            start_here: true,
            ..Self::default()
        }
    }
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, command: RawCommand) -> Self {
        let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
        Self {
            rest: text.chars(),
            within: Vec::new(),
            command,
            word: WordBuilder::default(),
            needs_command: false,
            behind_pipe: false,
            scan: Scan {
                reason: text.contains(control).then_some("a control character"),
                ..Scan::default()
            },
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.rest.next();
        }
        found
    }

    /// Keeps the first reason.
    fn note(&mut self, reason: &'static str) {
        self.scan.reason.get_or_insert(reason);
    }

    fn run(&mut self) {
        while let Some(c) = self.rest.next() {
            match self.within.last() {
                Some(Within::Quotes) => self.quoted(c),
                Some(Within::Braces) => self.braced(c),
                Some(Within::List(..)) | None => self.unquoted(c),
            }
            if self.within.len() > MAX_NESTING {
                self.note("more nesting than is analysed");
                break;
            }
        }
        if !self.within.is_empty() {
            self.note("a quotation, substitution or group that does not end");
        }
        loop {
            self.needs_command &= !self.end_command();
            match self.within.pop() {
                Some(Within::List(command, word)) => {
                    self.command = command;
                    self.word = word;
                }
                Some(Within::Quotes | Within::Braces) => {}
                None => break,
            }
        }
        if self.needs_command {
            self.note("a list that does not end");
        }
    }

    fn unquoted(&mut self, c: char) {
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' => self.separator(false, false),
            ';' => {
                if matches!(self.peek(), Some(';' | '&')) {
                    self.note("a compound command");
                }
                self.separator(true, false);
            }
            '&' => self.ampersand(),
            '|' => {
                let list = if self.take('&') {
                    self.note("a redirection");
                    false
                } else {
                    self.take('|')
                };
                self.separator(true, true);
                self.behind_pipe = !list;
            }
            '<' | '>' => self.angle(c),
            '(' => {
                self.note("a parenthesis");
                self.open_list();
            }
            ')' => self.close_list(),
            '#' if !self.word.started() => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.rest.next();
                }
            }
            '\\' => match self.rest.next() {
                Some('\n') => {}
                Some(escaped) => self.word.push_quoted(escaped),
                None => {
                    self.note("a backslash at the end");
                    self.word.push_quoted('\\');
                }
            },
            '\'' => self.single_quotes(),
            '"' => {
                self.word.quote();
                self.within.push(Within::Quotes);
            }
            '$' => self.dollar(false),
            '`' => self.backquotes(),
            _ => self.word.push(c),
        }
    }

    fn quoted(&mut self, c: char) {
        match c {
            '"' => {
                self.within.pop();
            }
            '\\' => match self.peek() {
                Some('\n') => {
                    self.rest.next();
                }
                Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                    self.rest.next();
                    self.word.push_quoted(escaped);
                }
                Some(_) | None => self.word.push_quoted('\\'),
            },
            '$' => self.dollar(true),
            '`' => self.backquotes(),
            _ => self.word.push_quoted(c),
        }
    }

    /// Inside `${…}`: only what may hold a command or hide the end counts.
    fn braced(&mut self, c: char) {
        let in_quotes = self
            .within
            .iter()
            .rev()
            .find(|within| !matches!(within, Within::Braces))
            .is_some_and(|within| matches!(within, Within::Quotes));
        match c {
            '}' => {
                self.within.pop();
            }
            '\\' => {
                self.rest.next();
            }
            '\'' if !in_quotes => self.single_quotes(),
            '"' => self.within.push(Within::Quotes),
            '$' => self.dollar(in_quotes),
            '`' => self.backquotes(),
            '<' | '>' if self.peek() == Some('(') => {
                self.rest.next();
                self.open_list();
            }
            _ => {}
        }
    }

    fn ampersand(&mut self) {
        if self.take('&') {
            self.separator(true, true);
        } else if self.take('>') {
            self.take('>');
            self.redirect();
        } else {
            self.note("a command in the background");
            self.separator(true, false);
        }
    }

    fn angle(&mut self, c: char) {
        if self.take('(') {
            self.note("a process substitution");
            self.word.expand();
            self.open_list();
            return;
        }
        if self.word.is_number() {
            self.word = WordBuilder::default();
        }
        if self.take(c) {
            // Of `<<<` and `<<-`.
            if c == '<' && !self.take('<') {
                self.take('-');
            }
        } else if !(self.take('&') || self.take('|')) && c == '<' {
            self.take('>');
        }
        self.redirect();
    }

    fn redirect(&mut self) {
        self.note("a redirection");
        self.end_word();
        self.command.skip_next = true;
    }

    fn dollar(&mut self, in_quotes: bool) {
        let next = self.peek();
        match next {
            Some('\'') if !in_quotes => {
                self.rest.next();
                self.word.quote();
                match ansi_c::decode(&mut self.rest) {
                    Ok(text) => text.chars().for_each(|c| self.word.push_quoted(c)),
                    Err(reason) => {
                        self.note(reason);
                        self.word.expand();
                    }
                }
            }
            Some('"') if !in_quotes => {
                self.note("a translated text ($\"…\")");
                self.word.expand();
            }
            Some('(') => {
                self.note("a command substitution");
                self.word.expand();
                self.rest.next();
                self.open_list();
            }
            Some('{') => {
                self.note("a parameter expansion");
                self.word.expand();
                self.rest.next();
                self.within.push(Within::Braces);
            }
            // What follows makes it an ordinary dollar sign.
            None
            | Some(' ' | '\t' | '\n' | '/' | '.' | ',' | '%' | ':' | '=' | '+' | ']' | '}' | '|') =>
            {
                self.word.push_quoted('$');
            }
            Some('"' | ')') if in_quotes => self.word.push_quoted('$'),
            Some(';' | '&') if !in_quotes => self.word.push_quoted('$'),
            Some(c) => {
                self.note("a parameter expansion");
                self.word.expand();
                if c.is_ascii_alphanumeric() || c == '_' {
                    while self
                        .peek()
                        .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                    {
                        self.rest.next();
                    }
                } else if matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!' | '[') {
                    self.rest.next();
                }
            }
        }
    }

    fn single_quotes(&mut self) {
        self.word.quote();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(c) => self.word.push_quoted(c),
                None => return self.note("a quotation that does not end"),
            }
        }
    }

    fn backquotes(&mut self) {
        self.note("a command substitution");
        self.word.expand();
        let mut inner = String::new();
        loop {
            match self.rest.next() {
                Some('`') => break,
                Some('\\') => match self.peek() {
                    Some(escaped @ ('$' | '`' | '\\')) => {
                        self.rest.next();
                        inner.push(escaped);
                    }
                    Some(_) | None => inner.push('\\'),
                },
                Some(c) => inner.push(c),
                None => {
                    self.note("a quotation that does not end");
                    break;
                }
            }
        }
        self.scan.backquoted.push(inner);
    }

    fn open_list(&mut self) {
        let command = std::mem::replace(&mut self.command, RawCommand::new());
        let word = std::mem::take(&mut self.word);
        self.within.push(Within::List(command, word));
    }

    fn close_list(&mut self) {
        self.end_command();
        // Without an opening parenthesis it ends a pattern of `case`.
        let Some(Within::List(command, word)) = self.within.pop() else {
            self.note("a parenthesis");
            return;
        };
        self.command = command;
        self.word = word;
        if !self.word.started() {
            self.command.start_here = true;
        } else {
            self.command.start_after_next = true;
        }
    }

    fn separator(&mut self, ends_a_command: bool, needs_command: bool) {
        let found = self.end_command();
        if ends_a_command && !found {
            self.note("a separator without a command");
        }
        if found || ends_a_command {
            self.needs_command = needs_command;
        }
    }

    /// Ends the command; whether it had a word.
    fn end_command(&mut self) -> bool {
        self.end_word();
        let mut command = std::mem::replace(&mut self.command, RawCommand::new());
        let found = !command.words.is_empty();
        if found {
            command.piped = std::mem::take(&mut self.behind_pipe);
            self.scan.commands.push(command);
        }
        found
    }

    fn end_word(&mut self) {
        if !self.word.started() {
            return;
        }
        let word = std::mem::take(&mut self.word).finish();
        let command = &mut self.command;
        if std::mem::take(&mut command.skip_next) {
            command.start_here = true;
            return;
        }
        let mut reason = None;
        let mut again = std::mem::take(&mut command.start_after_next);
        if std::mem::take(&mut command.start_here) {
            command.starts.push(command.words.len());
            if word.assigns() {
                reason = Some("a variable assignment");
                again = true;
            } else if word.indexes() {
                reason = Some("an array element");
            } else if word.is_bare() && RESERVED.contains(&word.text()) {
                reason = Some("a compound command");
                again = true;
                command.start_after_next |= matches!(word.text(), "function" | "coproc" | "time");
            } else if !word.is_literal() {
                reason = Some("an unquoted wildcard, brace or tilde in the command word");
            }
        }
        command.start_here = again;
        command.words.push(word);
        if let Some(reason) = reason {
            self.note(reason);
        }
    }
}
