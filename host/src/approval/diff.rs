//! What an edit would change: the file as it is beside the file as it would be.
//!
//! Guarantees that the change is made by the same code as the tool's own, so that what is shown is what is written as long
//! as the file stays as it is; that nothing but a regular file is opened, and no link followed; and that its work is
//! bounded. Never writes anything.

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
use crate::gate::ApprovalRequest;
use crate::model::hex;

/// The most bytes of a file that is compared.
const MAX_FILE: u64 = 1 << 20;
/// The most lines of a difference that are shown.
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
}

impl Change {
    /// A change of which only a sentence can be shown.
    fn sentence(text: String) -> Self {
        let digest = hex(&Sha256::digest(text.as_bytes()));
        Self { text, digest }
    }
}

pub(super) fn change(request: &ApprovalRequest) -> Option<Change> {
    if !request.built_in {
        return None;
    }
    let wanted = Wanted::read(request.tool.as_str(), &request.input)?;
    let path = request.paths.first()?;
    Some(match Present::read(path) {
        Ok(present) => wanted.change(&present),
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
    let mut shown: Vec<String> = heading.into_iter().map(str::to_owned).collect();
    let mut lines = 0_usize;
    let mut digest = Sha256::new();
    digest.update(heading.unwrap_or_default());
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if lines < MAX_LINES {
            shown.push(hunk.header().to_string());
        }
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
            lines += 1;
            if lines <= MAX_LINES {
                shown.push(show(sign, line));
                if change.missing_newline() {
                    shown.push("\\ no line feed at the end".to_owned());
                }
            }
        }
    }
    if lines > MAX_LINES {
        shown.push(format!("… {} more lines", lines - MAX_LINES));
    }
    Change {
        text: shown.join("\n"),
        digest: hex(&digest.finalize()),
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
mod tests {
    use std::fs;
    use std::time::Instant;

    use serde_json::json;

    use super::*;
    use crate::approval::render::tests::request;

    fn shown(tool: &str, input: Value, file: Option<&[u8]>) -> Change {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a.txt");
        if let Some(bytes) = file {
            fs::write(&path, bytes).unwrap();
        }
        let mut request = request(tool, input);
        request.paths = vec![path];
        change(&request).unwrap()
    }

    #[test]
    fn write_shows_what_goes_and_what_comes() {
        let input = json!({"content": "one\n2\nthree\n"});
        let change = shown("Write", input.clone(), Some(b"one\ntwo\nthree\n"));
        assert_eq!(change.text, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three");
        let new = shown("Write", input.clone(), None);
        assert_eq!(
            new.text,
            "creates a new file\n@@ -0,0 +1,3 @@\n+one\n+2\n+three"
        );
        let same = shown("Write", input.clone(), Some(b"one\n2\nthree\n"));
        assert!(same.text.starts_with("changes nothing"), "{}", same.text);
        let binary = shown("Write", input.clone(), Some(&[0xff; 12_000]));
        assert_eq!(
            binary.text,
            "the file is not text: 12 KiB are replaced by 12 bytes"
        );
        let long = shown("Write", input, Some(&[b'x'; 3 << 20]));
        assert_eq!(
            long.text,
            "the file is too long to be compared: 3 MiB are replaced by 12 bytes"
        );
        let empty = shown("Write", json!({"content": ""}), None);
        assert_eq!(empty.text, "creates a new file");
    }

    #[test]
    fn line_endings_and_a_missing_last_one_are_shown() {
        let change = shown("Write", json!({"content": "a\r\nb"}), Some(b"a\nb\n"));
        assert_eq!(
            change.text,
            "@@ -1,2 +1,2 @@\n-a\n-b\n+a\r\n+b\n\\ no line feed at the end"
        );
    }

    #[test]
    fn edits_are_applied_as_the_tools_do() {
        let edit = |old: &str, new: &str, all: bool| json!({"file_path": "a.txt", "old_string": old, "new_string": new, "replace_all": all});
        let file: &[u8] = b"a\r\nb\r\na\r\n";
        let all = shown("Edit", edit("a", "c", true), Some(file));
        assert_eq!(all.text, "@@ -1,3 +1,3 @@\n-a\r\n+c\r\n b\r\n-a\r\n+c\r");
        let tolerant = shown("Edit", edit("a\nb", "x\ny", false), Some(file));
        assert_eq!(
            tolerant.text,
            "@@ -1,3 +1,3 @@\n-a\r\n-b\r\n+x\r\n+y\r\n a\r"
        );
        let ambiguous = shown("Edit", edit("a", "c", false), Some(file));
        assert!(
            ambiguous
                .text
                .starts_with("would not apply: old_string matches 2 places"),
            "{}",
            ambiguous.text
        );
        let absent = shown("Edit", edit("q", "c", false), Some(file));
        assert!(
            absent.text.starts_with("would not apply: ") && !absent.text.contains('\n'),
            "{}",
            absent.text
        );
        let nowhere = shown("Edit", edit("a", "c", false), None);
        assert_eq!(nowhere.text, "would not apply: there is no such file");
        let several = |edits: Value| json!({"file_path": "a.txt", "edits": edits});
        let two = several(
            json!([{"old_string": "b", "new_string": "q"}, {"old_string": "q", "new_string": "r"}]),
        );
        let change = shown("MultiEdit", two, Some(b"a\nb\n"));
        assert_eq!(change.text, "@@ -1,2 +1,2 @@\n a\n-b\n+r");
        let failing = several(
            json!([{"old_string": "b", "new_string": "q"}, {"old_string": "b", "new_string": "r"}]),
        );
        let change = shown("MultiEdit", failing, Some(b"a\nb\n"));
        assert!(
            change.text.starts_with("would not apply: Edit 2 of 2"),
            "{}",
            change.text
        );
    }

    #[test]
    fn the_digest_is_of_what_changes_and_not_of_what_stays() {
        let edit = json!({"old_string": "b", "new_string": "c"});
        let one = shown("Edit", edit.clone(), Some(b"a\nb\n"));
        let moved = shown("Edit", edit.clone(), Some(b"new\nz\nb\n"));
        assert_ne!(one.text, moved.text);
        assert_eq!(one.digest, moved.digest);
        let other = shown("Edit", edit, Some(b"a\nb and more\n"));
        assert_ne!(one.digest, other.digest);
        let write = json!({"content": "c\n"});
        let one = shown("Write", write.clone(), Some(b"a\n"));
        let other = shown("Write", write.clone(), Some(b"b\n"));
        assert_ne!(one.digest, other.digest);
        let empty = shown("Write", write.clone(), Some(b""));
        assert_ne!(empty.digest, shown("Write", write, None).digest);
    }

    #[test]
    fn lines_are_counted_and_cut() {
        let content: String = (0..500).map(|n| format!("{n}\n")).collect();
        let change = shown("Write", json!({"content": content}), None);
        assert_eq!(change.text.lines().count(), 203);
        assert!(change.text.ends_with("+199\n… 300 more lines"));
        let long = format!("{}END", "x".repeat(5_000));
        let change = shown("Write", json!({"content": long}), None);
        assert!(
            change.text.contains("… 4003 characters …") && change.text.contains("END"),
            "{}",
            change.text
        );
    }

    #[test]
    fn the_worst_file_is_compared_in_time() {
        let before: String = (0..200_000).map(|n| format!("{}\n", n % 7_919)).collect();
        let after: String = (0..200_000)
            .rev()
            .map(|n| format!("{}\n", n % 7_907))
            .collect();
        let begun = Instant::now();
        let change = shown("Write", json!({"content": after}), Some(before.as_bytes()));
        assert!(change.text.contains("more lines"));
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{:?}",
            begun.elapsed()
        );
    }

    #[test]
    fn only_regular_files_of_known_tools_are_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        let fifo = scratch.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for path in [link, fifo, scratch.path().to_owned()] {
            let mut request = request("Write", json!({"content": "x"}));
            request.paths = vec![path];
            let text = preview(&request).unwrap();
            assert!(text.starts_with("the file cannot be compared: "), "{text}");
            request.built_in = false;
            assert_eq!(preview(&request), None);
        }
        assert_eq!(preview(&request("Write", json!({"content": "x"}))), None);
        assert_eq!(preview(&request("Read", json!({"content": "x"}))), None);
        assert_eq!(preview(&request("Write", json!({"content": 7}))), None);
    }
}
