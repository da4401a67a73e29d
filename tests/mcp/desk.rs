//! A workspace and a state directory for one server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// See the module.
pub struct Desk {
    _root: TempDir,
    pub ws: PathBuf,
    pub state: PathBuf,
    base: PathBuf,
}

impl Desk {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (ws, state) = (base.join("ws"), base.join("state"));
        fs::create_dir(&ws).unwrap();
        fs::write(ws.join("a.txt"), "alpha\nbeta\n").unwrap();
        Self {
            _root: root,
            ws,
            state,
            base,
        }
    }

    /// `toolgate serve`, not started yet.
    pub fn serve(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command
            .arg("serve")
            .args(arguments)
            .args(["--no-user-config", "--workspace"])
            .arg(&self.ws)
            .arg("--state")
            .arg(&self.state)
            .current_dir(&self.ws);
        command
    }

    /// A file beside the workspace.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.base.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The same as text for an argument.
    pub fn named(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        self.file(name, content).to_str().unwrap().to_owned()
    }

    /// The records so far.
    pub fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state.join("journal.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The records of a tool.
    pub fn records_of(&self, tool: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["tool"] == tool);
        records
    }
}

/// Processes whose command line holds a word that no other process has.
pub fn processes_with(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap();
    let holds = |path: &Path| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(word)
    };
    entries
        .flatten()
        .filter(|entry| holds(&entry.path()))
        .count()
}
