//! Taking the value of a secret out of texts and of bodies that come in parts.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;

use crate::model::hex;

/// What stands in the place of a value.
const SHOWN: &str = "[secret]";
/// What is shorter is not looked for.
const MIN_FORM: usize = 6;

/// Finds one value, plain and in the forms in which programs write it: percent-encoded, in JSON, in base64 at any
/// alignment, in hexadecimal.
#[derive(Debug)]
pub struct Scrubber {
    finder: AhoCorasick,
    forms: Vec<Vec<u8>>,
    longest: usize,
}

impl Scrubber {
    /// None: the value is too short to be looked for.
    pub(super) fn new(value: &str) -> Option<Self> {
        let mut forms = forms(value.as_bytes());
        // The value of a field may be a word that stands for another: `user:password` in base64.
        if let Ok(inner) = STANDARD_NO_PAD.decode(value.trim_end_matches('=')) {
            forms.extend(forms_of_inner(&inner));
        }
        forms.retain(|form| form.len() >= MIN_FORM);
        let longest = forms.iter().map(Vec::len).max()?;
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms)
            .ok()?;
        Some(Self {
            finder,
            forms,
            longest,
        })
    }

    /// How many bytes at the end may be the beginning of a value.
    fn unclear(&self, bytes: &[u8]) -> usize {
        let most = self.longest.saturating_sub(1).min(bytes.len());
        let begins = |length: &usize| {
            let end = bytes.get(bytes.len() - length..).unwrap_or_default();
            self.forms
                .iter()
                .any(|form| form.len() > *length && form.starts_with(end))
        };
        (1..=most).rev().find(begins).unwrap_or(0)
    }

    /// The text without the value.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    pub(super) fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut clean, rest) = self.part(bytes, 0);
        clean.extend_from_slice(bytes.get(rest..).unwrap_or_default());
        clean
    }

    /// What of these bytes is clean whatever follows, and where the rest begins: `keep` bytes at the end may be the
    /// beginning of a value.
    fn part(&self, bytes: &[u8], keep: usize) -> (Vec<u8>, usize) {
        let mut clean = Vec::with_capacity(bytes.len());
        let safe = bytes.len().saturating_sub(keep);
        let mut at = 0;
        for found in self.finder.find_iter(bytes) {
            // A match that begins where more may follow could become a longer one.
            if found.start() >= safe {
                break;
            }
            clean.extend_from_slice(bytes.get(at..found.start()).unwrap_or_default());
            clean.extend_from_slice(SHOWN.as_bytes());
            at = found.end();
        }
        let rest = at.max(safe);
        clean.extend_from_slice(bytes.get(at..rest).unwrap_or_default());
        (clean, rest)
    }
}

fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let percent = |upper: bool| -> Vec<u8> {
        let written = value.iter().flat_map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => vec![*byte],
            other if upper => format!("%{other:02X}").into_bytes(),
            other => format!("%{other:02x}").into_bytes(),
        });
        written.collect()
    };
    let mut forms = vec![value.to_vec(), percent(true), percent(false)];
    if let Ok(text) = std::str::from_utf8(value) {
        let json = serde_json::Value::from(text).to_string();
        forms.push(json.trim_matches('"').replace('/', "\\/").into_bytes());
        forms.push(json.trim_matches('"').to_owned().into_bytes());
    }
    forms.push(hex(value).into_bytes());
    forms.push(hex(value).to_ascii_uppercase().into_bytes());
    forms.extend(base64_forms(value));
    forms
}

fn forms_of_inner(inner: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(inner) else {
        return Vec::new();
    };
    let word = text
        .split_once(':')
        .map(|(_, word)| word.as_bytes().to_vec());
    let mut inner = vec![inner.to_vec()];
    inner.extend(word);
    inner
}

/// What stands in base64 text that holds the value at any of the three alignments: the characters that depend on nothing
/// but the value.
fn base64_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for lead in 0..3_usize {
        let mut padded = vec![0; lead];
        padded.extend_from_slice(value);
        // Bits of the bytes before reach into so many characters, and those of bytes behind into the last one.
        let skip = [0, 2, 3].get(lead).copied().unwrap_or(0);
        let whole = padded.len() * 8 / 6;
        for text in [
            STANDARD_NO_PAD.encode(&padded),
            URL_SAFE_NO_PAD.encode(&padded),
        ] {
            let form = text.as_bytes().get(skip..whole).unwrap_or_default();
            forms.push(form.to_vec());
        }
    }
    forms
}

/// A body on its way, in parts.
#[derive(Debug)]
pub(super) struct Stream {
    scrubbers: Vec<(std::sync::Arc<Scrubber>, Vec<u8>)>,
}

impl Stream {
    pub(super) fn new(scrubbers: Vec<std::sync::Arc<Scrubber>>) -> Self {
        let scrubbers = scrubbers.into_iter();
        Self {
            scrubbers: scrubbers.map(|scrubber| (scrubber, Vec::new())).collect(),
        }
    }

    /// The next part, as far as it is clean whatever follows: only what may be the beginning of a value is held back, so
    /// that a stream of events goes on.
    pub(super) fn next(&mut self, part: &[u8]) -> Bytes {
        let mut part = part.to_vec();
        for (scrubber, held) in &mut self.scrubbers {
            held.append(&mut part);
            let (clean, rest) = scrubber.part(held, scrubber.unclear(held));
            held.drain(..rest);
            part = clean;
        }
        part.into()
    }

    /// What was held back.
    pub(super) fn end(&mut self) -> Bytes {
        let mut part = Vec::new();
        for (scrubber, held) in &mut self.scrubbers {
            held.append(&mut part);
            part = scrubber.bytes(held);
            held.clear();
        }
        part.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const VALUE: &str = "s3cr3t/+Value=\"x\"";

    #[test]
    fn no_form_of_a_value_is_left() {
        let scrubber = Scrubber::new(VALUE).unwrap();
        for form in forms(VALUE.as_bytes()) {
            let form = String::from_utf8(form).unwrap();
            let clean = scrubber.text(&format!("before {form} after"));
            assert_eq!(clean, "before [secret] after", "{form}");
        }
        for lead in ["", "u:", "user:", "Bearer "] {
            let text = STANDARD_NO_PAD.encode(format!("{lead}{VALUE}, and more"));
            let clean = scrubber.text(&text);
            assert!(clean.contains(SHOWN), "{lead} {clean}");
            let back = STANDARD_NO_PAD
                .decode(clean.replace(SHOWN, ""))
                .unwrap_or_default();
            assert!(!String::from_utf8_lossy(&back).contains("Value"), "{lead}");
        }
        assert_eq!(scrubber.text("nothing here"), "nothing here");
        assert_eq!(scrubber.unclear(b"nothing here"), 0);
        assert_eq!(scrubber.unclear(b"nothing here s3cr"), 4);
    }

    #[test]
    fn the_word_inside_of_a_pair_is_found_too() {
        let pair = base64::engine::general_purpose::STANDARD.encode("user:opensesame");
        let scrubber = Scrubber::new(&pair).unwrap();
        assert_eq!(scrubber.text("it is opensesame"), "it is [secret]");
    }

    #[test]
    fn parts_are_scrubbed_as_the_whole_is() {
        let text = format!("a{VALUE}b{VALUE}{VALUE}c{}", &VALUE[..5]);
        let whole = Scrubber::new(VALUE).unwrap().text(&text);
        assert!(!whole.contains(VALUE));
        for size in 1..text.len() {
            let scrubbers = vec![
                Arc::new(Scrubber::new(VALUE).unwrap()),
                Arc::new(Scrubber::new("another one").unwrap()),
            ];
            let mut stream = Stream::new(scrubbers);
            let mut said = Vec::new();
            for part in text.as_bytes().chunks(size) {
                said.extend_from_slice(&stream.next(part));
            }
            said.extend_from_slice(&stream.end());
            assert_eq!(String::from_utf8(said).unwrap(), whole, "{size}");
        }
    }
}
