//! A workspace, a state directory and the program on them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than anything here takes. Whoever waits so long waits for ever.
pub(crate) const CEILING: Duration = Duration::from_secs(300);

/// See the module.
pub(crate) struct Desk {
    _root: TempDir,
    pub(crate) base: PathBuf,
    pub(crate) ws: PathBuf,
    pub(crate) state: PathBuf,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (ws, state) = (base.join("ws"), base.join("state"));
        fs::create_dir(&ws).unwrap();
        Self {
            _root: root,
            base,
            ws,
            state,
        }
    }

    /// Writes a file beside the workspace.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs `toolgate` without a terminal, within the ceiling.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("setsid");
        command
            .arg("--wait")
            .arg(env!("CARGO_BIN_EXE_toolgate"))
            .args(arguments)
            .args(["--no-user-config", "--state"])
            .arg(&self.state)
            .env("TOOLGATE_LOG", "info")
            .env("HOME", &self.base)
            .current_dir(&self.ws);
        output(command, b"")
    }

    /// The files of the code cache that hold code.
    pub(crate) fn code(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.state.join("code")).unwrap();
        let mut files: Vec<_> = folder
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|name| name == "cwasm"))
            .collect();
        files.sort();
        files
    }
}

/// Runs a program to its end, which comes before the ceiling.
pub(crate) fn output(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feed = thread::spawn(move || {
        let written = stdin.write_all(&input);
        drop((written, stdin));
    });
    let read = |stream: Option<Box<dyn std::io::Read + Send>>| {
        let mut stream = stream.unwrap();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let status = ended(&mut child);
    feed.join().unwrap();
    Output {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn ended(child: &mut Child) -> std::process::ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > CEILING {
            child.kill().unwrap();
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// How many components a run compiled, as it says in its log.
pub(crate) fn compiled(output: &Output) -> usize {
    let log = String::from_utf8(output.stderr.clone()).unwrap();
    log.matches("compiled the component ").count()
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
