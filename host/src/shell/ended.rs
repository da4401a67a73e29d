//! How a command ended, and what was in force while it ran.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::wire::{Enforced, Force, Layers};

/// The one end of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CommandEnd {
    /// The shell ended by itself. A code is a value: not 0 is no failure of the call.
    Exit {
        /// 0 to 255.
        code: i32,
    },
    /// A signal ended the shell.
    Signal {
        /// Such as `KILL`, or the number where it has no name.
        name: String,
    },
    /// The deadline ended it.
    TimedOut {
        /// The deadline.
        after: Duration,
    },
    /// Whoever started it gave up.
    Cancelled,
    /// Nobody used the terminal for too long.
    Idle {
        /// The limit.
        after: Duration,
    },
    /// It printed more than 1 GiB.
    OutputLimit {
        /// The limit, bytes.
        limit: u64,
    },
}

/// What holds the tree together, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// Best effort, no guarantee: where the system offers nothing better.
    ProcessGroup,
    /// A supervisor that kills until no child is left: sound where it reports success.
    Subreaper,
    /// A container: its engine says that it is gone.
    Container,
    /// A control group, killed as one.
    Cgroup,
    /// A PID namespace, ended by the kernel with its first process.
    PidNamespace,
}

impl Containment {
    /// As it stands in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcessGroup => "process_group",
            Self::Subreaper => "subreaper",
            Self::Container => "container",
            Self::Cgroup => "cgroup",
            Self::PidNamespace => "pid_namespace",
        }
    }
}

/// How far Landlock went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Landlock {
    /// The kernel's version; 0 without it.
    pub abi: u32,
    /// Whether all that was asked for is enforced.
    pub enforced: Enforced,
}

/// The sandbox as it was, not as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// What keeps files and system calls.
    pub layers: Layers,
    /// Whether the host's network was shared.
    pub network: bool,
    /// The second layer.
    pub landlock: Landlock,
    /// Whether system calls were filtered.
    pub seccomp: bool,
    /// The most processes.
    pub processes: Option<u64>,
    /// The most memory, bytes.
    pub memory: Option<u64>,
    /// What an operator should know is missing.
    pub gaps: Vec<String>,
}

impl InForce {
    pub(super) fn new(layers: Layers, network: bool, force: Force, memory: Option<u64>) -> Self {
        let mut gaps = Vec::new();
        match layers {
            Layers::All => {}
            Layers::Landlock => gaps.push(
                "no read-only mounts: reading is not limited, and modes and times of files can be changed anywhere"
                    .to_owned(),
            ),
            Layers::Off => gaps.push("no sandbox".to_owned()),
        }
        if layers != Layers::Off && force.landlock != Enforced::Fully {
            gaps.push(format!(
                "Landlock ABI {} is {}: {}",
                force.landlock_abi,
                force.landlock.as_str(),
                match layers {
                    Layers::All => "the read-only mounts are in force",
                    Layers::Landlock | Layers::Off => "writing is not fully limited",
                }
            ));
        }
        if force.shared_proc {
            gaps.push("the host's /proc is seen".to_owned());
        }
        if force.processes == 0 {
            gaps.push("processes: unlimited".to_owned());
        }
        if memory.is_none() {
            gaps.push("memory: unlimited, there is no writable control group".to_owned());
        }
        Self {
            layers,
            network,
            landlock: Landlock {
                abi: force.landlock_abi,
                enforced: force.landlock,
            },
            seccomp: force.seccomp,
            processes: (force.processes != 0).then_some(force.processes),
            memory,
            gaps,
        }
    }
}

/// One stream, whole or cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// As a model reads it: no control sequences, at most 30,000 characters of head and tail with a line between them.
    pub text: String,
    /// How long it was, bytes.
    pub bytes: u64,
    /// Whether something is missing in `text`.
    pub truncated: bool,
    /// Bytes that were part of no character.
    pub invalid: u64,
    /// It is no text.
    pub binary: bool,
}

/// A process that did not end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stuck {
    /// Its id on the host, where it is known.
    pub pid: Option<u32>,
    /// Where in the kernel it waits, where that is told.
    pub waits: Option<String>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// The one end.
    #[serde(flatten)]
    pub outcome: CommandEnd,
    /// stdout, with stderr in it where they are not kept apart.
    pub output: Captured,
    /// stderr where it is kept apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Captured>,
    /// Where all of it is, up to 64 MiB.
    pub spill: Option<PathBuf>,
    /// How many processes were still running when the shell had ended, and were stopped.
    pub background_killed: u32,
    /// What held the tree together.
    pub containment: Containment,
    /// What was in force.
    pub sandbox: InForce,
    /// For the model.
    pub notes: Vec<String>,
    /// A process of the tree may still run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kill_incomplete: Option<Stuck>,
    /// From before the start to the end of the tree.
    pub duration: Duration,
    /// Where it began.
    pub cwd: PathBuf,
}

impl Ended {
    /// Whether the call failed: it did not end by itself. An exit code is no failure.
    pub fn failed(&self) -> bool {
        !matches!(self.outcome, CommandEnd::Exit { .. })
    }

    /// The result's last line; none on success.
    pub fn marker(&self) -> Option<String> {
        match &self.outcome {
            CommandEnd::Exit { code: 0 } => None,
            CommandEnd::Exit { code } => Some(format!("[exit code: {code}]")),
            CommandEnd::Signal { name } => Some(format!("[killed by signal: {name}]")),
            CommandEnd::TimedOut { after } => {
                Some(format!("[timed out after {}ms]", after.as_millis()))
            }
            CommandEnd::Cancelled => Some("[cancelled]".to_owned()),
            CommandEnd::Idle { after } => Some(format!(
                "[closed after {}ms without use]",
                after.as_millis()
            )),
            CommandEnd::OutputLimit { limit } => {
                Some(format!("[stopped after {limit} bytes of output]"))
            }
        }
    }

    /// What the model reads: the output, the notes, and the marker on its own last line.
    pub fn text(&self) -> String {
        let mut text = self.output.text.clone();
        let mut line = |line: &str| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
        };
        if let Some(errors) = self.errors.as_ref().filter(|errors| errors.bytes > 0) {
            line("[stderr]\n");
            line(&errors.text);
        }
        for note in &self.notes {
            line(&format!("[note: {note}]\n"));
        }
        if let Some(marker) = self.marker() {
            line(&marker);
        }
        text
    }
}

impl Enforced {
    /// As it stands in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Not => "not enforced",
            Self::Partly => "partly enforced",
            Self::Fully => "enforced",
        }
    }
}

impl Serialize for Enforced {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Layers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::All => "all",
            Self::Landlock => "landlock",
            Self::Off => "off",
        })
    }
}

/// The name of a signal, without its `SIG`.
pub(super) struct SignalName(pub(super) i32);

/// The names of the first signals; the numbers are those of most of Linux's architectures.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

impl fmt::Display for SignalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = usize::try_from(self.0).unwrap_or_default().wrapping_sub(1);
        match SIGNALS.get(index) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl CommandEnd {
    /// From what `waitpid` gave.
    pub(super) fn of_status(status: i32) -> Self {
        let signal = status & 0x7f;
        if signal == 0 {
            Self::Exit {
                code: (status >> 8) & 0xff,
            }
        } else {
            Self::Signal {
                name: SignalName(signal).to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_and_a_signal_are_not_the_same() {
        let exit = |code| CommandEnd::Exit { code };
        assert_eq!(CommandEnd::of_status(0), exit(0));
        assert_eq!(CommandEnd::of_status(137 << 8), exit(137));
        for (number, name) in [
            (9, "KILL"),
            (11, "SEGV"),
            (15, "TERM"),
            (31, "SYS"),
            (40, "40"),
        ] {
            let name = name.to_owned();
            assert_eq!(CommandEnd::of_status(number), CommandEnd::Signal { name });
        }
        // With a core file.
        let name = "SEGV".to_owned();
        assert_eq!(
            CommandEnd::of_status(0x80 | 11),
            CommandEnd::Signal { name }
        );
    }
}
