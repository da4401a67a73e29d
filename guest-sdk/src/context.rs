//! What a running call may ask of its host beside WASI and files. Nothing here reaches out of the host.

use crate::bindings::toolgate::tool::host;

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// For whoever looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// Not as it should be, and the call goes on.
    Warn,
    /// The call fails for it.
    Error,
}

/// One call's line to the host.
#[derive(Debug)]
pub struct Context {
    hosted: bool,
}

impl Context {
    pub(crate) const fn hosted() -> Self {
        Self { hosted: true }
    }

    /// A context without a host, for unit tests: logging and progress go nowhere, nothing is cancelled, and the
    /// deadline is as far off as can be.
    #[must_use]
    pub const fn unhosted() -> Self {
        Self { hosted: false }
    }

    /// One line for the host's diagnostics; the model does not see it. At most 1,000 lines of 4 KiB a call: what is
    /// over is counted, not kept.
    pub fn log(&self, level: Level, message: impl AsRef<str>) {
        if self.hosted {
            let level = match level {
                Level::Trace => host::Level::Trace,
                Level::Debug => host::Level::Debug,
                Level::Info => host::Level::Info,
                Level::Warn => host::Level::Warn,
                Level::Error => host::Level::Error,
            };
            host::log(level, message.as_ref());
        }
    }

    /// [`log`](Self::log) at [`Level::Trace`].
    pub fn trace(&self, message: impl AsRef<str>) {
        self.log(Level::Trace, message);
    }

    /// [`log`](Self::log) at [`Level::Debug`].
    pub fn debug(&self, message: impl AsRef<str>) {
        self.log(Level::Debug, message);
    }

    /// [`log`](Self::log) at [`Level::Info`].
    pub fn info(&self, message: impl AsRef<str>) {
        self.log(Level::Info, message);
    }

    /// [`log`](Self::log) at [`Level::Warn`].
    pub fn warn(&self, message: impl AsRef<str>) {
        self.log(Level::Warn, message);
    }

    /// [`log`](Self::log) at [`Level::Error`].
    pub fn error(&self, message: impl AsRef<str>) {
        self.log(Level::Error, message);
    }

    /// How far the call is: `done` of `total` steps, `None` where the total is not known. The host passes on what its
    /// client can show.
    pub fn progress(&self, done: u32, total: Option<u32>, message: impl AsRef<str>) {
        if self.hosted {
            host::progress(done, total, message.as_ref());
        }
    }

    /// Whether the caller has given up. A tool that polls it can stop in good order with
    /// [`ToolError::Cancelled`](crate::ToolError::Cancelled); one that does not is ended.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.hosted && host::cancelled()
    }

    /// Milliseconds left until the wall-clock deadline ends the call.
    #[must_use]
    pub fn deadline_ms(&self) -> u32 {
        if self.hosted {
            host::deadline_ms()
        } else {
            u32::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unhosted_context_asks_no_host() {
        let context = Context::unhosted();
        context.warn("goes nowhere");
        context.progress(1, None, "goes nowhere");
        assert!(!context.cancelled());
        assert_eq!(context.deadline_ms(), u32::MAX);
    }
}
