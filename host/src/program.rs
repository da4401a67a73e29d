//! Programs of the operator: hooks, approval programs.
//!
//! Owns how a program is found, started, fed, read and ended. Guarantees that a run takes no longer than its limit, that
//! no more than 1 MiB of what it prints is kept, that an answer is only taken when nobody can add to it any more, and that
//! nothing which it started in its process group is left running. A child that leaves the group (`setsid`) lives on.
//! Never contains what a program's answer means.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// The most bytes of stdout, and of stderr, that are read.
const MAX_OUTPUT: usize = 1 << 20;
/// How long the output of a program that has ended stays open: a child that it left behind may hold the other end for
/// as long as it lives.
const AFTERMATH: Duration = Duration::from_millis(250);

/// A program with its arguments, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    path: PathBuf,
    arguments: Vec<String>,
}

/// Why there is nothing to run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// No command.
    #[error("the command is empty")]
    Empty,
    /// The program is not there.
    #[error("'{0}' cannot run: there is no such program, or it may not be executed")]
    Missing(String),
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed, at most 1 MiB; what is not UTF-8 is replaced.
    pub stdout: String,
    /// The same of its stderr.
    pub stderr: String,
}

/// Why a run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error("could not start: {0}")]
    Start(std::io::Error),
    /// It, or one of its pipes, broke.
    #[error("{0}")]
    Pipe(#[from] std::io::Error),
    /// It printed too much.
    #[error("printed more than 1 MiB")]
    TooMuch,
    /// It ended, and left somebody behind who still holds its stdout: what it printed may not be all it has to say.
    #[error("ended, but its stdout is still open: a program that it left behind holds it")]
    Open,
    /// It was ended at its limit.
    #[error("took more than {} ms", .0.as_millis())]
    TooSlow(Duration),
}

impl Program {
    /// Looks the program of a command up, here and now: a path, or a name on PATH.
    ///
    /// # Errors
    /// The command is empty, or there is no file of this name that may be executed.
    pub fn find(command: &[String]) -> Result<Self, ProgramError> {
        let (program, arguments) = command.split_first().ok_or(ProgramError::Empty)?;
        Ok(Self {
            name: command.join(" "),
            path: find(program).ok_or_else(|| ProgramError::Missing(program.clone()))?,
            arguments: arguments.to_vec(),
        })
    }

    /// The whole command, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs it once with an input on stdin. Whatever the end, its process group is gone afterwards.
    ///
    /// # Errors
    /// It did not start, printed too much, or took too long.
    pub async fn run(&self, input: Vec<u8>, limit: Duration) -> Result<Ran, RunError> {
        let mut child = self.spawn().map_err(RunError::Start)?;
        // A guard, because dropping this future must end the group too.
        let _group = Group(child.id());
        let ran = tokio::time::timeout(limit, converse(&mut child, input)).await;
        ran.unwrap_or(Err(RunError::TooSlow(limit)))
    }

    fn spawn(&self) -> std::io::Result<Child> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that starts the operator's own programs"
        )]
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Feeds the program and reads what it says, all at once, so that neither side waits for the other.
async fn converse(child: &mut Child, input: Vec<u8>) -> Result<Ran, RunError> {
    let mut stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let whole = AtomicBool::new(false);
    let status = {
        let feed = async move {
            if let Some(stdin) = &mut stdin {
                // A program that does not read its input may still answer.
                let written = stdin.write_all(&input).await;
                tracing::trace!(?written, "a program's input");
            }
            Ok(())
        };
        let talk = async {
            let listen = async {
                read(stdout, &mut said).await?;
                whole.store(true, Ordering::Relaxed);
                Ok(())
            };
            tokio::try_join!(feed, listen, read(stderr, &mut complained))
        };
        tokio::pin!(talk);
        tokio::select! {
            talked = &mut talk => {
                talked?;
                child.wait().await?
            }
            status = child.wait() => {
                if let Ok(talked) = tokio::time::timeout(AFTERMATH, talk).await {
                    talked?;
                }
                status?
            }
        }
    };
    if !whole.load(Ordering::Relaxed) {
        return Err(RunError::Open);
    }
    Ok(Ran {
        status,
        stdout: String::from_utf8_lossy(&said).into_owned(),
        stderr: String::from_utf8_lossy(&complained).into_owned(),
    })
}

/// Reads to the end. What was read stays in `bytes` also when the future is dropped.
async fn read(stream: Option<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>) -> Result<(), RunError> {
    let Some(mut stream) = stream else {
        return Ok(());
    };
    while stream.read_buf(bytes).await? > 0 {
        if bytes.len() > MAX_OUTPUT {
            return Err(RunError::TooMuch);
        }
    }
    Ok(())
}

/// A process group that ends with this value.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let group = self
            .0
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            tracing::trace!(?ended, "a program's process group");
        }
    }
}

/// The program's path, as a shell would find it: a file that may be executed.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(runs)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Program {
        Program::find(&["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()]).unwrap()
    }

    #[tokio::test]
    async fn a_program_is_fed_and_read() {
        let ran = shell("cat; echo no >&2; exit 3")
            .run(b"told".to_vec(), LIMIT)
            .await;
        let ran = ran.unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("told", "no\n"));
        assert_eq!(ran.status.code(), Some(3));
        let long = shell("cat").run(vec![b'x'; 900_000], LIMIT).await.unwrap();
        assert_eq!(long.stdout.len(), 900_000);
        let deaf = shell("exit 0").run(vec![b'x'; 900_000], LIMIT).await;
        assert!(deaf.unwrap().status.success());
    }

    #[tokio::test]
    async fn a_child_that_is_left_behind_neither_delays_the_answer_nor_lives_on() {
        let begun = Instant::now();
        let left = shell("echo answer; sleep 3600 >/dev/null & echo $! >&2");
        let ran = left.run(Vec::new(), LIMIT).await.unwrap();
        assert_eq!(ran.stdout, "answer\n");
        assert!(begun.elapsed() < Duration::from_secs(5));
        let id = ran.stderr.trim().parse().unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        // Whoever adopts it takes a moment to bury it.
        for _ in 0..200 {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
            if state.map_or(true, |state| state.contains(") Z")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{id:?} lives on");
    }

    #[tokio::test]
    async fn an_answer_that_somebody_may_add_to_is_none() {
        let late = shell("(sleep 3600; echo late) & exit 0");
        let broken = late.run(Vec::new(), LIMIT).await.unwrap_err();
        assert!(matches!(broken, RunError::Open), "{broken}");
        let complains = shell("echo answer; (sleep 3600 >/dev/null) & exit 0");
        assert!(complains.run(Vec::new(), LIMIT).await.is_ok());
    }

    #[tokio::test]
    async fn bounds_end_a_run() {
        let limit = Duration::from_millis(200);
        let slow = shell("sleep 3600").run(Vec::new(), limit).await;
        assert_eq!(slow.unwrap_err().to_string(), "took more than 200 ms");
        let closed = shell("exec >&- 2>&-; sleep 3600")
            .run(Vec::new(), limit)
            .await;
        assert_eq!(closed.unwrap_err().to_string(), "took more than 200 ms");
        let loud = shell("head -c 100000000 /dev/zero")
            .run(Vec::new(), LIMIT)
            .await;
        assert_eq!(loud.unwrap_err().to_string(), "printed more than 1 MiB");
    }

    #[test]
    fn what_cannot_run_is_found_out_at_once() {
        assert_eq!(Program::find(&[]), Err(ProgramError::Empty));
        for name in ["/nowhere/program", "no-such-program-anywhere", "/"] {
            let missing = Err(ProgramError::Missing(name.to_owned()));
            assert_eq!(Program::find(&[name.to_owned()]), missing);
        }
        assert!(Program::find(&["sh".to_owned()]).is_ok());
    }
}
