//! Programs with a deadline.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a program printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The same, if it ended well.
    #[track_caller]
    pub(crate) fn well(self) -> Self {
        assert_eq!(
            self.code,
            Some(0),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Runs a program in a folder.
pub(crate) fn run<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    folder: &Path,
    limit: Duration,
) -> Ran {
    run_with(program, arguments, folder, &[], "", limit)
}

/// Runs a program in a folder, with more environment and a text on its stdin; ends it when the time is over.
pub(crate) fn run_with<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    folder: &Path,
    environment: &[(&str, &str)],
    input: &str,
    limit: Duration,
) -> Ran {
    let mut child = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut stdin = child.stdin.take().unwrap();
    // A program that reads nothing may be gone before all is written.
    let _unread = stdin.write_all(input.as_bytes());
    drop(stdin);
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());
    let code = ended(&mut child, limit);
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    assert!(
        code.is_some(),
        "{} did not end within {limit:?}\nstdout: {stdout}\nstderr: {stderr}",
        program.display()
    );
    Ran {
        code: code.flatten(),
        stdout,
        stderr,
    }
}

fn reader(mut from: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The exit code; the outer None: it had to be ended.
pub(crate) fn ended(child: &mut Child, limit: Duration) -> Option<Option<i32>> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code());
        }
        if Instant::now() > until {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
