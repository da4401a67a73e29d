//! How a case runs: on a thread of its own under a ceiling, and, where it needs another environment, in a process of
//! its own.

use std::future::Future;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// No case takes this long: one that does hangs, and fails rather than hold the run up.
const CEILING: Duration = Duration::from_secs(180);

/// Set in a process that was started for one case; holds its name.
const ALONE: &str = "TOOLGATE_CASE_ALONE";

/// Runs a case. A case that blocks its thread is left behind and fails.
pub(crate) fn to_the_end<F>(case: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    let (ended, end) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Dropped while unwinding too, which ends the wait.
        let _ended: mpsc::Sender<()> = ended;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(case());
    });
    match end.recv_timeout(CEILING) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the case did not end within {CEILING:?}"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Whether this process was started for `case` alone.
pub(crate) fn is_alone(case: &str) -> bool {
    std::env::var_os(ALONE).is_some_and(|name| name == case)
}

/// Runs one case again in a process of its own: `script` is a shell text that prepares and then says `exec "$@"`. The
/// case must see [`is_alone`] there and do its work.
pub(crate) fn alone(case: &str, environment: &[(&str, &str)], script: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the case needs a process with another environment"
    )]
    let mut command = std::process::Command::new("sh");
    let mut child = command
        .args(["-c", script, "sh"])
        .arg(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", case, "--nocapture", "--test-threads=1"])
        .envs(environment.iter().copied())
        .env(ALONE, case)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let stdout = collect(child.stdout.take().expect("its output"));
    let stderr = collect(child.stderr.take().expect("its errors"));
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("its state") {
            Some(status) => break status,
            None if started.elapsed() > CEILING => {
                child.kill().expect("to end the process");
                panic!("the process of {case} did not end within {CEILING:?}");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let stdout = stdout.join().expect("its output");
    let stderr = stderr.join().expect("its errors");
    assert!(
        status.success() && stdout.contains("1 passed"),
        "{case} failed in a process of its own ({status}):\n{stdout}\n{stderr}"
    );
}

fn collect(mut from: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("the process's output");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
