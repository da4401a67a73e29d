//! A regular expression for searching files.
//!
//! Guarantees a search in linear time and a bounded compiled size, whatever the pattern; a pattern that is refused says
//! where and why. Options never come from the pattern's text: what looks like one is searched for.

use std::ops::Range;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;

/// Most bytes of the compiled pattern.
const MAX_COMPILED: usize = 10 << 20;

/// Most bytes of the cache that the search fills as it goes.
const MAX_CACHE: usize = 4 << 20;

/// How deep groups may nest.
const MAX_NESTING: u32 = 200;

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// Letter case does not matter.
    pub ignore_case: bool,
    /// Matches may span lines, and `.` matches a line feed.
    pub multiline: bool,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    matcher: RegexMatcher,
    multiline: bool,
    /// No match holds a line feed, so the lines need not be split before they are searched.
    spans_no_lines: bool,
}

/// Some whole lines with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The lines, without the last one's line feed.
    pub(crate) lines: Range<usize>,
    /// Lines with a match; matches if they may span lines.
    pub(crate) matches: u64,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// A sentence with the reason and, for a syntax error, the position.
    pub fn new(pattern: &str, flags: Flags) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("The pattern is empty.".to_owned());
        }
        // With `\r\n` taken as one ending, `$` matches before it; a pattern that names `\r` wants the bytes.
        let crlf = !pattern.contains("\\r") && !pattern.contains('\r');
        regex_syntax::ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .crlf(crlf)
            .dot_matches_new_line(flags.multiline)
            .case_insensitive(flags.ignore_case)
            .nest_limit(MAX_NESTING)
            .build()
            .parse(pattern)
            .map_err(|error| syntax(&error))?;
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .crlf(crlf)
            .line_terminator((!flags.multiline).then_some(b'\n'))
            .dot_matches_new_line(flags.multiline)
            .case_insensitive(flags.ignore_case)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_CACHE)
            .nest_limit(MAX_NESTING + 1);
        let matcher = builder
            .build(pattern)
            .map_err(|error| compile(error.kind()))?;
        let spans_no_lines = matcher.line_terminator().is_some();
        Ok(Self {
            matcher,
            multiline: flags.multiline,
            spans_no_lines,
        })
    }

    /// Whether matches may span lines.
    #[must_use]
    pub fn is_multiline(&self) -> bool {
        self.multiline
    }

    /// The first match that begins at `from` or behind it.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let found = self.matcher.find_at(text, from).unwrap_or(None)?;
        Some(found.start()..found.end())
    }

    /// The next lines with a match, from the start of a line at `from` on.
    pub(crate) fn next_block(&self, text: &[u8], from: usize) -> Option<Block> {
        if self.multiline {
            self.next_spanning(text, from)
        } else if self.spans_no_lines {
            self.next_line(text, from)
        } else {
            self.next_line_by_line(text, from)
        }
    }

    /// Runs over the text as a whole and looks for line borders only around what it finds.
    fn next_line(&self, text: &[u8], from: usize) -> Option<Block> {
        let mut from = from;
        loop {
            let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
            let (position, sure) = match self.matcher.find_candidate_line(rest).unwrap_or(None)? {
                LineMatchKind::Confirmed(position) => (position, true),
                LineMatchKind::Candidate(position) => (position, false),
            };
            let lines = line_around(text, from + position)?;
            let line = text.get(lines.clone()).unwrap_or_default();
            if sure || self.find(line, 0).is_some() {
                return Some(Block { lines, matches: 1 });
            }
            from = lines.end + 1;
        }
    }

    /// For patterns with text anchors, which see each line as a text of its own.
    fn next_line_by_line(&self, text: &[u8], from: usize) -> Option<Block> {
        let mut from = from;
        while from < text.len() {
            let lines = line_around(text, from)?;
            if self
                .find(text.get(lines.clone()).unwrap_or_default(), 0)
                .is_some()
            {
                return Some(Block { lines, matches: 1 });
            }
            from = lines.end + 1;
        }
        None
    }

    /// The next match and those that begin on its lines.
    fn next_spanning(&self, text: &[u8], from: usize) -> Option<Block> {
        let first = self.find(text, from)?;
        let mut lines = line_around(text, first.start)?;
        let mut matches = 0;
        let mut next = Some(first);
        while let Some(found) = next.filter(|found| found.start <= lines.end) {
            matches += 1;
            if found.end > lines.end + 1 {
                // A match that ends behind a line feed does not touch the line after it.
                lines.end = line_around(text, found.end - 1)?.end;
            }
            let after = if found.is_empty() {
                found.end + 1
            } else {
                found.end
            };
            next = (after <= text.len())
                .then(|| self.find(text, after))
                .flatten();
        }
        Some(Block { lines, matches })
    }
}

/// The line that holds a position, without its line feed. None behind the last line.
fn line_around(text: &[u8], position: usize) -> Option<Range<usize>> {
    let start = memchr::memrchr(b'\n', text.get(..position)?).map_or(0, |feed| feed + 1);
    let end =
        memchr::memchr(b'\n', text.get(position..)?).map_or(text.len(), |feed| position + feed);
    (start < text.len()).then_some(start..end)
}

fn syntax(error: &regex_syntax::Error) -> String {
    let (start, reason, unsupported) = match error {
        regex_syntax::Error::Parse(error) => {
            let unsupported = matches!(
                error.kind(),
                ast::ErrorKind::UnsupportedLookAround | ast::ErrorKind::UnsupportedBackreference
            );
            (error.span().start, error.kind().to_string(), unsupported)
        }
        regex_syntax::Error::Translate(error) => {
            (error.span().start, error.kind().to_string(), false)
        }
        _ => return format!("The pattern is not valid: {error}"),
    };
    let line = if start.line > 1 {
        format!("line {}, ", start.line)
    } else {
        String::new()
    };
    let hint = if unsupported {
        " Look-around and back-references are not supported, because searching takes linear time."
    } else {
        " To search for a special character itself, put \\ before it."
    };
    format!(
        "The pattern is not valid at {line}position {}: {reason}.{hint}",
        start.column
    )
}

fn compile(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::NotAllowed(_) => {
            "The pattern contains a line feed, which no single line holds. Set multiline to search across lines."
                .to_owned()
        }
        ErrorKind::Regex(reason) if reason.contains("size limit") => {
            "The pattern is too large: compiled it exceeds 10 MiB. Use smaller repetition counts.".to_owned()
        }
        ErrorKind::Regex(reason) => format!("The pattern is not valid: {reason}"),
        _ => "The pattern is not valid.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pattern: &str) -> Pattern {
        Pattern::new(pattern, Flags::default()).unwrap()
    }

    fn spanning(pattern: &str) -> Pattern {
        Pattern::new(
            pattern,
            Flags {
                multiline: true,
                ..Flags::default()
            },
        )
        .unwrap()
    }

    fn blocks(pattern: &Pattern, text: &str) -> Vec<(String, u64)> {
        let mut from = 0;
        let mut found = Vec::new();
        while let Some(block) = pattern.next_block(text.as_bytes(), from) {
            found.push((
                text.get(block.lines.clone()).unwrap().to_owned(),
                block.matches,
            ));
            from = block.lines.end + 1;
        }
        found
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        blocks(&line(pattern), text)
            .into_iter()
            .map(|block| block.0)
            .collect()
    }

    #[test]
    fn finds_whole_lines() {
        assert_eq!(lines("b", "a\nabc\nb"), ["abc", "b"]);
        assert_eq!(lines("^$", "a\n\nb\n"), [""]);
        assert_eq!(lines("x*", "a\nb\n"), ["a", "b"]);
        assert_eq!(lines("$", "a\nb\n"), ["a", "b"]);
        assert_eq!(lines("z", "a\nb\n"), [""; 0]);
        assert_eq!(lines("a", ""), [""; 0]);
        assert_eq!(lines("^$", ""), [""; 0]);
        assert_eq!(lines("grün", "grün\n"), ["grün"]);
        assert_eq!(lines("gr.n", "grün\n"), ["grün"]);
    }

    #[test]
    fn no_match_spans_lines() {
        assert_eq!(lines(r"a\s*b", "a\nb\na b\n"), ["a b"]);
        assert_eq!(lines(r"[^x]b", "a\nb\nab\n"), ["ab"]);
        assert_eq!(lines(r"\s*foo", "\n\n  foo\n"), ["  foo"]);
        assert_eq!(lines(r"(?s)a.b", "a\nb\n"), [""; 0]);
    }

    #[test]
    fn line_anchors_and_text_anchors() {
        assert_eq!(lines("^b", "ab\nb\n"), ["b"]);
        assert_eq!(lines("a$", "ab\na\r\nba\n"), ["a\r", "ba"]);
        assert_eq!(lines(r"\Ab", "ab\nb\n"), ["b"]);
        assert_eq!(lines(r"b\z", "ab\nbc\n"), ["ab"]);
        assert_eq!(lines(r"a\r$", "a\r\nb\n"), ["a\r"]);
    }

    #[test]
    fn inner_literals_are_confirmed() {
        assert_eq!(
            lines(r"\w+Sherlock\w+", "Sherlock\nxSherlocky\n Sherlock \n"),
            ["xSherlocky"]
        );
    }

    #[test]
    fn case_may_be_ignored() {
        let flags = Flags {
            ignore_case: true,
            ..Flags::default()
        };
        assert_eq!(
            blocks(&Pattern::new("todo", flags).unwrap(), "TODO\ntodo\nx").len(),
            2
        );
        assert_eq!(lines("todo", "TODO\n"), [""; 0]);
    }

    #[test]
    fn what_looks_like_an_option_is_text() {
        assert_eq!(
            lines("--pre=./x.sh", "run --pre=./x.sh now\n-e\n"),
            ["run --pre=./x.sh now"]
        );
    }

    #[test]
    fn spanning_matches_cover_their_lines() {
        let text = "one\nstart\nmid\nend\ntwo\nstart end start\nend\nthree\n";
        let expected = [
            ("start\nmid\nend".to_owned(), 1),
            ("start end start\nend".to_owned(), 2),
        ];
        assert_eq!(blocks(&spanning("start.*?end"), text), expected);
        assert_eq!(blocks(&spanning("one\n"), text), [("one".to_owned(), 1)]);
        assert_eq!(
            blocks(&spanning("one\nst"), text),
            [("one\nstart".to_owned(), 1)]
        );
        assert_eq!(
            blocks(&spanning("x*"), "ab\n\nc"),
            [
                ("ab".to_owned(), 3),
                (String::new(), 1),
                ("c".to_owned(), 2)
            ]
        );
        assert_eq!(blocks(&spanning("\n\n"), "a\n\nb"), [("a\n".to_owned(), 1)]);
        assert_eq!(blocks(&spanning("x*"), ""), []);
    }

    #[test]
    fn a_bad_pattern_says_where_and_why() {
        let error = |pattern| Pattern::new(pattern, Flags::default()).unwrap_err();
        assert!(
            error("foo(").starts_with("The pattern is not valid at position 4: unclosed group."),
            "{}",
            error("foo(")
        );
        for pattern in ["(?<=a)b", r"(a)\1", "a(?!b)"] {
            let sentence = error(pattern);
            assert!(
                sentence.contains(" at position ") && sentence.contains("are not supported"),
                "{sentence}"
            );
        }
        assert!(error("a)|(b").contains("position 2"));
        assert!(error(r"a\nb").contains("multiline"));
        assert!(error("").contains("empty"));
        assert!(
            error(r"\p{Nonsense}").contains("position 1"),
            "{}",
            error(r"\p{Nonsense}")
        );
        assert!(error(&"(".repeat(5_000)).contains("position"));
    }

    #[test]
    fn blow_ups_are_bounded() {
        let begin = std::time::Instant::now();
        assert!(
            Pattern::new(r"(\w{1,500}){1,500}", Flags::default())
                .unwrap_err()
                .contains("too large")
        );
        assert!(
            Pattern::new(r"((a{1000}){1000}){1000}", Flags::default())
                .unwrap_err()
                .contains("too large")
        );
        let text = format!("{}X\n", "a".repeat(60));
        assert_eq!(lines("(a+)+$", &text), [""; 0]);
        assert_eq!(lines("[a-z ]{0,90}TOKEN[a-z ]{0,90}", &text), [""; 0]);
        assert!(begin.elapsed().as_secs() < 10);
    }
}
