//! Exit codes, in one place.

use std::process::ExitCode;

use toolgate::model::Ending;

use super::signals::Signal;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: the tool said no, or crashed; or a case of a policy test failed.
    ToolFailure,
    /// 2: the command line or the configuration is wrong.
    Usage,
    /// 3: a gate refused; the tool did not run.
    Denied,
    /// 4: a bound ended the call.
    Bounded,
    /// 5: the host failed, or what it prints could not be written.
    HostError,
    /// 128 and the signal's number: somebody ended it.
    Ended(Signal),
}

impl From<&Ending> for Exit {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Done(_) => Self::Done,
            Ending::Failed(_) | Ending::Trapped(_) => Self::ToolFailure,
            Ending::Denied(_) => Self::Denied,
            Ending::Stopped(_) => Self::Bounded,
            Ending::HostError(_) => Self::HostError,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::ToolFailure => 1,
            Exit::Usage => 2,
            Exit::Denied => 3,
            Exit::Bounded => 4,
            Exit::HostError => 5,
            Exit::Ended(signal) => signal.exit_code(),
        })
    }
}
