//! Compiling on a thread of this process. A thread cannot be ended from outside: one that is over its time is left to
//! itself, and where two such are still at work nothing more is begun.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

use crate::runtime::ComponentError;

/// Threads that were given up and still work.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);
/// The most of them.
const MAX_GIVEN_UP: usize = 2;

const WORKING: u8 = 0;
const LEFT: u8 = 1;
const ENDED: u8 = 2;

/// Says when the thread ends, also by a panic.
struct AtEnd(Arc<AtomicU8>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if self.0.swap(ENDED, Ordering::SeqCst) == LEFT {
            GIVEN_UP.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Compiles within a time.
pub(super) fn compile(
    engine: &Engine,
    binary: Vec<u8>,
    limit: Duration,
) -> Result<Vec<u8>, ComponentError> {
    if GIVEN_UP.load(Ordering::SeqCst) >= MAX_GIVEN_UP {
        return Err(ComponentError::CompileBound(format!(
            "{MAX_GIVEN_UP} components that took too long are still at it: try again later, or in a new process"
        )));
    }
    let state = Arc::new(AtomicU8::new(WORKING));
    let (say, hear) = mpsc::sync_channel(1);
    let (engine, at_end) = (engine.clone(), AtEnd(Arc::clone(&state)));
    let thread = thread::Builder::new().name("toolgate-compile".to_owned());
    let started = thread.spawn(move || {
        let compiled = engine.precompile_component(&binary);
        let heard = say.send(compiled.map_err(|error| format!("{error:#}")));
        tracing::trace!(?heard, "compiled");
        drop(at_end);
    });
    started.map_err(|error| ComponentError::CompileBound(format!("no thread for it: {error}")))?;
    let said = match hear.recv_timeout(limit) {
        Err(mpsc::RecvTimeoutError::Timeout) => {
            // Counted first: the thread takes it back as soon as it sees that it was left.
            GIVEN_UP.fetch_add(1, Ordering::SeqCst);
            let given_up =
                state.compare_exchange(WORKING, LEFT, Ordering::SeqCst, Ordering::SeqCst);
            if given_up.is_ok() {
                return Err(took_too_long(limit));
            }
            GIVEN_UP.fetch_sub(1, Ordering::SeqCst);
            hear.try_recv().map_err(|_gone| took_too_long(limit))?
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let what = "the compiler failed on it".to_owned();
            return Err(ComponentError::Invalid(what));
        }
        Ok(said) => said,
    };
    said.map_err(ComponentError::Invalid)
}

pub(super) fn took_too_long(limit: Duration) -> ComponentError {
    ComponentError::CompileBound(format!("it took more than {} s", limit.as_secs_f32()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_takes_too_long_is_given_up_and_ends_by_itself() {
        let engine = Engine::default();
        let body = "i32.const 1 drop ".repeat(60_000);
        let one = format!("(func {body})").repeat(8);
        let binary = wat::parse_str(format!("(component (core module {one}))")).unwrap();
        let limit = Duration::from_millis(1);
        for _ in 0..MAX_GIVEN_UP {
            let said = compile(&engine, binary.clone(), limit).unwrap_err();
            assert_eq!(
                said,
                ComponentError::CompileBound("it took more than 0.001 s".to_owned())
            );
        }
        let tiny = wat::parse_str("(component)").unwrap();
        let begun = Instant::now();
        let mut refused = 0;
        while compile(&engine, tiny.clone(), Duration::from_secs(60)).is_err() {
            refused += 1;
            assert!(begun.elapsed() < Duration::from_secs(120), "never again");
            thread::sleep(Duration::from_millis(20));
        }
        assert!(refused > 0, "nothing was refused");
        assert!(GIVEN_UP.load(Ordering::SeqCst) < MAX_GIVEN_UP);
    }
}
