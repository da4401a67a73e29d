use std::fs;
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::approval::render::tests::request;
use crate::approval::sight::look;

fn shown(tool: &str, input: Value, file: Option<&[u8]>) -> Change {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("a.txt");
    if let Some(bytes) = file {
        fs::write(&path, bytes).unwrap();
    }
    let mut request = request(tool, input);
    request.seen = look(vec![path], true);
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
    assert!(
        change
            .text
            .contains("\n+99\n… 300 lines are not shown here\n+400\n"),
        "{}",
        change.text
    );
    assert!(change.text.ends_with("\n+499"));
    let most: String = (0..200).map(|n| format!("{n}\n")).collect();
    let change = shown("Write", json!({"content": most}), None);
    assert!(!change.text.contains("not shown"), "{}", change.text);
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
    assert!(change.text.contains("lines are not shown here"));
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn only_regular_files_of_known_tools_are_opened() {
    let scratch = tempfile::tempdir().unwrap();
    let fifo = scratch.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for path in [fifo, scratch.path().to_owned()] {
        let mut request = request("Write", json!({"content": "x"}));
        request.seen = look(vec![path], true);
        let text = preview(&request).unwrap();
        assert!(text.starts_with("the file cannot be compared: "), "{text}");
        request.built_in = false;
        assert_eq!(preview(&request), None);
    }
    assert_eq!(preview(&request("Write", json!({"content": "x"}))), None);
    assert_eq!(preview(&request("Read", json!({"content": "x"}))), None);
    assert_eq!(preview(&request("Write", json!({"content": 7}))), None);
}

#[test]
fn the_file_is_the_one_that_was_seen() {
    let scratch = tempfile::tempdir().unwrap();
    let (link, file) = (scratch.path().join("link"), scratch.path().join("file"));
    fs::write(&file, "old\n").unwrap();
    std::os::unix::fs::symlink("file", &link).unwrap();
    let mut request = request("Write", json!({"content": "new\n"}));
    request.seen = look(vec![link], true);
    assert_eq!(preview(&request).unwrap(), "@@ -1 +1 @@\n-old\n+new");
    fs::write(&file, "other\n").unwrap();
    let text = preview(&request).unwrap();
    assert!(text.contains("changes while it is looked at"), "{text}");
    fs::remove_file(&file).unwrap();
    let text = preview(&request).unwrap();
    assert!(text.contains("changes while it is looked at"), "{text}");
}
