//! Gate 9: the cap on what comes back.
//!
//! One result has at most 30,000 characters of text over all its parts, so that one call cannot fill a model's context.
//! What is over goes to the spill store; head and tail stay, with a pointer between them. If it cannot be stored, the
//! result still arrives and says so. What the host's own shell has cut to 30,000 characters of output is not cut again because
//! of what it says beside them.

use std::path::{Path, PathBuf};

use super::g08_execute::{Executed, Ran};
use super::ports::SpillStore;
use super::trail::{GateNote, Trail};
use crate::model::{Content, Ending, Gate, ToolOutput};

/// The most characters of text in one result.
pub const MAX_OUTPUT_CHARS: usize = 30_000;
/// The most characters that the shell's own notes and markers may have beside a text of that length.
const MAX_BESIDE: usize = 4_000;
/// The most bytes of all blobs of one result together.
const MAX_BLOB_BYTES: usize = 16 << 20;
/// Characters kept of the beginning and of the end.
const HEAD_CHARS: usize = 20_000;
const TAIL_CHARS: usize = 9_000;

/// A call whose result fits.
#[derive(Debug)]
pub(super) struct Capped {
    ran: Ran,
    ending: Ending,
}

impl Capped {
    pub(super) fn ending(&self) -> &Ending {
        &self.ending
    }

    pub(super) fn ran(&self) -> &Ran {
        &self.ran
    }

    pub(super) fn into_parts(self) -> (Ran, Ending) {
        (self.ran, self.ending)
    }
}

/// Caps the result.
pub(super) fn cap(spill: &dyn SpillStore, executed: Executed, trail: &mut Trail) -> Capped {
    let (ran, mut ending) = executed.into_parts();
    let capped = match &mut ending {
        Ending::Done(output) => cap_output(spill, &ran, output),
        Ending::Failed(failure) => match cut(spill, &ran, &failure.message) {
            Some(Cut { text, .. }) => {
                failure.message = text;
                true
            }
            None => false,
        },
        Ending::Denied(_) | Ending::Stopped(_) | Ending::Trapped(_) | Ending::HostError(_) => false,
    };
    let (note, detail) = if capped {
        (GateNote::Changed, "capped; the rest is in the spill store")
    } else {
        (GateNote::Passed, "within the cap")
    };
    trail.note(Gate::Output, note, detail);
    Capped { ran, ending }
}

fn cap_output(spill: &dyn SpillStore, ran: &Ran, output: &mut ToolOutput) -> bool {
    let mut capped = cap_blobs(output);
    if let Some(Cut { text, whole }) = cut(spill, ran, &output.text()) {
        output
            .content
            .retain(|part| !matches!(part, Content::Text { .. }));
        output.content.insert(0, Content::Text { text });
        output.content.extend(whole.as_deref().and_then(link));
        capped = true;
    }
    let structured_too_long =
        |value: &serde_json::Value| too_long(&value.to_string(), MAX_OUTPUT_CHARS);
    if output.structured.as_ref().is_some_and(structured_too_long) {
        output.structured = None;
        capped = true;
    }
    output.capped = capped;
    capped
}

fn cap_blobs(output: &mut ToolOutput) -> bool {
    let mut held = 0;
    let mut capped = false;
    for part in &mut output.content {
        if let Content::Blob { mime, data, .. } = part {
            held += data.len();
            if held > MAX_BLOB_BYTES {
                let text = format!(
                    "[{} bytes of {mime} left out: more than the host passes on]",
                    data.len()
                );
                *part = Content::Text { text };
                capped = true;
            }
        }
    }
    capped
}

/// The most characters of a call's text: more than the cap only as far as the host itself made it so.
fn most(ran: &Ran) -> usize {
    ran.told
        .clamp(MAX_OUTPUT_CHARS, MAX_OUTPUT_CHARS + MAX_BESIDE)
}

fn too_long(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// A text that was too long.
struct Cut {
    /// Head, pointer and tail.
    text: String,
    /// Where all of it is, if it could be kept.
    whole: Option<PathBuf>,
}

/// The pointer for programs. `None` where the path has a form that no address has.
fn link(path: &Path) -> Option<Content> {
    Some(Content::Link {
        uri: url::Url::from_file_path(path).ok()?.into(),
        name: "the full output".to_owned(),
        mime: Some("text/plain".to_owned()),
    })
}

fn cut(spill: &dyn SpillStore, ran: &Ran, text: &str) -> Option<Cut> {
    if !too_long(text, most(ran)) {
        return None;
    }
    let total = text.chars().count();
    let left_out = total - HEAD_CHARS - TAIL_CHARS;
    let (whole, pointer) = match spill.put(ran.header.id, ran.tool.name(), text) {
        Ok(path) => {
            let pointer = format!(
                "The full output is in {}; page it with Read.",
                path.display()
            );
            (Some(path), pointer)
        }
        Err(error) => (None, format!("The full output could not be kept: {error}.")),
    };
    let at = |chars: usize| {
        text.char_indices()
            .nth(chars)
            .map_or(text.len(), |(at, _)| at)
    };
    let head = text.get(..at(HEAD_CHARS)).unwrap_or_default();
    let tail = text.get(at(total - TAIL_CHARS)..).unwrap_or_default();
    let text =
        format!("{head}\n\n[{left_out} of {total} characters left out here. {pointer}]\n\n{tail}");
    Some(Cut { text, whole })
}
