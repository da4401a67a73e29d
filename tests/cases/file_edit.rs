//! Cases of the family `file` about Edit and MultiEdit: what changes, and that nothing else does.

use std::fs::File;
use std::io::Write as _;

use serde_json::json;
use toolgate_tests::{Scratch, TestHost};

use crate::support::{bytes, holds, names};

cases! {
    "F01" => f01_edit_keeps_latin1_bytes,
    "F03" => f03_edit_matches_and_keeps_crlf,
    "F04" => f04_edit_leaves_mixed_line_endings,
    "F06" => f06_edit_keeps_the_byte_order_mark,
    "F07" => f07_edit_takes_dollar_sequences_literally,
    "F15" => f15_edit_notices_other_content_of_the_same_size_and_time,
    "F16" => f16_edit_raises_no_false_alarm,
    "F34" => f34_edit_refuses_an_empty_old_string,
    "F35" => f35_edit_counts_overlapping_matches,
    "F36" => f36_edit_never_matches_approximately,
    "F37" => f37_multi_edit_applies_all_or_none,
    "F39" => f39_a_final_newline_is_no_line,
}

/// A host whose workspace holds one file.
async fn with_file(name: &str, content: impl AsRef<[u8]>) -> TestHost {
    let scratch = Scratch::new();
    scratch.file(name, content);
    TestHost::approving(scratch).await
}

fn edit(name: &str, old: &str, new: &str) -> serde_json::Value {
    json!({"file_path": format!("/ws/{name}"), "old_string": old, "new_string": new})
}

async fn f01_edit_keeps_latin1_bytes() {
    let host = with_file("r.txt", b"# Caf\xE9 menu\nprice: 5\n").await;
    host.done("Edit", edit("r.txt", "price: 5", "price: 7"))
        .await;
    assert_eq!(
        bytes(host.scratch.ws.join("r.txt")),
        b"# Caf\xE9 menu\nprice: 7\n"
    );
}

async fn f03_edit_matches_and_keeps_crlf() {
    let host = with_file("w.txt", "a\r\nb\r\nc\r\n").await;
    host.done("Edit", edit("w.txt", "a\nb", "a\nB\nx")).await;
    assert_eq!(
        bytes(host.scratch.ws.join("w.txt")),
        b"a\r\nB\r\nx\r\nc\r\n"
    );
}

async fn f04_edit_leaves_mixed_line_endings() {
    let host = with_file("m.txt", "a\r\nb\nc\r\n").await;
    host.done("Edit", edit("m.txt", "b", "B")).await;
    assert_eq!(bytes(host.scratch.ws.join("m.txt")), b"a\r\nB\nc\r\n");
}

async fn f06_edit_keeps_the_byte_order_mark() {
    let host = with_file("bom.txt", b"\xEF\xBB\xBFx=1\n").await;
    host.done("Edit", edit("bom.txt", "x=1", "x=2")).await;
    assert_eq!(bytes(host.scratch.ws.join("bom.txt")), b"\xEF\xBB\xBFx=2\n");
}

async fn f07_edit_takes_dollar_sequences_literally() {
    let new = r#"log("$& $$ $1 $` $' \\1");"#;
    let host = with_file("d.js", "log(\"done\"); \n").await;
    host.done("Edit", edit("d.js", "log(\"done\");", new)).await;
    assert_eq!(
        bytes(host.scratch.ws.join("d.js")),
        format!("{new} \n").into_bytes()
    );
}

async fn f15_edit_notices_other_content_of_the_same_size_and_time() {
    let host = with_file("a.txt", "aaaa\nzzz\n").await;
    host.done("Read", json!({"file_path": "/ws/a.txt"})).await;
    let path = host.scratch.ws.join("a.txt");
    let modified = path
        .metadata()
        .expect("a file")
        .modified()
        .expect("its time");
    let mut file = File::options().write(true).open(&path).expect("the file");
    file.write_all(b"bbbb").expect("other bytes");
    file.set_modified(modified).expect("the old time");
    drop(file);
    let metadata = path.metadata().expect("a file");
    assert_eq!(
        (metadata.len(), metadata.modified().expect("its time")),
        (9, modified)
    );

    let text = host.failed("Edit", edit("a.txt", "zzz", "yyy")).await;
    holds(&text, &["changed since it was read"]);
    assert_eq!(bytes(&path), b"bbbb\nzzz\n");
}

async fn f16_edit_raises_no_false_alarm() {
    let host = with_file("a.txt", "a").await;
    host.done("Read", json!({"file_path": "/ws/a.txt"})).await;
    let path = host.scratch.ws.join("a.txt");
    std::fs::write(&path, "a").expect("the same content");
    host.done("Edit", edit("a.txt", "a", "b")).await;
    host.done("Edit", edit("a.txt", "b", "c")).await;
    assert_eq!(bytes(&path), b"c");
}

async fn f34_edit_refuses_an_empty_old_string() {
    let host = with_file("a.txt", "abc").await;
    for all in [false, true] {
        let mut input = edit("a.txt", "", "X");
        input["replace_all"] = json!(all);
        let text = host.failed("Edit", input).await;
        holds(&text, &["old_string is empty"]);
        assert_eq!(bytes(host.scratch.ws.join("a.txt")), b"abc");
    }
}

async fn f35_edit_counts_overlapping_matches() {
    let content = "x = 1\nx = 1\nx = 1\n";
    let host = with_file("a.txt", content).await;
    let text = host
        .failed("Edit", edit("a.txt", "x = 1\nx = 1", "y"))
        .await;
    holds(&text, &["2 places"]);
    assert_eq!(bytes(host.scratch.ws.join("a.txt")), content.as_bytes());
}

async fn f36_edit_never_matches_approximately() {
    let content = "def f():\n  alpha(1)\n  beta(2)\n  delta(3)\n";
    let host = with_file("a.py", content).await;
    let text = host
        .failed("Edit", edit("a.py", "  beta(9)\n", "  gamma(9)\n"))
        .await;
    holds(&text, &["not found", "beta(2)"]);
    assert_eq!(bytes(host.scratch.ws.join("a.py")), content.as_bytes());
}

async fn f37_multi_edit_applies_all_or_none() {
    let host = with_file("a.txt", "one\ntwo\nthree\n").await;
    let replacement = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let edits = json!([
        replacement("one", "1"),
        replacement("zwei", "2"),
        replacement("three", "3")
    ]);
    let text = host
        .failed(
            "MultiEdit",
            json!({"file_path": "/ws/a.txt", "edits": edits}),
        )
        .await;
    holds(&text, &["Edit 2 of 3", "none of the edits was applied"]);
    assert_eq!(bytes(host.scratch.ws.join("a.txt")), b"one\ntwo\nthree\n");
    assert_eq!(names(&host.scratch.ws), ["a.txt"]);
}

async fn f39_a_final_newline_is_no_line() {
    let host = with_file("nl.txt", "a\nb\n").await;
    host.scratch.file("nonl.txt", "a\nb");
    let text = host.done("Read", json!({"file_path": "/ws/nl.txt"})).await;
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert_eq!(lines, ["1\ta", "2\tb"]);
    host.done("Edit", edit("nonl.txt", "b", "c")).await;
    assert_eq!(bytes(host.scratch.ws.join("nonl.txt")), b"a\nc");
}
