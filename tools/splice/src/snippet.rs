//! A few numbered lines of a text, for a reply.

use std::ops::Range;

use toolgate_reply::cut;

/// Most lines shown.
pub(crate) const LINES: usize = 10;

/// Lines shown before and behind a place.
const AROUND: usize = 2;

/// Most characters of a line shown.
const LINE_CHARS: usize = 200;

/// The lines of a place with two lines around it, at most ten.
pub(crate) fn numbered(text: &[u8], place: &Range<usize>) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let begin = memchr::memrchr_iter(b'\n', before)
        .nth(AROUND)
        .map_or(0, |feed| feed + 1);
    let number =
        memchr::memchr_iter(b'\n', text.get(..begin).unwrap_or_default()).count() as u64 + 1;
    let behind = text.get(place.end..).unwrap_or_default();
    let end = memchr::memchr_iter(b'\n', behind)
        .nth(AROUND)
        .map_or(text.len(), |feed| place.end + feed);
    let part = text.get(begin..end).unwrap_or_default();
    let all = lines(part).count();
    let mut shown = join(lines(part).take(LINES).zip(number..));
    if all > LINES {
        shown.push_str("\n     …");
    }
    shown
}

/// Lines with their numbers, as Read shows them.
pub(crate) fn join<'a>(lines: impl Iterator<Item = (&'a [u8], u64)>) -> String {
    let shown: Vec<String> = lines
        .map(|(line, number)| format!("{number:>6}\t{}", shorten(line)))
        .collect();
    shown.join("\n")
}

/// The lines of a text without their endings. A last line feed ends a line and begins none.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

fn shorten(line: &[u8]) -> String {
    let head = line.get(..4 * LINE_CHARS + 4).unwrap_or(line);
    cut(&String::from_utf8_lossy(head), LINE_CHARS).into_owned()
}
