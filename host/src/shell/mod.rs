//! The native bridge: runs a shell command with its whole process tree in hand.
//!
//! Owns how a command is started, contained, read and ended. Guarantees that a call ends when its shell ends, at its
//! deadline or when it is given up, never when a pipe happens to close; that whatever was printed until then is kept; and
//! that with a PID namespace or a control group no process of the tree acts after [`Running::wait`] has returned. Work that
//! is handed to others (a service manager, a container engine, another machine) is not part of the tree: only the sandbox
//! keeps a command away from it. Never contains a policy decision: which command may run and which paths it may touch is
//! settled before and arrives as [`Sandbox`].
//!
//! | file | owns |
//! |---|---|
//! | `command` | what is asked for: [`Command`], [`Sandbox`], [`CouldNotStart`] |
//! | `settings` | what the operator set: [`Settings`] |
//! | `local`, `bubblewrap` | [`LocalShell`], `BubblewrapShell`: who makes the sandbox on this machine |
//! | `machine`, `launched`, `start` | which containment this machine gives, and starting in it |
//! | `group` | process groups, where there is nothing better |
//! | `tree` | what holds the processes of a command, whatever that is |
//! | `container` | `ContainerShell`: commands in containers, by an engine's client |
//! | `program` | where bubblewrap or a container engine's client is |
//! | `launcher` | the embedded program that sets everything up |
//! | `control`, `wire` | the talk with it |
//! | `drive`, `streams`, `running` | a command while it runs |
//! | `beyond` | what runs beyond a client that is held here |
//! | `service` | a program that talks through its input and output: [`Program`], [`Service`] |
//! | `pty`, `sessions` | a command on a terminal, and the terminals of a host |
//! | `capture`, `text` | its output, bounded, and as a model reads it |
//! | `ended` | how it ended |
//! | `tasks` | [`Tasks`]: commands that nobody waits for |
//! | `watched` | [`WatchedShell`]: ends all commands of a host |
//! | `cgroup` | a control group of a command |
//! | `cause` | why a sandbox cannot be had, and what to do |
#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "what the launcher's shells share with the one of process groups"
    )
)]

mod beyond;
#[cfg(target_os = "linux")]
mod bubblewrap;
mod capture;
#[cfg(target_os = "linux")]
mod cause;
#[cfg(target_os = "linux")]
mod cgroup;
mod command;
#[cfg(target_os = "linux")]
mod container;
#[cfg(target_os = "linux")]
mod control;
mod drive;
mod ended;
mod environment;
mod group;
#[cfg(target_os = "linux")]
mod launched;
#[cfg(target_os = "linux")]
mod launcher;
mod local;
#[cfg(target_os = "linux")]
mod machine;
mod plan;
mod probe;
mod program;
mod pty;
mod running;
mod service;
mod sessions;
mod settings;
mod start;
mod streams;
mod tasks;
mod text;
mod tree;
mod watched;
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "shared with the launcher, which decodes what is encoded here"
    )
)]
#[allow(unreachable_pub, reason = "half of it is part of the public interface")]
mod wire;

#[cfg(target_os = "linux")]
pub use bubblewrap::BubblewrapShell;
pub use capture::{Piece, Spill, SpillFile, Stream};
pub use command::{Command, CouldNotStart, Kind, Network, Sandbox};
#[cfg(target_os = "linux")]
pub use container::{Container, ContainerShell, Engine};
pub use ended::{Captured, CommandEnd, Containment, Ended, InForce, Landlock, Stuck};
pub use local::LocalShell;
pub use probe::Probe;
pub use pty::{LONGEST_LINE, LONGEST_WAIT, Reading, Session, Terminal, TerminalError, Written};
pub use running::{Killer, Output, Running};
pub use service::{Program, Service};
pub use sessions::{Listed, NoSession, Sessions};
pub use settings::{RunAs, Settings, SettingsError};
pub use tasks::{NoTask, Page, StartFailure, Started, Task, Tasks};
pub use watched::WatchedShell;
pub use wire::{Enforced, Layers, Step};

use async_trait::async_trait;

/// Where commands run.
#[async_trait]
pub trait Shell: Send + Sync + std::fmt::Debug {
    /// Starts a command. It runs until its shell ends, its deadline passes, or the [`Running`] is killed or dropped.
    ///
    /// # Errors
    /// Nothing was executed: the command is no command, the shell or the working directory is missing, or the sandbox
    /// cannot be had here.
    async fn start(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart>;

    /// Starts a command on a terminal of its own. It runs until it ends, a deadline passes, nobody uses it for too long, or the
    /// [`Terminal`] is closed or dropped.
    ///
    /// # Errors
    /// Nothing was executed: as for [`Shell::start`], or this shell has no terminals.
    async fn open(&self, _session: Session, _sandbox: &Sandbox) -> Result<Terminal, CouldNotStart> {
        Err(no_terminals())
    }

    /// Whether [`Shell::open`] can succeed. Where it cannot, tools over terminals are not offered.
    fn has_terminals(&self) -> bool;

    /// What this machine gives, found out by doing it. Cached by the implementation.
    async fn probe(&self) -> Probe;
}

fn no_terminals() -> CouldNotStart {
    let hint = "this shell has no terminals: run the command without one";
    CouldNotStart::new(Step::Terminal, hint)
}
