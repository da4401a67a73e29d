//! A host with a real shell for cases, and ways to see whether anything of a command still lives.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::config::ShellSetting;
use toolgate::model::{Ending, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

/// A host with a shell on this machine, and nobody to ask.
pub(crate) async fn with_shell(scratch: Scratch, mut setup: Setup) -> TestHost {
    setup.config.shell = ShellSetting::local();
    TestHost::with(scratch, setup, |builder| builder).await
}

/// The same, in which every command is allowed.
pub(crate) async fn with_any_command() -> TestHost {
    with_shell(Scratch::new(), Setup::default().allow(&["Bash"])).await
}

/// A call of `Bash` with a deadline, milliseconds.
pub(crate) fn until(command: &str, timeout: i64) -> Value {
    json!({ "command": command, "timeout": timeout })
}

/// Asserts that the deadline ended the call.
#[track_caller]
pub(crate) fn assert_timed_out(outcome: &Outcome, millis: u32) {
    let text = outcome.ending.text();
    assert!(matches!(outcome.ending, Ending::Failed(_)), "{text}");
    let marker = format!("[timed out after {millis}ms]");
    assert!(text.ends_with(&marker), "{text}");
}

/// Asserts that a file does not come into being within a time.
pub(crate) async fn never_appears(path: &Path, within: Duration) {
    tokio::time::sleep(within).await;
    assert!(!path.exists(), "{} was made after all", path.display());
}

/// Waits for a file; the case's ceiling bounds it.
pub(crate) async fn appears(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Processes of this machine whose command line holds a text.
pub(crate) fn processes_with(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}
