//! The interface `toolgate:tool/host`: log, progress, cancellation.

use std::time::Instant;

use super::bindings::toolgate::tool::host::{Host, Level};
use super::bindings::toolgate::tool::types;
use super::state::State;

/// The most progress messages of a call that are passed on.
const MAX_PROGRESS: u32 = 10_000;
/// The longest progress message, characters.
const MAX_MESSAGE: usize = 400;

impl types::Host for State {}

impl Host for State {
    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        let word = match level {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        self.log.line(&format!("{word}: {message}"));
        Ok(())
    }

    fn progress(&mut self, done: u32, total: Option<u32>, message: String) -> wasmtime::Result<()> {
        if let Some(sink) = &self.progress
            && self.progress_told < MAX_PROGRESS
        {
            self.progress_told += 1;
            let message: String = message.chars().take(MAX_MESSAGE).collect();
            sink(done, total, &message);
        }
        Ok(())
    }

    fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(Instant::now() >= self.deadline)
    }

    fn deadline_ms(&mut self) -> wasmtime::Result<u32> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Ok(u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
    }
}
