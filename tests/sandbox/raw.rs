//! Raw WASI calls: what no standard library would say is judged all the same.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};
use toolgate::model::{Ending, Outcome};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{Guest, beside, host_in};

const READS: Guest = ("ReadsByRawWasi", guests::READS_BY_RAW_WASI);
const CHANGES: Guest = ("ChangesByRawWasi", guests::CHANGES_BY_RAW_WASI);
/// Stands in every file that must neither be seen nor changed.
const SECRET: &str = "the secret";
/// Every act that would change something.
const CHANGING: [&str; 13] = [
    "truncate_only",
    "create_only",
    "mutate_directory",
    "write_by_read_handle",
    "cut_by_read_handle",
    "times_by_read_handle",
    "write",
    "write_following",
    "times",
    "hard_link",
    "rename",
    "make_directory",
    "unlink",
];

fn workspace() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("a.txt", "the content");
    scratch.file("other.txt", SECRET);
    scratch.file(".env", SECRET);
    scratch.file(".git/config", SECRET);
    scratch.file("sub/b.txt", SECRET);
    fs::write(scratch.outside.join("secret.txt"), SECRET).expect("a file outside");
    let link = |target: &Path, name: &str| symlink(target, scratch.ws.join(name)).expect("a link");
    link(&scratch.outside.join("secret.txt"), "absolute_out");
    link(Path::new("../outside/secret.txt"), "relative_out");
    link(&scratch.outside, "folder_out");
    link(Path::new(".env"), "to_denied");
    scratch
}

async fn reading_host() -> TestHost {
    host_in(workspace(), READS, Setup::default(), |builder| builder).await
}

async fn changing_host() -> TestHost {
    let setup = Setup::default()
        .deny(&["Read(.env)", "Write(.env)"])
        .allow(&["ChangesByRawWasi"]);
    host_in(workspace(), CHANGES, setup, |builder| builder).await
}

fn reading(act: &str, path: &str) -> Value {
    json!({ "file_path": "/ws/a.txt", "act": act, "path": path })
}

fn changing(act: &str, path: &str) -> Value {
    json!({ "act": act, "path": path })
}

fn assert_refused(outcome: &Outcome, what: &Value) {
    match &outcome.ending {
        Ending::Failed(failure) => assert!(
            !failure.message.contains(SECRET),
            "{what}: {}",
            failure.message
        ),
        other => panic!("{what}: not refused: {other:?}"),
    }
}

/// What could be seen of a change: every file of the scratch with its bytes, its time and its names.
fn state(scratch: &Scratch) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![scratch.ws.clone(), scratch.outside.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("metadata");
            let what = if metadata.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("a link").display().to_string()
            } else {
                let bytes = fs::read_to_string(&path).expect("a file");
                format!(
                    "{bytes}, {} names, changed at {}",
                    metadata.nlink(),
                    metadata.mtime()
                )
            };
            found.push((path.display().to_string(), what));
        }
    }
    found.sort();
    found
}

#[tokio::test]
pub async fn reads_by_raw_wasi() {
    let host = reading_host().await;
    let read = beside(&host, "ReadsByRawWasi", reading("read", "a.txt")).await;
    assert!(matches!(read.ending, Ending::Done(_)), "{:?}", read.ending);
    assert_eq!(read.ending.text(), "the content");
    for act in ["read", "link"] {
        for path in [
            "other.txt",
            "sub/b.txt",
            "sub/../other.txt",
            ".env",
            "to_denied",
            "relative_out",
            "absolute_out",
            "folder_out/secret.txt",
            "../outside/secret.txt",
            "/etc/passwd",
            "/proc/self/environ",
            "",
            "a.txt/../other.txt",
            "a.txt\0",
        ] {
            let input = reading(act, path);
            let outcome = beside(&host, "ReadsByRawWasi", input.clone()).await;
            assert_refused(&outcome, &input);
        }
    }
}

/// A call about one file learns no other names.
#[tokio::test]
async fn a_view_of_one_file_lists_no_other_names() {
    let host = reading_host().await;
    for (act, path) in [
        ("list_given", ""),
        ("list", "."),
        ("list", ""),
        ("list", "sub"),
        ("list", ".."),
        ("list", "/"),
    ] {
        let input = reading(act, path);
        let outcome = beside(&host, "ReadsByRawWasi", input.clone()).await;
        let text = outcome.ending.text();
        for name in ["other.txt", ".env", "b.txt", "secret.txt", "outside"] {
            assert!(
                !text.lines().any(|line| line == name),
                "{input} shows {name}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn a_reading_view_changes_nothing_by_any_call() {
    let host = reading_host().await;
    let before = state(&host.scratch);
    for act in CHANGING {
        for path in [
            "a.txt",
            "other.txt",
            ".",
            "new.txt",
            "relative_out",
            "../outside/secret.txt",
        ] {
            let input = reading(act, path);
            let outcome = beside(&host, "ReadsByRawWasi", input.clone()).await;
            assert_refused(&outcome, &input);
            assert_eq!(state(&host.scratch), before, "{input} changed something");
        }
    }
}

#[tokio::test]
pub async fn changes_by_raw_wasi() {
    let host = changing_host().await;
    let at = |name: &str| host.scratch.ws.join(name);
    let written = beside(&host, "ChangesByRawWasi", changing("write", "a.txt")).await;
    assert!(
        matches!(written.ending, Ending::Done(_)),
        "{:?}",
        written.ending
    );
    assert_eq!(
        fs::read_to_string(at("a.txt")).expect("a file"),
        "new content"
    );
    for act in ["times", "truncate_only", "unlink"] {
        let done = beside(&host, "ChangesByRawWasi", changing(act, "a.txt")).await;
        assert!(
            matches!(done.ending, Ending::Done(_)),
            "{act}: {:?}",
            done.ending
        );
    }
    assert!(!at("a.txt").exists());
}

#[tokio::test]
async fn what_is_denied_or_outside_is_changed_by_no_call() {
    let host = changing_host().await;
    let before = state(&host.scratch);
    for act in CHANGING {
        for path in [
            ".env",
            ".git/config",
            ".GIT/config",
            "sub/../.env",
            "relative_out/x",
            "folder_out/secret.txt",
            "folder_out/new",
            "../outside/secret.txt",
            "../outside/new",
            "/etc/passwd",
        ] {
            let input = changing(act, path);
            let outcome = beside(&host, "ChangesByRawWasi", input.clone()).await;
            assert_refused(&outcome, &input);
            assert_eq!(state(&host.scratch), before, "{input} changed something");
        }
    }
}

/// A link that leads out is itself an entry of the workspace: it may be renamed, removed or dated, and nothing goes
/// through it.
#[tokio::test]
async fn nothing_goes_through_a_link_by_any_call() {
    let host = changing_host().await;
    let before = state(&host.scratch);
    for act in CHANGING
        .into_iter()
        .filter(|act| !["rename", "unlink"].contains(act))
    {
        for path in ["relative_out", "absolute_out", "to_denied", "folder_out"] {
            let input = changing(act, path);
            let outcome = beside(&host, "ChangesByRawWasi", input.clone()).await;
            assert_eq!(state(&host.scratch), before, "{input} changed something");
            if act != "times" {
                assert_refused(&outcome, &input);
            }
        }
    }
}

/// A handle that was opened for reading does not write, in a writing view either.
#[tokio::test]
async fn a_reading_handle_does_not_write() {
    let host = changing_host().await;
    let before = state(&host.scratch);
    for act in ["write_by_read_handle", "cut_by_read_handle"] {
        let input = changing(act, "other.txt");
        let outcome = beside(&host, "ChangesByRawWasi", input.clone()).await;
        assert_refused(&outcome, &input);
        assert_eq!(state(&host.scratch), before, "{input} changed something");
    }
}

/// No path is so long that looking at it takes the host's time.
#[tokio::test]
async fn a_path_without_end_is_refused() {
    let host = changing_host().await;
    let before = state(&host.scratch);
    for path in [
        "x/".repeat(400_000),
        "../".repeat(300_000),
        "x".repeat(900_000),
    ] {
        for act in [
            "read",
            "list",
            "link",
            "write",
            "create_only",
            "make_directory",
            "rename",
            "times",
        ] {
            let outcome = beside(&host, "ChangesByRawWasi", changing(act, &path)).await;
            assert_refused(&outcome, &json!(act));
        }
    }
    assert_eq!(state(&host.scratch), before);
}

/// The only directories that a guest is given are the granted ones.
#[tokio::test]
async fn only_the_granted_directories_are_given() {
    let host = changing_host().await;
    let given = host.done("ChangesByRawWasi", changing("given", "")).await;
    assert_eq!(given, host.scratch.ws.display().to_string());
    let host = reading_host().await;
    let given = host.done("ReadsByRawWasi", reading("given", "")).await;
    let spill = host.scratch.state.join("spill");
    for folder in given.lines() {
        let known = [&host.scratch.ws, &spill]
            .iter()
            .any(|granted| Path::new(folder) == granted.as_path());
        assert!(known, "{folder} was given");
    }
}
