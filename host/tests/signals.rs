//! Ctrl-C and its kin while a command runs: the program ends with the signal's code, after the record is written, and nothing
//! of the command lives on.
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// No step of a test takes longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Whom a signal is sent to.
#[derive(Clone, Copy, Debug)]
enum To {
    /// The whole process group, as a terminal does.
    Group,
    /// The program alone.
    Program,
}

/// A program that runs a command, in a process group of its own.
struct Running {
    program: Child,
    folder: TempDir,
    /// Sleeps of a length that nobody else sleeps for.
    sleep: String,
}

impl Running {
    fn start(input: impl FnOnce(&str) -> Value) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let sleep = format!("100.{}{number:02}", std::process::id());
        let folder = tempfile::tempdir().unwrap();
        let ws = folder.path().join("ws");
        fs::create_dir(&ws).unwrap();
        let program = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(["call", "Bash", &input(&sleep).to_string()])
            .args(["--shell", "local", "--allow", "Bash", "--no-user-config"])
            .arg("--state")
            .arg(folder.path().join("state"))
            .current_dir(&ws)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Self {
            program,
            folder,
            sleep,
        }
    }

    /// Processes that sleep for this test.
    fn sleepers(&self) -> usize {
        let line = format!("sleep\0{}\0", self.sleep);
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|found| found == line.as_bytes()).count()
    }

    fn wait_for_sleepers(&mut self, count: usize) {
        let begun = Instant::now();
        while self.sleepers() < count {
            assert!(self.program.try_wait().unwrap().is_none(), "it has ended");
            assert!(begun.elapsed() < LONGEST, "the command does not run");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal and waits for the end. Gives the exit code and what was said to stderr.
    fn end(&mut self, to: To, signal: Signal) -> (Option<i32>, String) {
        let pid = Pid::from_child(&self.program);
        match to {
            To::Group => kill_process_group(pid, signal).unwrap(),
            To::Program => kill_process(pid, signal).unwrap(),
        }
        let begun = Instant::now();
        let status = loop {
            match self.program.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > LONGEST => {
                    self.program.kill().unwrap();
                    panic!("it does not end");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let mut said = String::new();
        let stderr = self.program.stderr.as_mut().unwrap();
        std::io::Read::read_to_string(stderr, &mut said).unwrap();
        (status.code(), said)
    }

    fn record(&self) -> Value {
        let path: PathBuf = self.folder.path().join("state/journal.jsonl");
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let record = serde_json::from_str(lines.next().unwrap()).unwrap();
        assert_eq!(lines.next(), None, "one call has one record");
        record
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Where a test failed half-way; otherwise there is nothing left to end.
        drop((self.program.kill(), self.program.wait()));
    }
}

fn ends_everything(signal: Signal, code: i32) {
    for to in [To::Group, To::Program] {
        let mut running = Running::start(
            |sleep| json!({"command": format!("sleep {sleep} & setsid sleep {sleep}; wait")}),
        );
        running.wait_for_sleepers(2);
        let (ended, said) = running.end(to, signal);
        // Before anything else: nothing may need a moment to be gone.
        assert_eq!(running.sleepers(), 0, "{to:?}: something survived");
        assert_eq!((ended, said.trim()), (Some(code), "cancelled"), "{to:?}");
        let record = running.record();
        assert_eq!(record["ending"], "stopped", "{record}");
        assert!(
            record["detail"].to_string().contains("cancelled"),
            "{record}"
        );
        assert_eq!(record["commands"][0]["outcome"], "cancelled", "{record}");
        let line = record["commands"][0]["line"].as_str().unwrap();
        assert!(line.contains("setsid sleep"), "{record}");
    }
}

#[test]
fn ctrl_c_cancels_the_whole_tree() {
    ends_everything(Signal::INT, 130);
}

#[test]
fn a_service_managers_end_cancels_the_whole_tree() {
    ends_everything(Signal::TERM, 143);
}

#[test]
fn a_lost_terminal_cancels_the_whole_tree() {
    ends_everything(Signal::HUP, 129);
}

#[test]
fn what_ignores_signals_is_ended_all_the_same() {
    let mut running = Running::start(|sleep| {
        let stubborn =
            format!("trap '' INT TERM HUP; (setsid nohup sleep {sleep} &); sleep {sleep}");
        json!({ "command": stubborn })
    });
    running.wait_for_sleepers(2);
    let (ended, _) = running.end(To::Group, Signal::INT);
    assert_eq!((running.sleepers(), ended), (0, Some(130)));
}

#[test]
fn a_task_ends_with_the_program_that_started_it() {
    let mut running = Running::start(
        |sleep| json!({"command": format!("sleep {sleep}"), "run_in_background": true}),
    );
    let status = running.program.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    // The program has told the task's id, and its end is the end of the task.
    let begun = Instant::now();
    while running.sleepers() > 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "the task lives on"
        );
        thread::sleep(Duration::from_millis(10));
    }
    let record = running.record();
    let outcome = record["commands"][0]["outcome"].as_str().unwrap();
    assert!(outcome.starts_with("task task-1-"), "{record}");
    assert_eq!(record["commands"][0]["containment"], "pid_namespace");
}
