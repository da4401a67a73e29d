//! A workspace, a state directory, and the server over them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use toolgate_artifacts::CONFORMANCE;

use crate::program;

/// How long a server may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A workspace with a file, a secret, and the conformance suite's tools.
pub(crate) struct Desk {
    _root: TempDir,
    pub(crate) ws: PathBuf,
    pub(crate) state: PathBuf,
    tools: Vec<PathBuf>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(|_| true)
    }

    /// The same without the tool whose schema uses words that some clients do not take.
    pub(crate) fn without_wide_schemas() -> Self {
        Self::with(|name| name != "json_schema_2020_12_tool")
    }

    fn with(tool: impl Fn(&str) -> bool) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (ws, state) = (base.join("ws"), base.join("state"));
        fs::create_dir(&ws).unwrap();
        fs::write(ws.join("a.txt"), "alpha\nbeta\n").unwrap();
        fs::write(ws.join("secret.env"), "KEY=hunter2\n").unwrap();
        let tools = CONFORMANCE
            .iter()
            .filter(|(name, _)| tool(name))
            .map(|(name, wasm)| {
                let file = base.join(format!("{name}.wasm"));
                fs::write(&file, wasm).unwrap();
                file
            })
            .collect();
        Self {
            _root: root,
            ws,
            state,
            tools,
        }
    }

    /// Where a configuration can stand, outside of the workspace.
    pub(crate) fn config(&self) -> PathBuf {
        self.ws.with_file_name("toolgate.toml")
    }

    /// The server's command line for stdio, program first.
    pub(crate) fn command(&self, more: &[&str]) -> Vec<String> {
        let mut line: Vec<String> = [
            env!("CARGO_BIN_EXE_toolgate"),
            "serve",
            "--no-user-config",
            "--workspace",
            self.ws.to_str().unwrap(),
            "--state",
            self.state.to_str().unwrap(),
            "--shell",
            "local",
            "--allow",
            "Bash",
            "--deny",
            "Read(**/*.env)",
        ]
        .map(str::to_owned)
        .to_vec();
        for tool in &self.tools {
            line.extend(["--component".to_owned(), tool.display().to_string()]);
        }
        line.extend(more.iter().map(|&more| more.to_owned()));
        line
    }

    /// A server on a free port of loopback.
    pub(crate) fn http(&self, more: &[&str]) -> Served {
        let mut line = self.command(&["--http", "127.0.0.1:0"]);
        line.extend(more.iter().map(|&more| more.to_owned()));
        Served::start(&line, &self.ws)
    }

    /// The records of all calls.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state.join("journal.jsonl")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Waits until no process of this session's commands lives.
    #[track_caller]
    pub(crate) fn nothing_runs(&self) {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let alive = in_folder(&self.ws);
            if alive.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "still there: {alive:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Commands that stand in a folder, by what the kernel says.
fn in_folder(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let stands = fs::read_link(entry.path().join("cwd"));
        if stands.is_ok_and(|stands| stands == folder) && command.contains("sleep\x00300") {
            found.push(command.replace('\0', " "));
        }
    }
    found
}

/// A server that listens.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
}

impl Served {
    fn start(line: &[String], folder: &Path) -> Self {
        let mut child = Command::new(&line[0])
            .args(&line[1..])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (said, hears) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    // Nobody listens any more; the pipe is read on, so that the server never waits for it.
                }
            }
        });
        let mut all = String::new();
        let url = loop {
            let Ok(line) = hears.recv_timeout(PATIENCE) else {
                child.kill().unwrap();
                panic!("the server does not listen: {all}");
            };
            if let Some((_, url)) = line.split_once("listening on ") {
                break url.trim().to_owned();
            }
            all.push_str(&line);
            all.push('\n');
        };
        Self { child, url }
    }

    /// Ends it as an operator does, and says how it ended.
    pub(crate) fn end(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        program::ended(&mut self.child, PATIENCE).expect("the server ends at SIGTERM")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            // A test that failed half-way.
            let _gone = self.child.kill();
            let _ended = self.child.wait();
        }
    }
}
