//! Output as a model reads it: valid text without control sequences, each line in its last state, cut in the middle.

use std::fmt::Write as _;
use std::path::Path;

use vte::{Params, Parser, Perform};

use super::capture::Capture;

/// The most characters of a result's body, head and tail together. Notes and the marker stand beside it.
pub(super) const CHARACTERS: usize = 30_000;
/// What a control sequence begins with.
const ESCAPE: u8 = 0x1B;
/// Binary output up to this many bytes is shown all the same, with what is no character replaced.
const SHOWN_BINARY: u64 = 1_000;

/// A text of a stream, at most `characters` long before what is said about the rest. The flag says that something is missing.
pub(super) fn of(capture: &Capture, characters: usize, spilled: Option<&Path>) -> (String, bool) {
    let place = spilled.map_or_else(
        || "the rest was not kept".to_owned(),
        |path| format!("all of it is in {}", path.display()),
    );
    if capture.is_binary() && capture.total() > SHOWN_BINARY {
        let note = format!("[binary output, {} bytes; {place}]", capture.total());
        return (note, true);
    }
    let (head, tail) = match capture.whole() {
        Some(whole) => {
            let whole = clean(&whole);
            if whole.chars().count() <= characters {
                return (whole, false);
            }
            (whole.clone(), whole)
        }
        None => (clean(capture.first()), clean(&from_a_line(&capture.last()))),
    };
    let half = characters / 2;
    let mut text: String = head.chars().take(half).collect();
    let skipped = tail.chars().count().saturating_sub(half);
    let end: String = tail.chars().skip(skipped).collect();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let total = capture.total();
    // Writing to a string cannot fail.
    let said = writeln!(
        text,
        "[... the middle of {total} bytes was left out; {place} ...]"
    );
    tracing::trace!(?said, "a cut output");
    text.push_str(&end);
    (text, true)
}

/// From the first line that is whole, unless there is none in the first half.
fn from_a_line(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte == b'\n');
    let start = start.filter(|at| *at < bytes.len() / 2);
    let kept = start.and_then(|at| bytes.get(at + 1..)).unwrap_or(bytes);
    // Without a line, at least from a character.
    let cut = kept.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80);
    kept.get(cut.count()..).unwrap_or_default().to_vec()
}

/// How long a control sequence may be to be waited for.
const LONGEST_SEQUENCE: usize = 256;

/// How many bytes of a piece can be shown: a character or a control sequence at its end may be cut.
pub(super) fn whole_part(bytes: &[u8]) -> usize {
    let end = bytes.len();
    let near = end.saturating_sub(LONGEST_SEQUENCE);
    let recent = bytes.get(near..).unwrap_or_default();
    if let Some(at) = recent.iter().rposition(|byte| *byte == ESCAPE)
        && recent.get(at + 1..).is_some_and(is_open)
    {
        return near + at;
    }
    for (back, byte) in (1..).zip(recent.iter().rev().take(3)) {
        match byte {
            0x80..=0xBF => {}
            0xC0..=0xDF if back < 2 => return end - back,
            0xE0..=0xEF if back < 3 => return end - back,
            0xF0..=0xF7 if back < 4 => return end - back,
            _ => break,
        }
    }
    end
}

/// Whether a sequence goes on after this, which stands behind its escape character.
fn is_open(after: &[u8]) -> bool {
    match after.split_first() {
        None => true,
        Some((b'[', rest)) => !rest.iter().any(|byte| matches!(byte, 0x40..=0x7E)),
        Some((b']' | b'P' | b'X' | b'^' | b'_', rest)) => !rest.contains(&0x07),
        Some(_) => !after.iter().any(|byte| *byte >= 0x30),
    }
}

/// Text without escape sequences and control characters, with overwritten parts of lines overwritten.
pub(super) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut cleaned = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        if content.chars().any(|c| c.is_control() && c != '\t') {
            // A sequence that is never closed must not swallow the lines after it.
            let mut line = Line::default();
            Parser::new().advance(&mut line, content.as_bytes());
            cleaned.extend(line.characters);
        } else {
            cleaned.push_str(content);
        }
        cleaned.push_str(end);
    }
    cleaned
}

/// A line of a terminal that is wide enough.
#[derive(Default)]
struct Line {
    characters: Vec<char>,
    at: usize,
}

impl Perform for Line {
    fn print(&mut self, c: char) {
        let c = match c {
            '\u{7f}'..='\u{9f}' => return,
            other => other,
        };
        match self.characters.get_mut(self.at) {
            Some(place) => *place = c,
            None => self.characters.push(c),
        }
        self.at += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.at = 0,
            0x08 => self.at = self.at.saturating_sub(1),
            b'\t' => self.print('\t'),
            0 => self.print(char::REPLACEMENT_CHARACTER),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        // Erasing: what progress bars do beside returning to the start of the line.
        let how = params.iter().next().and_then(|first| first.first());
        match (action, how.copied().unwrap_or(0)) {
            ('K', 0) => self.characters.truncate(self.at),
            ('K', 2) => {
                self.characters.clear();
                self.at = 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: &[u8]) -> Capture {
        let mut capture = Capture::default();
        capture.push(bytes);
        capture
    }

    #[test]
    fn sequences_go_and_lines_are_in_their_last_state() {
        for (raw, read) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\rb\rc\n", "c\n"),
            ("abc\rX\n", "Xbc\n"),
            ("10%\r100%\r\x1b[Kdone\n", "done\n"),
            ("dos\r\nline\r\n", "dos\nline\n"),
            ("\x1b[1;31mred\x1b[0m\n", "red\n"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
            ("\x1b]0;title\x07text\n", "text\n"),
            ("\x1b]0;never closed\nnext\n", "\nnext\n"),
            ("\x1b[2J\x1b[Hgone\x08e\n", "gone\n"),
            ("bell\x07\x0b\n", "bell\n"),
            ("c1\u{9b}31m\n", "c131m\n"),
            ("no end", "no end"),
        ] {
            let read_as = clean(raw.as_bytes());
            assert_eq!(read_as, read, "{raw:?}");
        }
        assert_eq!(clean(b"a\0b\xff\xfec\n"), "a\u{fffd}b\u{fffd}\u{fffd}c\n");
    }

    #[test]
    fn long_output_is_cut_in_the_middle_on_characters() {
        let text = "é".repeat(40_000);
        let (cut, missing) = of(&captured(text.as_bytes()), CHARACTERS, None);
        assert!(missing);
        assert_eq!(cut.chars().filter(|c| *c == 'é').count(), CHARACTERS);
        assert!(cut.contains("80000 bytes was left out; the rest was not kept"));
        let exact = "x".repeat(CHARACTERS);
        assert_eq!(
            of(&captured(exact.as_bytes()), CHARACTERS, None),
            (exact, false)
        );
        let mut long = Capture::default();
        for number in 0..1_000_000 {
            long.push(format!("{number}\n").as_bytes());
        }
        let place = Path::new("/spill/x");
        let (cut, _) = of(&long, CHARACTERS, Some(place));
        assert!(cut.starts_with("0\n1\n") && cut.ends_with("\n999999\n"));
        assert!(cut.contains("all of it is in /spill/x"));
    }

    #[test]
    fn a_cut_piece_waits_for_its_rest() {
        for (piece, whole) in [
            ("plain", "plain"),
            ("", ""),
            ("a\x1b", "a"),
            ("a\x1b[1;3", "a"),
            ("a\x1b[1;31m", "a\x1b[1;31m"),
            ("a\x1b]0;ti", "a"),
            ("a\x1b]0;ti\x07", "a\x1b]0;ti\x07"),
            ("a\x1b(B", "a\x1b(B"),
            ("a\x1b(", "a"),
            ("é🦀", "é🦀"),
        ] {
            assert_eq!(whole_part(piece.as_bytes()), whole.len(), "{piece:?}");
        }
        for (text, start) in [("aé", 1), ("a€", 1), ("a🦀", 1)] {
            for end in start + 1..text.len() {
                assert_eq!(whole_part(&text.as_bytes()[..end]), start, "{text} {end}");
            }
        }
        // What is no sequence is not waited for without end.
        let endless = format!("\x1b]{}", "x".repeat(LONGEST_SEQUENCE));
        assert_eq!(whole_part(endless.as_bytes()), endless.len());
        assert_eq!(whole_part(b"\xbf\xbf\xbf\xbf"), 4);
    }

    #[test]
    fn binary_output_is_named() {
        let (text, missing) = of(&captured(&[0; 5_000]), CHARACTERS, None);
        assert_eq!(text, "[binary output, 5000 bytes; the rest was not kept]");
        assert!(missing);
        let (short, missing) = of(&captured(b"\xff\xfe\0ok"), CHARACTERS, None);
        assert_eq!(
            (short.as_str(), missing),
            ("\u{fffd}\u{fffd}\u{fffd}ok", false)
        );
    }
}
