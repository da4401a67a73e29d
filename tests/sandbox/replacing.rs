//! Writing in one step: whatever ends the guest, a file is wholly old or wholly new, and nothing else is left.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::Semaphore;
use toolgate::approval::Fixed;
use toolgate::config::LimitSetting;
use toolgate::model::Stop;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{
    CEILING, Guest, approving_host_in, beside, bounded, host_in, one_second, stop, trap,
};

const DIES: Guest = ("DiesReplacing", guests::DIES_REPLACING);
const SLOWLY: Guest = ("ReplacesSlowly", guests::REPLACES_SLOWLY);
const OLD: &str = "old bytes";

async fn writing_host(guest: Guest, setup: Setup) -> TestHost {
    let scratch = Scratch::new();
    scratch.file("a.txt", OLD);
    approving_host_in(scratch, guest, setup).await
}

/// The folder holds these names and no others.
fn assert_only(folder: &Path, expected: &[&str]) {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    assert_eq!(names, expected);
}

/// The file holds the old bytes, or `size` times one of the letters.
fn assert_whole(path: &Path, size: usize, letters: &[u8]) {
    let bytes = fs::read(path).expect("the file");
    if bytes == OLD.as_bytes() {
        return;
    }
    assert_eq!(bytes.len(), size, "neither the old length nor the new one");
    let first = bytes[0];
    assert!(letters.contains(&first), "it begins with {first}");
    assert!(
        bytes.iter().all(|byte| *byte == first),
        "bytes of two writes are mixed"
    );
}

#[tokio::test]
pub async fn dies_replacing() {
    let host = writing_host(DIES, Setup::default()).await;
    for path in ["/ws/a.txt", "/ws/new.txt"] {
        let outcome = beside(&host, "DiesReplacing", json!({ "path": path })).await;
        assert!(
            trap(&outcome).contains("unreachable"),
            "{:?}",
            outcome.ending
        );
    }
    let ws = &host.scratch.ws;
    assert_only(ws, &["a.txt", "new.txt"]);
    // The host's step was over before the guest died.
    for name in ["a.txt", "new.txt"] {
        let bytes = fs::read(ws.join(name)).expect("the file");
        assert_eq!(bytes.len(), 40_000_000, "{name}");
        assert!(bytes.iter().all(|byte| *byte == b'n'), "{name}");
    }
}

/// A write that fails leaves neither a temporary file nor the folders that were made for it.
#[tokio::test]
async fn a_refused_write_leaves_nothing_behind() {
    let setup = Setup::default().deny(&["Write(made/**/locked.txt)"]);
    let host = writing_host(DIES, setup).await;
    for path in [
        "/ws/made/deep/locked.txt",
        "/ws/.git/hooks/pre-commit",
        "/outside/new.txt",
        "/ws/a.txt/below.txt",
    ] {
        let outcome = beside(&host, "DiesReplacing", json!({ "path": path })).await;
        assert!(
            trap(&outcome).contains("unreachable"),
            "{path}: {:?}",
            outcome.ending
        );
        let said = outcome
            .log
            .iter()
            .any(|line| line.contains("dies after Err"));
        assert!(said, "{path} was written: {:?}", outcome.log);
        assert_only(&host.scratch.ws, &["a.txt"]);
        assert_only(&host.scratch.outside, &[]);
    }
    assert_whole(&host.scratch.ws.join("a.txt"), 0, b"");
}

/// Neither needs the file to be absent, so neither fails because the other was there first.
#[tokio::test]
async fn two_writes_of_one_new_file_both_end_well() {
    let host = writing_host(DIES, Setup::default()).await;
    for round in 0..10 {
        let path = format!("/ws/new{round}.txt");
        let write = |letter: &str| json!({ "file_path": path, "content": letter.repeat(100_000) });
        let both = async {
            tokio::join!(
                host.done("Write", write("a")),
                host.done("Write", write("b")),
                crate::beside::neighbour(&host, 1)
            )
        };
        let (one, other, ()) = tokio::time::timeout(CEILING, both).await.expect("both end");
        let created = [&one, &other]
            .into_iter()
            .filter(|said| said.contains("Created"));
        assert_eq!(created.count(), 1, "{one}\n{other}");
        assert_whole(
            &host.scratch.ws.join(format!("new{round}.txt")),
            100_000,
            b"ab",
        );
    }
}

#[tokio::test]
pub async fn replaces_slowly() {
    let size = 8 << 20;
    let host = writing_host(SLOWLY, bounded("ReplacesSlowly", one_second())).await;
    for path in ["/ws/a.txt", "/ws/made/new.txt"] {
        let outcome = beside(
            &host,
            "ReplacesSlowly",
            json!({ "path": path, "bytes": size }),
        )
        .await;
        assert!(
            matches!(stop(&outcome), Stop::WallClock { .. }),
            "{:?}",
            outcome.ending
        );
    }
    let ws = &host.scratch.ws;
    assert_whole(&ws.join("a.txt"), size, b"ab");
    if ws.join("made").exists() {
        assert_only(&ws.join("made"), &["new.txt"]);
        assert_whole(&ws.join("made/new.txt"), size, b"ab");
        assert_only(ws, &["a.txt", "made"]);
    } else {
        assert_only(ws, &["a.txt"]);
    }
}

#[tokio::test]
async fn fuel_ends_a_writing_guest_between_two_writes() {
    let low = LimitSetting {
        fuel: Some(50_000_000.into()),
        ..LimitSetting::default()
    };
    let host = writing_host(SLOWLY, bounded("ReplacesSlowly", low)).await;
    let size = 1 << 20;
    let outcome = beside(
        &host,
        "ReplacesSlowly",
        json!({ "path": "/ws/a.txt", "bytes": size }),
    )
    .await;
    assert!(
        matches!(stop(&outcome), Stop::Fuel { .. }),
        "{:?}",
        outcome.ending
    );
    assert_whole(&host.scratch.ws.join("a.txt"), size, b"ab");
    assert_only(&host.scratch.ws, &["a.txt"]);
}

#[tokio::test]
async fn a_dropped_call_leaves_a_whole_file() {
    let written = Arc::new(Semaphore::new(0));
    let writing = Arc::clone(&written);
    let scratch = Scratch::new();
    scratch.file("a.txt", OLD);
    let host = host_in(scratch, SLOWLY, Setup::default(), |builder| {
        builder
            .approver(Fixed::approve("the test"))
            .on_progress(Arc::new(move |_, _, _, _| writing.add_permits(1)))
    })
    .await;
    let size = 4 << 20;
    let call = host.call(
        "ReplacesSlowly",
        json!({ "path": "/ws/a.txt", "bytes": size }),
    );
    let twice = async {
        written
            .acquire_many(2)
            .await
            .expect("never closed")
            .forget()
    };
    let until_dropped = async {
        tokio::select! {
            outcome = call => panic!("the guest ended by itself: {:?}", outcome.ending),
            () = twice => {}
        }
    };
    tokio::time::timeout(CEILING, until_dropped)
        .await
        .expect("it writes");
    assert_whole(&host.scratch.ws.join("a.txt"), size, b"ab");
    assert_only(&host.scratch.ws, &["a.txt"]);
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["ending"], "stopped");
    assert_eq!(record["detail"]["bound"], "cancelled");
}
