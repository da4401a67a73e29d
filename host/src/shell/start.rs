//! A command that has begun becomes a running one: its pipes, what is known of it, and the task that stays with it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::beyond::Beyond;
use super::capture::Spill;
use super::command::{Command, CouldNotStart};
use super::drive::{Drive, Facts};
use super::ended::{CommandEnd, Containment, InForce};
use super::plan::Planned;
use super::running::{Running, Shared};
use super::streams::{Master, Streams};
use super::tree::{Lifeline, Tree};
use super::wire::Step;

/// How long it may take until the shell begins. Ordinary is 10 ms.
pub(super) const LONGEST_START: Duration = Duration::from_secs(20);

/// A command that has begun.
pub(super) struct Begun {
    pub(super) tree: Box<dyn Tree>,
    pub(super) lifeline: Arc<dyn Lifeline>,
    pub(super) streams: Streams,
    pub(super) terminal: Option<Master>,
    pub(super) spill: Option<Box<dyn Spill>>,
    /// What the tree is only a client of.
    pub(super) beyond: Option<Box<dyn Beyond>>,
    /// The deadline counts from here.
    pub(super) at: Instant,
    pub(super) facts: Facts,
}

/// Stays with it in a task.
pub(super) fn running(begun: Begun) -> Running {
    let facts = begun.facts;
    let shared = Arc::new(Shared::new());
    let mut lost = facts.ended(CommandEnd::Cancelled);
    let note = "the host stopped before the command's end".to_owned();
    lost.notes.push(note);
    let (containment, sandbox) = (facts.containment, facts.sandbox.clone());
    let drive = Drive {
        shared: Arc::clone(&shared),
        tree: begun.tree,
        streams: begun.streams,
        spill: begun.spill,
        beyond: begun.beyond,
        begun: begun.at,
        facts,
    };
    Running {
        shared,
        lifeline: begun.lifeline,
        task: tokio::spawn(drive.run()),
        containment,
        sandbox,
        lost: Box::new(lost),
        terminal: begun.terminal,
    }
}

/// Pipes and their writing ends; for a terminal, which comes later, none, and nowhere. The output of a service is not read
/// here.
pub(super) fn outputs(
    planned: &Planned,
    separate: bool,
) -> io::Result<(Option<Streams>, OwnedFd, OwnedFd)> {
    if let Some(output) = planned.ends.as_ref().and_then(|ends| ends.output.as_ref()) {
        let (errors, end) = Streams::of_errors()?;
        return Ok((Some(errors), output.try_clone()?, end));
    }
    if planned.plan.terminal.is_some() {
        let nowhere = OwnedFd::from(File::options().write(true).open("/dev/null")?);
        return Ok((None, nowhere.try_clone()?, nowhere));
    }
    let (streams, out, err) = Streams::open(separate)?;
    Ok((Some(streams), out, err))
}

pub(super) fn open(error: &io::Error) -> CouldNotStart {
    let hint = format!("the shell has no pipe or socket to start with: {error}");
    CouldNotStart::system(Step::Control, error, hint)
}

/// What is known of a command as it begins.
pub(super) fn facts(
    command: &Command,
    planned: Planned,
    (containment, sandbox): (Containment, InForce),
    writable: Vec<PathBuf>,
) -> Facts {
    let (timeout, clamped) = command.deadline();
    Facts {
        containment,
        sandbox,
        timeout,
        idle: planned.idle,
        kind: command.kind,
        separate: command.separate,
        cwd: planned.cwd,
        absent: planned.absent,
        writable,
        notes: clamped.into_iter().chain(planned.notes).collect(),
    }
}
