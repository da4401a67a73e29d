//! A tree that the launcher holds: begun by its plan, heard of through its socket, ended through its first process.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::Child;
use tokio::time::{Instant, timeout};

use super::beyond::{self, Beyond};
use super::cause;
use super::cgroup::Cgroup;
use super::command::{Command, CouldNotStart};
use super::control::Control;
use super::ended::{Containment, InForce, Stuck};
use super::launcher::Launcher;
use super::plan::Planned;
use super::running::Running;
use super::start::{self, LONGEST_START, open, outputs};
use super::streams::{Master, Streams, watched};
use super::tree::{Lifeline, Tree};
use super::wire::{Ask, Force, Hold, Report, Step};

/// How long an answer of the launcher's is awaited.
const GRACE: Duration = Duration::from_millis(250);
/// How long a killed tree may take to be gone.
const LONGEST_KILL: Duration = Duration::from_secs(2);
/// The same where a supervisor repeats the kill for up to five seconds.
const LONGEST_SWEEP: Duration = Duration::from_secs(6);
/// How long the half of the launcher that is outside takes to follow.
const LONGEST_BURIAL: Duration = Duration::from_secs(1);

/// Starts a planned command. The deadline counts from here.
pub(super) async fn start(
    launcher: &Launcher,
    command: Command,
    planned: Planned,
    cgroup: Option<Cgroup>,
    writable: Vec<PathBuf>,
) -> Result<Running, CouldNotStart> {
    let start = Start {
        launcher,
        cgroup,
        writable,
        beyond: None,
    };
    start.run(command, planned).await
}

/// Starts a client, and waits until what it starts has begun.
pub(super) async fn start_beyond(
    launcher: &Launcher,
    command: Command,
    planned: Planned,
    writable: Vec<PathBuf>,
    beyond: Box<dyn Beyond>,
) -> Result<Running, CouldNotStart> {
    let start = Start {
        launcher,
        cgroup: None,
        writable,
        beyond: Some(beyond),
    };
    start.run(command, planned).await
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
        let mut at = Instant::now();
        let mut beyond = self.beyond;
        let group = self.cgroup.as_ref();
        planned.plan.cgroup = group.map(|group| group.folder().as_os_str().as_bytes().to_vec());
        let bounds = group.map(|group| (group.processes, group.memory));
        // The second stream of a client is its report.
        let separate = command.separate || beyond.is_some();
        let begun = Launched::begin(
            self.launcher,
            &command.line,
            &mut planned,
            separate,
            self.cgroup,
        );
        let Begun {
            mut tree,
            control,
            force,
            terminal,
            pipes,
        } = begun.await?;
        let terminal = terminal
            .map(master)
            .transpose()
            .map_err(|error| open(&error))?;
        let own = || terminal.clone().map(Streams::of_terminal);
        let mut streams = pipes
            .or_else(own)
            .ok_or_else(|| open(&io::ErrorKind::BrokenPipe.into()))?;
        let in_force = in_force(&planned, force, bounds);
        let mut facts = start::facts(&command, planned, in_force, self.writable);
        if let Some(beyond) = &mut beyond {
            let heard = beyond::begun(beyond.as_mut(), (&mut tree, &control), &mut streams);
            facts.sandbox = heard.await?;
            facts.containment = Containment::Container;
            // What an engine takes to start is not the command's time.
            at = Instant::now();
        }
        Ok(start::running(start::Begun {
            tree: Box::new(tree),
            lifeline: Arc::new(control),
            streams,
            terminal,
            spill: command.spill.take(),
            beyond,
            at,
            facts,
        }))
    }
}

/// What holds the tree, and what its sandbox came to. `bounds`: processes and memory of its control group.
fn in_force(
    planned: &Planned,
    mut force: Force,
    bounds: Option<(Option<u64>, Option<u64>)>,
) -> (Containment, InForce) {
    let plan = &planned.plan;
    let (processes, memory) = bounds.unwrap_or_default();
    if force.processes == 0 {
        force.processes = processes.unwrap_or_default();
    }
    let containment = match plan.hold {
        Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => Containment::PidNamespace,
        Hold::Subreaper if bounds.is_some() => Containment::Cgroup,
        Hold::Subreaper => Containment::Subreaper,
    };
    let sandbox = InForce::new(plan.layers, plan.network, force, memory);
    (containment, sandbox)
}

/// See the module.
#[derive(Debug)]
pub(super) struct Launched {
    control: Control,
    launcher: Child,
    first: AsyncFd<OwnedFd>,
    hold: Hold,
    cgroup: Option<Cgroup>,
}

/// What has begun with it.
struct Begun {
    tree: Launched,
    control: Control,
    force: Force,
    terminal: Option<OwnedFd>,
    /// None: there is a terminal instead.
    pipes: Option<Streams>,
}

impl Launched {
    /// Starts what is planned, and hears until its shell begins. Where it does not, its first process is ended.
    async fn begin(
        launcher: &Launcher,
        line: &str,
        planned: &mut Planned,
        separate: bool,
        cgroup: Option<Cgroup>,
    ) -> Result<Begun, CouldNotStart> {
        let hold = planned.plan.hold;
        let has_terminal = planned.plan.terminal.is_some();
        let (control, socket) = Control::pair().map_err(|error| open(&error))?;
        let (pipes, out, err) = outputs(planned, separate).map_err(|error| open(&error))?;
        let child = launcher.start(&socket, &out, &err).map_err(|error| {
            let hint = format!("the shell's launcher cannot be started: {error}");
            CouldNotStart::system(Step::Launcher, &error, hint)
        })?;
        drop((socket, out, err));
        let script = planned.script.then_some(line);
        let input = planned.ends.as_ref().map(|ends| &ends.input);
        control
            .run(&planned.plan.encode(), script, input)
            .map_err(|error| open(&error))?;
        // From here on only the other side holds it.
        planned.ends = None;
        let Said {
            first,
            force,
            terminal,
        } = begin(&control, hold, has_terminal).await?;
        let tree = Self {
            control: control.clone(),
            launcher: child,
            first: watched(first).map_err(|error| open(&error))?,
            hold,
            cgroup,
        };
        Ok(Begun {
            tree,
            control,
            force,
            terminal,
            pipes,
        })
    }

    /// Waits until the first process is gone, which the kernel tells only when all of its namespace are.
    async fn gone(&mut self, longest: Duration) -> Option<Stuck> {
        match timeout(longest, self.first.ready(Interest::READABLE)).await {
            Ok(Ok(_)) => None,
            Ok(Err(_)) | Err(_) => Some(stuck(process_of(self.first.get_ref()))),
        }
    }

    /// Has the supervisor end its children.
    async fn swept(&mut self) -> Option<Stuck> {
        self.control.ask(Ask::Sweep);
        let swept = timeout(LONGEST_SWEEP, async {
            loop {
                match self.control.next().await {
                    Ok(Some((Report::Swept { left, pid }, _))) => return Some((left, pid)),
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return None,
                }
            }
        });
        match swept.await {
            Ok(Some((0, _))) => self.gone(LONGEST_KILL).await,
            Ok(Some((_, pid))) => Some(stuck(Some(pid))),
            // The supervisor is gone, and nobody knows what it left.
            Ok(None) | Err(_) => Some(stuck(None)),
        }
    }
}

#[async_trait]
impl Tree for Launched {
    async fn ended(&mut self) -> Option<(i32, u32)> {
        loop {
            match self.control.next().await {
                Ok(Some((Report::Leader { status, others }, _))) => return Some((status, others)),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    async fn count(&mut self) -> Option<u32> {
        self.control.ask(Ask::Count);
        let counted = timeout(GRACE, async {
            loop {
                match self.control.next().await {
                    Ok(Some((Report::Alive(count), _))) => return Some(count),
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return None,
                }
            }
        });
        counted.await.unwrap_or(None)
    }

    async fn end(&mut self) -> Option<Stuck> {
        match self.hold {
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => {
                let killed = pidfd_send_signal(self.first.get_ref(), Signal::KILL);
                tracing::trace!(?killed, "the first process of a command");
                self.gone(LONGEST_KILL).await
            }
            Hold::Subreaper => match &self.cgroup {
                Some(group) => killed(group).await,
                None => self.swept().await,
            },
        }
    }

    async fn bury(&mut self) {
        let buried = timeout(LONGEST_BURIAL, self.launcher.wait()).await;
        tracing::trace!(?buried, "a launcher");
    }
}

impl Lifeline for Control {
    fn cut(&self) {
        Self::cut(self);
    }
}

/// Kills a control group and waits until it is empty.
async fn killed(group: &Cgroup) -> Option<Stuck> {
    if let Err(error) = group.kill() {
        tracing::warn!("{} cannot be killed: {error}", group.folder().display());
    }
    let empty = group.is_empty_within(LONGEST_KILL).await;
    (!empty).then(|| stuck(group.process()))
}

fn process_of(first: &OwnedFd) -> Option<u32> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", first.as_raw_fd())).ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    line.trim().parse().ok()
}

fn stuck(pid: Option<u32>) -> Stuck {
    let waits = pid.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/wchan")).ok());
    Stuck {
        pid,
        waits: waits.filter(|place| !place.is_empty() && place != "0"),
    }
}

fn master(terminal: OwnedFd) -> io::Result<Master> {
    rustix::io::ioctl_fionbio(&terminal, true)?;
    Ok(Arc::new(watched(terminal)?))
}

/// What was said of a shell that has begun.
struct Said {
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
async fn begin(control: &Control, hold: Hold, has_terminal: bool) -> Result<Said, CouldNotStart> {
    let mut said = Heard::default();
    let heard = timeout(LONGEST_START, hear(control, has_terminal, &mut said)).await;
    let trouble = match heard {
        Ok(Ok(())) => broken("sent no process"),
        Ok(Err(error)) => error,
        Err(_) => broken("did not begin in time"),
    };
    match (said.first, said.force) {
        (Some(first), Some(force)) if said.terminal.is_some() == has_terminal => Ok(Said {
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
