//! What cases share: an approver that remembers, hosts with one, ways to say how a call ended.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use async_trait::async_trait;
use serde_json::Value;
use toolgate::gate::{Answer, ApprovalRequest, Approver};
use toolgate::model::{Denial, Ending, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::command_host::with_bash;

/// Says yes to everything, and remembers what it was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    requests: Arc<Mutex<Vec<ApprovalRequest>>>,
    always: bool,
}

impl Asked {
    /// The same, with "always" as the answer.
    pub(crate) fn always() -> Self {
        Self {
            always: true,
            ..Self::default()
        }
    }

    /// All questions so far.
    pub(crate) fn requests(&self) -> Vec<ApprovalRequest> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The reasons of all questions so far.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let requests = self.requests();
        requests.into_iter().map(|request| request.reason).collect()
    }

    /// How many questions there were.
    pub(crate) fn count(&self) -> usize {
        self.requests().len()
    }
}

#[async_trait]
impl Approver for Asked {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let requests = self.requests.lock();
        requests
            .unwrap_or_else(PoisonError::into_inner)
            .push(request.clone());
        Answer::Approved {
            by: "the test".to_owned(),
            always: self.always,
        }
    }
}

/// A host that says yes, and what it was asked.
pub(crate) async fn asking(scratch: Scratch, setup: Setup) -> (TestHost, Asked) {
    let asked = Asked::default();
    let host = TestHost::with(scratch, setup, |builder| builder.approver(asked.clone())).await;
    (host, asked)
}

/// A host with `Bash` whose approver says "always" to everything.
pub(crate) async fn always(scratch: Scratch) -> (TestHost, Asked) {
    let asked = Asked::always();
    let host = TestHost::with(scratch, Setup::default(), |builder| {
        with_bash(builder).approver(asked.clone())
    })
    .await;
    (host, asked)
}

/// The denial that ended a call.
pub(crate) fn denial(outcome: &Outcome) -> &Denial {
    match &outcome.ending {
        Ending::Denied(denial) => denial,
        other => panic!("not denied: {other:?}"),
    }
}

/// Asserts that a gate or the file view refused the call, and gives the text.
pub(crate) fn refused(outcome: &Outcome) -> String {
    let by_view = matches!(&outcome.ending, Ending::Failed(failure) if failure.kind == "denied");
    let by_gate = matches!(outcome.ending, Ending::Denied(_));
    assert!(by_view || by_gate, "not refused: {:?}", outcome.ending);
    outcome.ending.text()
}

/// Asserts that the text holds each part.
pub(crate) fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

/// Asserts that the text holds none of the parts.
pub(crate) fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part:?} stands in: {text}");
    }
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The bytes of a file.
pub(crate) fn bytes(path: impl AsRef<Path>) -> Vec<u8> {
    std::fs::read(path).expect("a file")
}

/// The permission bits of a file.
pub(crate) fn mode(path: impl AsRef<Path>) -> u32 {
    std::fs::metadata(path)
        .expect("a file")
        .permissions()
        .mode()
        & 0o7777
}

/// Sets the permission bits of a file.
pub(crate) fn set_mode(path: impl AsRef<Path>, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).expect("the mode");
}

/// A symbolic link.
pub(crate) fn link(target: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(target, at).expect("a link");
}

/// A FIFO without a writer.
pub(crate) fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a FIFO");
}

/// The last record of the journal.
pub(crate) fn last_record(host: &TestHost) -> Value {
    host.journal.records().pop().expect("a record")
}

/// A thread that does something again and again until it is dropped.
pub(crate) struct Meanwhile {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<u64>>,
}

impl Meanwhile {
    /// Starts it. `act` gets the number of the round.
    pub(crate) fn start(mut act: impl FnMut(u64) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut round = 0;
            while !stopped.load(Ordering::Relaxed) {
                act(round);
                round += 1;
            }
            round
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }

    /// Ends it, and gives the number of rounds.
    pub(crate) fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("its rounds")
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A case that fails must not take its folders away under a running thread.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
