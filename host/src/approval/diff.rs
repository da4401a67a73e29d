//! What an edit would change: the file as it is beside the file as it would be.
//!
//! Guarantees that the change is made by the same code as the tool's own, so that what is shown is what is written as long
//! as the file stays as it is; that the file is the one that the path led to when somebody looked, with the content that
//! it had then; that nothing but a regular file is opened; and that its work is bounded. Never writes anything.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::str;
use std::time::Duration;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use similar::{ChangeTag, TextDiff, TextDiffConfig};
use toolgate_splice::{Edit, splice, splice_all};

use super::private_file::flags;
use super::sight::state_of;
use crate::gate::{ApprovalRequest, SeenFile, SeenPath};
use crate::model::hex;

/// The most bytes of a file that is compared.
const MAX_FILE: u64 = 1 << 20;
/// The most lines of a difference that are shown: half of them of its beginning, half of its end.
const MAX_LINES: usize = 200;
/// The most characters of one of them.
const MAX_LINE: usize = 1_000;
/// Lines around a change.
const CONTEXT: usize = 3;
/// How long lines are compared; afterwards the difference is coarser than it could be.
const PATIENCE: Duration = Duration::from_secs(1);

/// What would change, in lines for people. `None`: the tool is none whose input has a known meaning.
pub fn preview(request: &ApprovalRequest) -> Option<String> {
    change(request).map(|change| change.text)
}

/// A change, shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Change {
    /// For people; not escaped.
    pub(super) text: String,
    /// SHA-256 over what goes and what comes, wherever it stands: it stays the same when other lines of the file change,
    /// and differs when something else would be lost.
    pub(super) digest: String,
    /// The text is a difference: it holds what the input says of contents.
    pub(super) shows_contents: bool,
}

impl Change {
    /// A change of which only a sentence can be shown.
    fn sentence(text: String) -> Self {
        let digest = hex(&Sha256::digest(text.as_bytes()));
        Self {
            text,
            digest,
            shows_contents: false,
        }
    }
}

pub(super) fn change(request: &ApprovalRequest) -> Option<Change> {
    if !request.built_in {
        return None;
    }
    let wanted = Wanted::read(request.tool.as_str(), &request.input)?;
    let seen = request.seen.first()?;
    Some(match Present::read(&seen.real) {
        Ok(present) if present.is(seen) => wanted.change(&present),
        Ok(_) => {
            Change::sentence("cannot be shown: the file changes while it is looked at".to_owned())
        }
        Err(error) => Change::sentence(format!("the file cannot be compared: {error}")),
    })
}

/// What a file tool is asked to do.
enum Wanted<'a> {
    Content(&'a str),
    One(Edit<'a>),
    Several(Vec<Edit<'a>>),
}

/// The file now.
enum Present {
    Absent,
    Bytes(Vec<u8>),
    TooLong(u64),
}

impl Present {
    fn read(path: &Path) -> io::Result<Self> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
            .open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        Ok(match bytes.len() as u64 > MAX_FILE {
            true => Self::TooLong(metadata.len().max(bytes.len() as u64)),
            false => Self::Bytes(bytes),
        })
    }
}

impl Present {
    /// Whether this is what was seen there.
    fn is(&self, seen: &SeenPath) -> bool {
        match (self, &seen.what) {
            (Self::Absent, SeenFile::Absent) | (Self::TooLong(_), SeenFile::File { .. }) => true,
            (Self::Bytes(bytes), SeenFile::File { state }) => {
                state.as_ref().is_none_or(|state| *state == state_of(bytes))
            }
            (
                Self::Absent | Self::Bytes(_) | Self::TooLong(_),
                SeenFile::Absent
                | SeenFile::File { .. }
                | SeenFile::Directory
                | SeenFile::Special
                | SeenFile::Unknown { .. },
            ) => false,
        }
    }
}

impl<'a> Wanted<'a> {
    /// The fields of the built-in tools; an input that lacks one changes nothing, because the tool refuses it.
    fn read(tool: &str, input: &'a Map<String, Value>) -> Option<Self> {
        match tool {
            "Write" => input.get("content")?.as_str().map(Self::Content),
            "Edit" => edit(input).map(Self::One),
            "MultiEdit" => {
                let edits = input.get("edits")?.as_array()?;
                let edits = edits.iter().map(|one| one.as_object().and_then(edit));
                edits.collect::<Option<_>>().map(Self::Several)
            }
            _ => None,
        }
    }

    fn change(&self, present: &Present) -> Change {
        match present {
            Present::Absent => match self {
                Self::Content(content) => compare("", content, Some("creates a new file")),
                Self::One(_) | Self::Several(_) => {
                    Change::sentence("would not apply: there is no such file".to_owned())
                }
            },
            Present::TooLong(before) => Change::sentence(match self {
                Self::Content(after) => format!(
                    "the file is too long to be compared: {} are replaced by {}",
                    size(*before),
                    size(after.len() as u64)
                ),
                Self::One(_) | Self::Several(_) => format!(
                    "the file is too long to be compared ({}): the input says what is replaced",
                    size(*before)
                ),
            }),
            Present::Bytes(before) => match self.apply(before) {
                Ok(after) => between(before, &after),
                Err(refusal) => {
                    let first = refusal.lines().next().unwrap_or_default();
                    Change::sentence(format!("would not apply: {first}"))
                }
            },
        }
    }

    fn apply(&self, before: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Content(content) => Ok(content.as_bytes().to_vec()),
            Self::One(edit) => splice(before, *edit)
                .map(|spliced| spliced.text)
                .map_err(|refusal| refusal.to_string()),
            Self::Several(edits) => splice_all(before, edits)
                .map(|(text, _)| text)
                .map_err(|failed| failed.to_string()),
        }
    }
}

fn edit(input: &Map<String, Value>) -> Option<Edit<'_>> {
    let all = match input.get("replace_all") {
        Some(all) => all.as_bool()?,
        None => false,
    };
    Some(Edit {
        old: input.get("old_string")?.as_str()?,
        new: input.get("new_string")?.as_str()?,
        all,
    })
}

fn between(before: &[u8], after: &[u8]) -> Change {
    if before == after {
        return Change::sentence("changes nothing: the file holds exactly this".to_owned());
    }
    match (str::from_utf8(before), str::from_utf8(after)) {
        (Ok(before), Ok(after)) => compare(before, after, None),
        _ => Change::sentence(format!(
            "the file is not text: {} are replaced by {}",
            size(before.len() as u64),
            size(after.len() as u64)
        )),
    }
}

/// A unified diff without its file names, under a heading or without.
fn compare(before: &str, after: &str, heading: Option<&str>) -> Change {
    let diff: TextDiff<'_, '_, str> = TextDiffConfig::default()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let mut shown = Shown::default();
    let mut digest = Sha256::new();
    digest.update(heading.unwrap_or_default());
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        shown.push(hunk.header().to_string(), false);
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line: &str = change.value();
            if change.tag() != ChangeTag::Equal {
                digest.update(format!("{sign}{}:", line.len()));
                digest.update(line);
            }
            let mut text = show(sign, line);
            if change.missing_newline() {
                text.push_str("\n\\ no line feed at the end");
            }
            shown.push(text, true);
        }
    }
    Change {
        text: shown.text(heading),
        digest: hex(&digest.finalize()),
        shows_contents: true,
    }
}

/// The first and the last lines of a difference.
#[derive(Default)]
struct Shown {
    head: Vec<String>,
    /// With whether each is a line of a file.
    tail: VecDeque<(String, bool)>,
    lines: usize,
    tail_lines: usize,
    left_out: usize,
}

impl Shown {
    fn push(&mut self, text: String, is_line: bool) {
        self.lines += usize::from(is_line);
        if self.lines <= MAX_LINES / 2 {
            self.head.push(text);
            return;
        }
        self.tail.push_back((text, is_line));
        self.tail_lines += usize::from(is_line);
        while self.tail_lines > MAX_LINES / 2
            && let Some((_, was_line)) = self.tail.pop_front()
        {
            self.tail_lines -= usize::from(was_line);
            self.left_out += usize::from(was_line);
        }
    }

    fn text(self, heading: Option<&str>) -> String {
        let mut all: Vec<String> = heading.into_iter().map(str::to_owned).collect();
        all.extend(self.head);
        if self.left_out > 0 {
            all.push(format!("… {} lines are not shown here", self.left_out));
        }
        all.extend(self.tail.into_iter().map(|(text, _)| text));
        all.join("\n")
    }
}

/// A line with its sign, cut in the middle where it is too long.
fn show(sign: char, line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let length = line.chars().count();
    if length <= MAX_LINE {
        return format!("{sign}{line}");
    }
    let half = MAX_LINE / 2;
    let head: String = line.chars().take(half).collect();
    let tail: String = line.chars().skip(length - half).collect();
    format!("{sign}{head}… {} characters …{tail}", length - 2 * half)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{} KiB", bytes.div_ceil(1_024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}

#[cfg(test)]
mod tests;
