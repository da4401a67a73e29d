//! Compiling in a process of its own, which can be ended and which cannot take more than its share.
//!
//! The worker reads a component on stdin and writes its machine code to stdout. It has at most 4 GiB of address space
//! and 10 minutes of processor time, opens and writes no file, has no environment, and is ended at the wall-clock limit.
//! A program that has no worker compiles on a thread ([`super::in_process`]): a library cannot run itself anew, since what
//! the program around it would do at its start is not the library's to know.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::in_process::took_too_long;
use super::{MAX_COMPONENT, prescan};
use crate::runtime::{ComponentError, tuning};

/// Address space of a worker, bytes.
const MEMORY: u64 = 4 << 30;
/// Its processor time, seconds.
const PROCESSOR: u64 = 600;
/// The most bytes of machine code.
const MAX_CODE: u64 = 512 << 20;
/// Its compiling threads: each has an allocator of its own, which takes address space.
const THREADS: &str = "4";
/// The first byte of an answer.
const CODE: u8 = b'c';
const ERROR: u8 = b'e';

/// A command that runs [`run_compile_worker`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileWorker {
    program: PathBuf,
    arguments: Vec<String>,
}

/// Why a worker gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFailure {
    /// Its bounds could not be set: it does not begin.
    #[error("the limits of the compile worker cannot be set: {0}")]
    Limits(io::Error),
    /// Its component or its answer was lost.
    #[error("the compile worker's pipe: {0}")]
    Pipe(#[from] io::Error),
}

impl CompileWorker {
    /// A worker of this command.
    pub fn new(program: impl Into<PathBuf>, arguments: Vec<String>) -> Self {
        Self {
            program: program.into(),
            arguments,
        }
    }

    /// Compiles one component in one process, which is gone afterwards.
    pub(super) fn compile(
        &self,
        binary: &[u8],
        limit: Duration,
    ) -> Result<Vec<u8>, ComponentError> {
        let failed = |error: io::Error| {
            ComponentError::CompileBound(format!("the worker cannot be used: {error}"))
        };
        let mut child = self.spawn().map_err(failed)?;
        let said = converse(&mut child, binary, limit);
        // Whatever it said, it has nothing more to do.
        let killed = child.kill();
        tracing::trace!(?killed, "a compile worker");
        let status = child.wait().map_err(failed)?;
        match said.map_err(failed)? {
            None => Err(took_too_long(limit)),
            Some(said) => answer(said, status),
        }
    }

    fn spawn(&self) -> io::Result<Child> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the worker is this program itself, and runs nothing that anybody chose"
        )]
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .env("RAYON_NUM_THREADS", THREADS)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }
}

/// What the worker said; none: nothing in time.
fn converse(child: &mut Child, binary: &[u8], limit: Duration) -> io::Result<Option<Vec<u8>>> {
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut stdin, stdout) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
    let binary = binary.to_owned();
    thread::Builder::new().spawn(move || {
        // One that does not read may still have an answer.
        let written = stdin.write_all(&binary);
        tracing::trace!(?written, "a compile worker's component");
    })?;
    let (say, hear) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let mut said = Vec::new();
        let read = stdout.take(MAX_CODE + 2).read_to_end(&mut said);
        let heard = say.send(read.map(|_| said));
        tracing::trace!(?heard, "a compile worker's answer");
    })?;
    match hear.recv_timeout(limit) {
        Ok(said) => said.map(Some),
        Err(_) => Ok(None),
    }
}

fn answer(mut said: Vec<u8>, status: ExitStatus) -> Result<Vec<u8>, ComponentError> {
    let first = said.first().copied();
    let rest = match said.is_empty() {
        true => Vec::new(),
        false => said.split_off(1),
    };
    match first {
        Some(CODE) if rest.len() as u64 <= MAX_CODE => Ok(rest),
        Some(CODE) => Err(ComponentError::CompileBound(format!(
            "its machine code has more than {MAX_CODE} bytes"
        ))),
        Some(ERROR) => Err(ComponentError::Invalid(
            String::from_utf8_lossy(&rest).into_owned(),
        )),
        // An allocation that the limit refuses ends it, as does the limit of the processor.
        Some(_) | None => Err(ComponentError::CompileBound(format!(
            "the worker ended ({status}) without an answer: it has {} GiB of memory and {PROCESSOR} s of processor time",
            MEMORY >> 30
        ))),
    }
}

/// What a compile worker does: reads a component on stdin, bounds itself, writes the machine code to stdout. The process
/// should end afterwards.
///
/// # Errors
/// There is no answer, and whoever waits for one is told so by that.
pub fn run_compile_worker() -> Result<(), WorkerFailure> {
    limit_itself().map_err(|error| WorkerFailure::Limits(error.into()))?;
    let mut component = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_COMPONENT as u64 + 1)
        .read_to_end(&mut component)?;
    let compiled = compiled(&component);
    let mut stdout = io::stdout().lock();
    match compiled {
        Ok(code) => {
            stdout.write_all(&[CODE])?;
            stdout.write_all(&code)?;
        }
        Err(error) => {
            stdout.write_all(&[ERROR])?;
            stdout.write_all(error.as_bytes())?;
        }
    }
    Ok(stdout.flush()?)
}

fn compiled(component: &[u8]) -> Result<Vec<u8>, String> {
    prescan::check(component).map_err(|error| error.to_string())?;
    let engine = wasmtime::Engine::new(&tuning::config());
    engine
        .and_then(|engine| engine.precompile_component(component))
        .map_err(|error| format!("{error:#}"))
}

fn limit_itself() -> rustix::io::Result<()> {
    for (resource, most) in [
        (Resource::As, MEMORY),
        (Resource::Cpu, PROCESSOR),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn said(script: &str, limit: Duration) -> Result<Vec<u8>, String> {
        let worker = CompileWorker::new("/bin/sh", vec!["-c".to_owned(), script.to_owned()]);
        let said = worker.compile(b"\0asm", limit);
        said.map_err(|error| error.to_string())
    }

    #[test]
    fn a_worker_is_taken_at_its_word_only_where_it_has_one() {
        let limit = Duration::from_secs(30);
        assert_eq!(said("printf ccode", limit).unwrap(), b"code");
        let error = said("printf 'ebad bytes'", limit).unwrap_err();
        assert!(
            error.contains("not a valid component: bad bytes"),
            "{error}"
        );
        for silent in ["exit 3", "kill -9 $$", "printf x"] {
            let error = said(silent, limit).unwrap_err();
            assert!(error.contains("without an answer"), "{silent}: {error}");
        }
        let missing = CompileWorker::new("/nowhere/worker", Vec::new());
        let error = missing.compile(b"", limit).unwrap_err().to_string();
        assert!(error.contains("the worker cannot be used"), "{error}");
    }

    #[test]
    fn a_worker_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = said("exec sleep 3600", Duration::from_millis(200)).unwrap_err();
        assert!(error.contains("more than 0.2 s"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
