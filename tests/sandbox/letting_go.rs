//! Long work of the host for a guest: it lets go of the thread again and again, so that a call can be given up in its midst.

use std::fs;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::model::Outcome;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{CEILING, Guest, approving_host_in, neighbour};

const DIES: Guest = ("DiesReplacing", guests::DIES_REPLACING);
const READS: Guest = ("ReadsByStdFs", guests::READS_BY_STD_FS);
/// Enough for several pieces of a listing, and for many pauses of a walk.
const FILES: usize = 9_000;
/// Entries between two pauses of a walk.
const PAUSE: usize = 256;
/// Bytes that `DiesReplacing` writes, and bytes between two pauses.
const WRITTEN: usize = 40_000_000;
const STEP: usize = 1 << 20;
/// Many times as long as a call takes that lists one file.
const SHORT: Duration = Duration::from_millis(500);

/// Polls a call until it ends, or gives it up at its poll number `most`. With the number of polls.
async fn polled(
    host: &TestHost,
    tool: &str,
    input: Value,
    most: usize,
) -> (usize, Option<Outcome>) {
    let mut call = pin!(host.call(tool, input));
    let mut polls = 0;
    let ended = std::future::poll_fn(|context| {
        polls += 1;
        match call.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if polls == most => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    let ended = tokio::time::timeout(CEILING, ended).await.expect("it ends");
    (polls, ended)
}

/// Gives a call up in its midst: its record says so, and the neighbour is there.
async fn given_up(host: &TestHost, tool: &str, input: Value, at: usize) -> Value {
    let (polls, ended) = polled(host, tool, input, at).await;
    assert!(ended.is_none(), "it ended after {polls} polls: {ended:?}");
    neighbour(host, 1).await;
    let records = host.journal.records();
    let mut cancelled = records
        .into_iter()
        .filter(|record| record["detail"]["bound"] == "cancelled");
    cancelled.next().expect("a record of the call")
}

fn many_files() -> Scratch {
    let scratch = Scratch::new();
    for number in 0..FILES {
        scratch.file(&format!("f{number}"), "");
    }
    scratch
}

#[tokio::test]
async fn a_walk_that_finds_nothing_can_be_given_up() {
    let host = TestHost::with(many_files(), Setup::default(), |builder| {
        builder.component("Echo", guests::ECHO.to_vec())
    })
    .await;
    let nothing = json!({ "pattern": "*.none" });
    let (polls, outcome) = polled(&host, "Glob", nothing.clone(), usize::MAX).await;
    assert!(polls >= FILES / PAUSE, "{polls} polls");
    let text = outcome.expect("it ended").ending.text();
    assert!(text.contains("No files"), "{text}");

    given_up(&host, "Glob", nothing, FILES / PAUSE / 2).await;
    let (_, outcome) = polled(&host, "Glob", json!({ "pattern": "f471*" }), usize::MAX).await;
    let text = outcome.expect("it ended").ending.text();
    assert!(text.contains("f4719"), "{text}");
}

#[tokio::test]
async fn a_large_write_can_be_given_up_and_leaves_the_old_bytes() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "old bytes");
    let host = approving_host_in(scratch, DIES, Setup::default()).await;
    let input = json!({ "path": "/ws/a.txt" });
    let record = given_up(&host, "DiesReplacing", input.clone(), WRITTEN / STEP / 2).await;
    let files = record["files"].as_array().expect("files");
    assert!(
        files.iter().all(|used| used["access"] != "write"),
        "{files:?}"
    );
    let names: Vec<_> = fs::read_dir(&host.scratch.ws)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["a.txt"]);
    assert_eq!(
        fs::read(host.scratch.ws.join("a.txt")).expect("it"),
        b"old bytes"
    );

    let (polls, _) = polled(&host, "DiesReplacing", input, usize::MAX).await;
    assert!(polls >= WRITTEN / STEP, "{polls} polls");
    let written = fs::metadata(host.scratch.ws.join("a.txt"))
        .expect("it")
        .len();
    assert_eq!(written, WRITTEN as u64);
}

/// A directory that WASI reads whole is read on another thread: as long as there is none, the call waits and can be given up.
#[test]
fn a_listing_by_wasi_can_be_given_up() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let scratch = Scratch::new();
        scratch.file("a.txt", "");
        let host = approving_host_in(scratch, READS, Setup::default()).await;
        let list = json!({ "how": "list", "path": "/ws" });
        assert_eq!(host.done("ReadsByStdFs", list.clone()).await, "a.txt");
        let (release, held) = std::sync::mpsc::channel::<()>();
        let holding = tokio::task::spawn_blocking(move || held.recv());
        let waits = tokio::time::timeout(SHORT, host.call("ReadsByStdFs", list.clone())).await;
        assert!(waits.is_err(), "{waits:?}");
        neighbour(&host, 1).await;
        drop(release);
        assert!(holding.await.expect("it ends").is_err());
        assert_eq!(host.done("ReadsByStdFs", list).await, "a.txt");
    });
}
