//! Starting a command: pipes, the launcher, the plan, and hearing that the shell begins.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};
use tokio::process::Child;
use tokio::time::{Instant, timeout};

use super::beyond::{self, Beyond};
use super::cause;
use super::cgroup::Cgroup;
use super::command::{Command, CouldNotStart};
use super::control::{Control, watched};
use super::drive::{Drive, Facts};
use super::ended::{CommandEnd, Containment, InForce};
use super::launcher::Launcher;
use super::plan::Planned;
use super::running::{Running, Shared};
use super::streams::{Master, Streams};
use super::wire::{Force, Hold, Report, Step};

/// How long the launcher may take until the shell begins. Ordinary is 10 ms.
pub(super) const LONGEST_START: Duration = Duration::from_secs(20);

/// Starts a planned command. The deadline counts from here.
pub(super) async fn start(
    launcher: &Launcher,
    command: Command,
    planned: Planned,
    cgroup: Option<Cgroup>,
    writable: Vec<PathBuf>,
) -> Result<Running, CouldNotStart> {
    Start {
        launcher,
        cgroup,
        writable,
        beyond: None,
    }
    .run(command, planned)
    .await
}

/// Starts a client, and waits until what it starts has begun.
pub(super) async fn start_beyond(
    launcher: &Launcher,
    command: Command,
    planned: Planned,
    writable: Vec<PathBuf>,
    beyond: Box<dyn Beyond>,
) -> Result<Running, CouldNotStart> {
    Start {
        launcher,
        cgroup: None,
        writable,
        beyond: Some(beyond),
    }
    .run(command, planned)
    .await
}

/// What a start needs beside the command.
struct Start<'a> {
    launcher: &'a Launcher,
    cgroup: Option<Cgroup>,
    writable: Vec<PathBuf>,
    /// What the launcher starts only a client of.
    beyond: Option<Box<dyn Beyond>>,
}

impl Start<'_> {
    async fn run(
        self,
        mut command: Command,
        mut planned: Planned,
    ) -> Result<Running, CouldNotStart> {
        let mut begun = Instant::now();
        let mut beyond = self.beyond;
        let group = self.cgroup.as_ref();
        planned.plan.cgroup = group.map(|group| group.folder().as_os_str().as_bytes().to_vec());
        let has_terminal = planned.plan.terminal.is_some();
        // The second stream of a client is its report.
        let separate = command.separate || beyond.is_some();
        let Launched {
            control,
            child,
            pipes,
        } = launched(self.launcher, &command, &planned, separate)?;
        // From here on only the other side holds it.
        planned.ends = None;
        let Begun {
            first,
            force,
            terminal,
        } = begin(&control, planned.plan.hold, has_terminal).await?;
        let terminal = terminal
            .map(master)
            .transpose()
            .map_err(|error| open(&error))?;
        let own = || terminal.clone().map(Streams::of_terminal);
        let mut streams = pipes
            .or_else(own)
            .ok_or_else(|| open(&io::ErrorKind::BrokenPipe.into()))?;
        let mut facts = facts(&command, planned, group, force, self.writable);
        if let Some(beyond) = &mut beyond {
            facts.sandbox = beyond::begun(beyond.as_mut(), &control, &mut streams).await?;
            facts.containment = Containment::Container;
            // What an engine takes to start is not the command's time.
            begun = Instant::now();
        }
        let shared = Arc::new(Shared::new());
        let mut lost = facts.ended(CommandEnd::Cancelled);
        let note = "the host stopped before the command's end".to_owned();
        lost.notes.push(note);
        let (containment, sandbox) = (facts.containment, facts.sandbox.clone());
        let drive = Drive {
            shared: Arc::clone(&shared),
            control: control.clone(),
            launcher: child,
            first: watched(first).map_err(|error| open(&error))?,
            streams,
            spill: command.spill.take(),
            cgroup: self.cgroup,
            beyond,
            begun,
            facts,
        };
        Ok(Running {
            shared,
            control,
            task: tokio::spawn(drive.run()),
            containment,
            sandbox,
            lost: Box::new(lost),
            terminal,
        })
    }
}

/// A launcher that has its plan.
struct Launched {
    control: Control,
    child: Child,
    /// None: there is a terminal instead.
    pipes: Option<Streams>,
}

fn launched(
    launcher: &Launcher,
    command: &Command,
    planned: &Planned,
    separate: bool,
) -> Result<Launched, CouldNotStart> {
    let (control, socket) = Control::pair().map_err(|error| open(&error))?;
    let (pipes, out, err) = outputs(planned, separate).map_err(|error| open(&error))?;
    let child = launcher.start(&socket, &out, &err).map_err(|error| {
        let hint = format!("the shell's launcher cannot be started: {error}");
        CouldNotStart::system(Step::Launcher, &error, hint)
    })?;
    let script = planned.script.then_some(command.line.as_str());
    let input = planned.ends.as_ref().map(|ends| &ends.input);
    control
        .run(&planned.plan.encode(), script, input)
        .map_err(|error| open(&error))?;
    Ok(Launched {
        control,
        child,
        pipes,
    })
}

/// Pipes and their writing ends; for a terminal, which comes later, none, and nowhere. The output of a service is not read
/// here.
fn outputs(planned: &Planned, separate: bool) -> io::Result<(Option<Streams>, OwnedFd, OwnedFd)> {
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

fn master(terminal: OwnedFd) -> io::Result<Master> {
    rustix::io::ioctl_fionbio(&terminal, true)?;
    Ok(Arc::new(watched(terminal)?))
}

fn open(error: &io::Error) -> CouldNotStart {
    let hint = format!("the shell has no pipe or socket to start with: {error}");
    CouldNotStart::system(Step::Control, error, hint)
}

fn facts(
    command: &Command,
    planned: Planned,
    group: Option<&Cgroup>,
    mut force: Force,
    writable: Vec<PathBuf>,
) -> Facts {
    let (timeout, clamped) = command.deadline();
    let plan = planned.plan;
    if force.processes == 0 {
        force.processes = group.and_then(|group| group.processes).unwrap_or_default();
    }
    let memory = group.and_then(|group| group.memory);
    Facts {
        hold: plan.hold,
        containment: match plan.hold {
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => {
                Containment::PidNamespace
            }
            Hold::Subreaper if group.is_some() => Containment::Cgroup,
            Hold::Subreaper => Containment::Subreaper,
        },
        sandbox: InForce::new(plan.layers, plan.network, force, memory),
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

/// A shell that has begun.
struct Begun {
    first: OwnedFd,
    force: Force,
    terminal: Option<OwnedFd>,
}

/// What the launcher has said so far.
#[derive(Default)]
struct Heard {
    first: Option<OwnedFd>,
    force: Option<Force>,
    terminal: Option<OwnedFd>,
}

/// Hears the launcher until the shell begins. Where it does not, the first process is ended, which may hang at this point.
async fn begin(control: &Control, hold: Hold, has_terminal: bool) -> Result<Begun, CouldNotStart> {
    let mut said = Heard::default();
    let heard = timeout(LONGEST_START, hear(control, has_terminal, &mut said)).await;
    let trouble = match heard {
        Ok(Ok(())) => broken("sent no process"),
        Ok(Err(error)) => error,
        Err(_) => broken("did not begin in time"),
    };
    match (said.first, said.force) {
        (Some(first), Some(force)) if said.terminal.is_some() == has_terminal => Ok(Begun {
            first,
            force,
            terminal: said.terminal,
        }),
        (Some(first), _) if hold != Hold::Subreaper => {
            let killed = pidfd_send_signal(&first, Signal::KILL);
            tracing::debug!(?killed, "a command that did not begin");
            Err(trouble)
        }
        (_, _) => Err(trouble),
    }
}

async fn hear(
    control: &Control,
    has_terminal: bool,
    said: &mut Heard,
) -> Result<(), CouldNotStart> {
    while said.first.is_none() || said.force.is_none() || said.terminal.is_some() != has_terminal {
        match control.next().await {
            Ok(Some((Report::First, descriptor))) => said.first = descriptor,
            Ok(Some((Report::Terminal, descriptor))) => said.terminal = descriptor,
            Ok(Some((Report::Started(started), _))) => said.force = Some(started),
            Ok(Some((
                Report::Failed {
                    step,
                    errno,
                    detail,
                },
                _,
            ))) => return Err(cause::of_step(step, errno, &detail)),
            Ok(Some(_)) => {}
            Ok(None) => return Err(broken("ended without a word")),
            Err(error) => return Err(broken(&format!("cannot be heard: {error}"))),
        }
    }
    Ok(())
}

fn broken(what: &str) -> CouldNotStart {
    let hint = format!("the shell's launcher {what}; nothing was run");
    CouldNotStart::new(Step::Control, hint)
}
