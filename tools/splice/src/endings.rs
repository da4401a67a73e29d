//! Line endings of replaced and of new lines.

use std::ops::Range;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// LF
    Lf,
    /// CRLF
    Crlf,
}

/// The endings in a piece of text, in order.
pub(crate) fn of(text: &[u8]) -> Vec<Ending> {
    memchr::memchr_iter(b'\n', text)
        .map(|feed| at(text, feed))
        .collect()
}

/// Adds text, the n-th line of it with the n-th ending, and lines beyond them with the last one.
pub(crate) fn push_with(out: &mut Vec<u8>, text: &str, endings: &[Ending]) {
    let mut endings = endings.iter().copied();
    let mut ending = Ending::Lf;
    for line in text.split_inclusive('\n') {
        let Some(content) = line.strip_suffix('\n') else {
            out.extend_from_slice(line.as_bytes());
            return;
        };
        ending = endings.next().unwrap_or(ending);
        out.extend_from_slice(content.strip_suffix('\r').unwrap_or(content).as_bytes());
        out.extend_from_slice(match ending {
            Ending::Lf => b"\n",
            Ending::Crlf => b"\r\n",
        });
    }
}

/// The endings of a file's lines, asked for from left to right.
#[derive(Debug)]
pub(crate) struct LineEndings<'a> {
    text: &'a [u8],
    /// The last line feed found (the file's end if there was none), and its ending.
    known: Option<(usize, Ending)>,
}

impl<'a> LineEndings<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, known: None }
    }

    /// The ending of the line in which a place ends. A last line without an ending goes by the line before it.
    /// Places must not go back.
    pub(crate) fn around(&mut self, place: &Range<usize>) -> Ending {
        if let Some((feed, ending)) = self.known
            && place.end <= feed
        {
            return ending;
        }
        let after = self.text.get(place.end..).unwrap_or_default();
        let known = match memchr::memchr(b'\n', after) {
            Some(feed) => (place.end + feed, at(self.text, place.end + feed)),
            None => {
                let before = self.text.get(..place.start).unwrap_or_default();
                let ending =
                    memchr::memrchr(b'\n', before).map_or(Ending::Lf, |feed| at(before, feed));
                (self.text.len(), ending)
            }
        };
        self.known = Some(known);
        known.1
    }
}

/// The ending whose line feed stands there.
fn at(text: &[u8], feed: usize) -> Ending {
    match feed.checked_sub(1).and_then(|before| text.get(before)) {
        Some(b'\r') => Ending::Crlf,
        _ => Ending::Lf,
    }
}
