//! A page of numbered lines, taken from a file that arrives in pieces.
//!
//! Guarantees: memory is bounded by the reply and one line's head, whatever the size of the file or of a line; at least
//! one line is shown where the page begins inside the file; a line is cut at [`LINE_CHARS`] and the page at
//! [`PAGE_CHARS`] characters, both between characters; what is missing is stated. Never opens anything.

use toolgate_reply::{MAX_CHARS, NOTES_CHARS, counted, grouped};

/// Most characters of one line; the rest is counted and marked.
pub const LINE_CHARS: usize = 2_000;

/// Most characters of all lines with their numbers.
pub const PAGE_CHARS: usize = MAX_CHARS - NOTES_CHARS;

/// Bytes of a line that can matter for what is shown of it: a character takes at most four.
const HEAD_BYTES: usize = 4 * LINE_CHARS;

/// The page asked for, as far as it was fed.
#[derive(Debug)]
pub struct Page {
    /// First wanted line, from 1.
    first: u64,
    /// Most lines wanted.
    limit: u64,
    /// The line under way, from 1.
    line: u64,
    /// The line under way has bytes.
    begun: bool,
    /// The start of the line under way, where it began in an earlier piece.
    head: Vec<u8>,
    /// Characters of the line under way beyond `head`.
    beyond: u64,
    /// The last byte of the line under way.
    last_byte: u8,
    text: String,
    left: usize,
    shown: u64,
    full: bool,
    cut_lines: u64,
    lossy: bool,
}

/// The page begins behind the last line.
#[derive(Debug, PartialEq, Eq)]
pub struct PastEnd {
    /// The line asked for, from 1.
    pub offset: u64,
    /// Lines of the file.
    pub lines: u64,
}

impl std::fmt::Display for PastEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines = counted(self.lines, "line", "lines");
        write!(
            f,
            "Offset {} is past the end: the file has {lines}.",
            grouped(self.offset)
        )
    }
}

impl Page {
    /// At most `limit` lines from line `offset` on. Line 0 is line 1, and a limit of 0 is 1.
    #[must_use]
    pub fn new(offset: u32, limit: u32) -> Self {
        Self {
            first: u64::from(offset.max(1)),
            limit: u64::from(limit.max(1)),
            line: 1,
            begun: false,
            head: Vec::new(),
            beyond: 0,
            last_byte: 0,
            text: String::new(),
            left: PAGE_CHARS,
            shown: 0,
            full: false,
            cut_lines: 0,
            lossy: false,
        }
    }

    /// The next bytes of the file.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut rest = self.skip(piece);
        while !rest.is_empty() {
            if !self.wants_more() {
                self.count(rest);
                return;
            }
            let Some((line, after)) =
                memchr::memchr(b'\n', rest).and_then(|end| split_line(rest, end))
            else {
                self.keep(rest);
                return;
            };
            self.end_line(line, true);
            rest = after;
        }
    }

    /// The text of the page and its notes. `complete` says that the whole file was fed.
    ///
    /// # Errors
    ///
    /// [`PastEnd`] if the file has lines, but fewer than the offset.
    pub fn finish(mut self, complete: bool) -> Result<String, PastEnd> {
        let total = if self.begun { self.line } else { self.line - 1 };
        if self.begun && self.line >= self.first && self.wants_more() {
            self.end_line(&[], false);
        }
        if total == 0 {
            return Ok("[The file holds no text.]".to_owned());
        }
        if self.shown == 0 {
            return Err(PastEnd {
                offset: self.first,
                lines: total,
            });
        }
        let notes = self.notes(total, complete).join("\n");
        if notes.is_empty() {
            self.text.pop();
        }
        self.text.push_str(&notes);
        Ok(self.text)
    }

    fn notes(&self, total: u64, complete: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let last = self.first + self.shown - 1;
        if self.first > 1 || last < total || !complete {
            let at_least = if complete { "" } else { "at least " };
            let (first, to, of) = (grouped(self.first), grouped(last), grouped(total));
            let range = if self.shown == 1 {
                format!("Line {first}")
            } else {
                format!("Lines {first} to {to}")
            };
            let next = if last < total {
                format!(" Read on with offset {}.", last + 1)
            } else {
                String::new()
            };
            notes.push(format!("[{range} of {at_least}{of}.{next}]"));
        }
        if self.cut_lines > 0 {
            let lines = counted(self.cut_lines, "line was", "lines were");
            notes.push(format!(
                "[{lines} cut at {} characters. To reach the middle of a long line, use Grep with output_mode \
                 \"content\": it shows the text around each match.]",
                grouped(LINE_CHARS as u64)
            ));
        }
        if self.lossy {
            notes.push(
                "[Not valid UTF-8: bytes that do not decode are shown as U+FFFD.]".to_owned(),
            );
        }
        notes
    }

    fn wants_more(&self) -> bool {
        !self.full && self.shown < self.limit
    }

    /// Passes over what lies before the first wanted line and returns the rest.
    fn skip<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        if self.line >= self.first {
            return piece;
        }
        for end in memchr::memchr_iter(b'\n', piece) {
            self.line += 1;
            if self.line == self.first {
                self.begun = false;
                return piece.get(end + 1..).unwrap_or_default();
            }
        }
        self.begun = piece.last().map_or(self.begun, |&byte| byte != b'\n');
        &[]
    }

    /// Counts lines that are not shown.
    fn count(&mut self, piece: &[u8]) {
        self.line += memchr::memchr_iter(b'\n', piece).count() as u64;
        self.begun = piece.last().map_or(self.begun, |&byte| byte != b'\n');
    }

    /// Keeps the part of a wanted line that goes on in the next piece.
    fn keep(&mut self, part: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len()).min(part.len());
        let (head, beyond) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.head.extend_from_slice(head);
        self.beyond += characters(beyond);
        self.begun = true;
        if let Some(&byte) = part.last() {
            self.last_byte = byte;
        }
    }

    /// Shows the line that ends with `part`.
    fn end_line(&mut self, part: &[u8], terminated: bool) {
        if self.begun {
            self.keep(part);
            let mut head = std::mem::take(&mut self.head);
            let mut beyond = std::mem::take(&mut self.beyond);
            if terminated && self.last_byte == b'\r' {
                if beyond > 0 {
                    beyond -= 1;
                } else {
                    head.pop();
                }
            }
            self.show(&head, beyond);
        } else {
            let line = if terminated {
                part.strip_suffix(b"\r").unwrap_or(part)
            } else {
                part
            };
            let (head, beyond) = line.split_at_checked(HEAD_BYTES).unwrap_or((line, &[]));
            self.show(head, characters(beyond));
        }
        self.begun = false;
        self.line += 1;
    }

    fn show(&mut self, head: &[u8], beyond: u64) {
        let text = String::from_utf8_lossy(head);
        let (shown, missing) = if beyond == 0 && text.len() <= LINE_CHARS {
            (&*text, 0)
        } else {
            cut(&text, beyond)
        };
        let mark = if missing > 0 {
            format!(" … [line cut: {missing} more characters]")
        } else {
            String::new()
        };
        let mut digits = [b' '; 20];
        let label = label(self.line, &mut digits);
        let cost = label.len() + shown.chars().count() + mark.chars().count() + 2;
        if cost > self.left {
            self.full = true;
            return;
        }
        self.left -= cost;
        self.shown += 1;
        self.cut_lines += u64::from(missing > 0);
        self.lossy |= matches!(text, std::borrow::Cow::Owned(_))
            && shown.contains(char::REPLACEMENT_CHARACTER);
        self.text.push_str(label);
        self.text.push('\t');
        self.text.push_str(shown);
        self.text.push_str(&mark);
        self.text.push('\n');
    }
}

/// A line's number, right-aligned to six places. Written by hand because `format!` costs more than the line itself.
fn label(number: u64, digits: &mut [u8; 20]) -> &str {
    let mut rest = number;
    let mut used = 0_usize;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        used += 1;
        if rest == 0 {
            break;
        }
    }
    let from = digits.len() - used.max(6);
    digits
        .get(from..)
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .unwrap_or_default()
}

/// Splits at the line feed at `end`, which belongs to neither part.
fn split_line(bytes: &[u8], end: usize) -> Option<(&[u8], &[u8])> {
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}

/// The first [`LINE_CHARS`] characters and how many are missing.
fn cut(text: &str, beyond: u64) -> (&str, u64) {
    match text
        .char_indices()
        .nth(LINE_CHARS)
        .and_then(|(end, _)| text.split_at_checked(end))
    {
        Some((shown, rest)) => (shown, rest.chars().count() as u64 + beyond),
        None => (text, beyond),
    }
}

/// Characters of UTF-8: bytes that do not continue one.
fn characters(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000)
        .count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], offset: u32, limit: u32) -> Result<String, PastEnd> {
        let whole = {
            let mut page = Page::new(offset, limit);
            page.feed(bytes);
            page.finish(true)
        };
        for size in [1, 3, 7, 4_096] {
            let mut page = Page::new(offset, limit);
            bytes.chunks(size).for_each(|piece| page.feed(piece));
            assert_eq!(page.finish(true), whole, "pieces of {size} bytes");
        }
        whole
    }

    #[test]
    fn numbers_lines() {
        assert_eq!(read(b"a\nb\n", 1, 2_000).unwrap(), "     1\ta\n     2\tb");
        assert_eq!(read(b"a\nb", 1, 2_000).unwrap(), "     1\ta\n     2\tb");
        assert_eq!(
            read(b"\n\nx", 1, 2_000).unwrap(),
            "     1\t\n     2\t\n     3\tx"
        );
        assert_eq!(read(b"a\n", 0, 2_000).unwrap(), "     1\ta");
    }

    #[test]
    fn numbers_wider_than_six_places() {
        let mut digits = [b' '; 20];
        assert_eq!(label(1_234_567, &mut digits), "1234567");
        assert_eq!(label(42, &mut [b' '; 20]), "    42");
        assert_eq!(label(u64::MAX, &mut [b' '; 20]), "18446744073709551615");
    }

    #[test]
    fn strips_carriage_returns_of_line_ends_only() {
        assert_eq!(
            read(b"a\r\nb\rc\r\n\r\nd\r", 1, 9).unwrap(),
            "     1\ta\n     2\tb\rc\n     3\t\n     4\td\r"
        );
    }

    #[test]
    fn pages_by_offset_and_limit() {
        let text = read(b"1\n2\n3\n4\n5\n", 2, 2).unwrap();
        assert_eq!(
            text,
            "     2\t2\n     3\t3\n[Lines 2 to 3 of 5. Read on with offset 4.]"
        );
        assert_eq!(
            read(b"1\n2\n3\n4\n5\n", 5, 2).unwrap(),
            "     5\t5\n[Line 5 of 5.]"
        );
        assert_eq!(read(b"1\n2", 2, 0).unwrap(), "     2\t2\n[Line 2 of 2.]");
    }

    #[test]
    fn past_the_end_is_an_error_with_the_line_count() {
        for offset in [100, 6] {
            let error = read(b"1\n2\n3\n4\n5\n", offset, 2_000).unwrap_err();
            assert_eq!(
                error,
                PastEnd {
                    offset: u64::from(offset),
                    lines: 5
                }
            );
            assert!(
                error
                    .to_string()
                    .contains("past the end: the file has 5 lines")
            );
        }
    }

    #[test]
    fn a_long_line_is_cut_and_points_to_grep() {
        let text = read(&[b'x'; 200_000], 1, 2_000).unwrap();
        assert!(text.starts_with("     1\txxx"));
        assert!(text.contains("x … [line cut: 198000 more characters]\n"));
        assert!(text.contains("Grep"));
        assert!(
            !text.contains("offset"),
            "no hint that repeats the same call"
        );
        assert!(text.chars().count() < 2_400);
        let mut with_end = vec![b'x'; 20_000];
        with_end.extend_from_slice(b"\r\nb\n");
        let text = read(&with_end, 1, 2_000).unwrap();
        assert!(text.contains("[line cut: 18000 more characters]\n     2\tb\n"));
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        let text = read("😀".repeat(40_000).as_bytes(), 1, 2_000).unwrap();
        assert!(text.contains(&format!(
            "{} … [line cut: 38000 more characters]",
            "😀".repeat(2_000)
        )));
        assert!(!text.contains(char::REPLACEMENT_CHARACTER) && !text.contains("UTF-8"));
        let text = read(format!("a{}", "😀".repeat(40_000)).as_bytes(), 1, 2_000).unwrap();
        assert!(text.contains("[line cut: 38001 more characters]"));
        assert!(!text.contains(char::REPLACEMENT_CHARACTER));
    }

    #[test]
    fn the_page_is_capped_and_says_how_to_go_on() {
        let file = "0123456789012345678901234567890123456789\n".repeat(5_000);
        let text = read(file.as_bytes(), 1, 5_000).unwrap();
        assert!(text.chars().count() <= MAX_CHARS);
        let shown = text.lines().count() as u64 - 1;
        assert!(shown > 500);
        let next = format!(
            "[Lines 1 to {shown} of 5,000. Read on with offset {}.]",
            shown + 1
        );
        assert!(text.ends_with(&next), "{}", text.lines().last().unwrap());
        let text = read(file.as_bytes(), u32::try_from(shown).unwrap() + 1, 5_000).unwrap();
        assert!(text.starts_with(&format!("{:>6}\t", shown + 1)));
    }

    #[test]
    fn a_small_line_behind_one_that_does_not_fit_stays_out() {
        let long = format!("{}\n", "y".repeat(1_990)).repeat(13);
        let text = read(
            format!("{long}{}\nz\n", "y".repeat(1_900)).as_bytes(),
            1,
            2_000,
        )
        .unwrap();
        assert!(text.ends_with("[Lines 1 to 13 of 15. Read on with offset 14.]"));
    }

    #[test]
    fn invalid_utf8_is_shown_lossily_with_a_note() {
        let text = read(&[0xED, 0xA0, 0x80, 0x41], 1, 2_000).unwrap();
        assert!(text.starts_with("     1\t\u{FFFD}\u{FFFD}\u{FFFD}A\n[Not valid UTF-8"));
        assert!(
            !read("\u{FFFD}".as_bytes(), 1, 2_000)
                .unwrap()
                .contains("valid")
        );
    }

    #[test]
    fn an_unfinished_file_is_counted_as_at_least() {
        let mut page = Page::new(1, 1);
        page.feed(b"a\nb\nc\n");
        assert_eq!(
            page.finish(false).unwrap(),
            "     1\ta\n[Line 1 of at least 3. Read on with offset 2.]"
        );
    }

    #[test]
    fn nothing_but_a_byte_order_mark_is_no_text() {
        assert_eq!(read(b"", 1, 2_000).unwrap(), "[The file holds no text.]");
    }

    #[test]
    fn memory_does_not_follow_the_line() {
        let mut page = Page::new(1, 2_000);
        for _ in 0..50 {
            page.feed(&[b'x'; 1 << 20]);
        }
        assert!(page.head.capacity() <= 2 * HEAD_BYTES);
        assert!(
            page.finish(true)
                .unwrap()
                .contains(&format!("cut: {} more", (50 << 20) - LINE_CHARS))
        );
    }
}
