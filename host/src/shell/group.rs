//! Commands held by a process group: for systems that offer nothing better. Best effort, and every result says so.
//!
//! Each command has a group of its own, and a mark in its environment that its children inherit. Its end kills the group, and
//! looks for whatever left it, by descent and by the mark, until nothing is found. What changes both its parent and its
//! environment is not found, and what a host that is killed was running lives on: there is no guarantee. There is no sandbox
//! either, so that nothing runs here unless the operator wrote that there is none.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};
use tokio::process::{Child, Command as Process};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use async_trait::async_trait;

use super::command::{Command, CouldNotStart, Sandbox};
use super::ended::{Containment, InForce, Landlock, Stuck};
use super::plan::{self, Planned};
use super::probe::Probe;
use super::running::Running;
use super::service::{self, Program, Service};
use super::settings::{Settings, SettingsError};
use super::start::{self, Begun, LONGEST_START, open, outputs};
use super::tree::{Lifeline, Tree};
use super::wire::{Enforced, Hold, Layers, Step};

/// The mark of a command's processes.
const MARK: &str = "TOOLGATE_CALL";
/// How long what is killed may take to be gone.
const LONGEST_END: Duration = Duration::from_secs(3);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Starts commands in groups of their own.
#[derive(Debug)]
pub(super) struct Groups {
    settings: Settings,
}

impl Groups {
    /// Starts nothing.
    ///
    /// # Errors
    /// The settings ask for a sandbox, or for a containment that is none of these.
    pub(super) fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        if settings.layers != Layers::Off {
            return Err(SettingsError::NoSandbox);
        }
        if settings.min_containment > Containment::ProcessGroup {
            return Err(SettingsError::OnlyGroups(settings.min_containment.as_str()));
        }
        Ok(Self { settings })
    }

    /// As [`Shell::start`](super::Shell::start).
    pub(super) async fn start(
        &self,
        command: Command,
        sandbox: &Sandbox,
    ) -> Result<Running, CouldNotStart> {
        let planned = plan::of(&command, sandbox, &self.settings, Hold::Subreaper)?;
        planned.fits_argument()?;
        run(command, planned, sandbox.writable.clone())
    }

    /// Starts a program that talks through its input and output.
    pub(super) async fn serve(
        &self,
        program: Program,
        sandbox: &Sandbox,
    ) -> Result<Service, CouldNotStart> {
        let (ours, ends) = service::pipes()?;
        let (command, planned) =
            plan::of_program(program, sandbox, &self.settings, Hold::Subreaper, ends)?;
        Ok(ours.of(run(command, planned, sandbox.writable.clone())?))
    }

    /// As [`Shell::probe`](super::Shell::probe).
    pub(super) async fn probe(&self) -> Probe {
        let mut command = Command::new(":");
        command.timeout = Some(LONGEST_START);
        let (containment, sandbox, troubles) = match self.start(command, &Sandbox::default()).await
        {
            Ok(running) => {
                let force = running.sandbox().clone();
                let ended = running.wait().await;
                tracing::debug!(?ended.outcome, "a probe of the shell");
                (Some(Containment::ProcessGroup), Some(force), Vec::new())
            }
            Err(error) => (None, None, vec![error.to_string()]),
        };
        Probe {
            launcher: "local (process groups: best effort)".to_owned(),
            containment,
            sandbox,
            troubles,
            warnings: vec![
                "commands run without a sandbox, and what leaves its process group may outlive its call"
                    .to_owned(),
            ],
        }
    }
}

fn run(
    mut command: Command,
    mut planned: Planned,
    writable: Vec<PathBuf>,
) -> Result<Running, CouldNotStart> {
    let at = Instant::now();
    let mark = format!("{MARK}={}", uuid::Uuid::new_v4().simple());
    let (pipes, out, err) = outputs(&planned, command.separate).map_err(|error| open(&error))?;
    let streams = pipes.ok_or_else(|| open(&std::io::ErrorKind::BrokenPipe.into()))?;
    let input = match planned.ends.take() {
        Some(ends) => Stdio::from(ends.input),
        None => Stdio::null(),
    };
    let child = process(&planned, &mark)
        .stdin(input)
        .stdout(Stdio::from(out))
        .stderr(Stdio::from(err))
        .spawn()
        .map_err(|error| {
            let program = planned.plan.program.clone();
            let program = OsStr::from_bytes(&program).display().to_string();
            let hint = format!("the program '{program}' cannot be run: {error}");
            CouldNotStart::system(Step::Shell, &error, hint)
        })?;
    let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let leader = leader.ok_or_else(|| open(&std::io::ErrorKind::NotFound.into()))?;
    let facts = start::facts(
        &command,
        planned,
        (Containment::ProcessGroup, in_force()),
        writable,
    );
    Ok(start::running(Begun {
        tree: Box::new(Group {
            child,
            leader,
            mark,
            looking: None,
        }),
        lifeline: Arc::new(Line(leader)),
        streams,
        terminal: None,
        spill: command.spill.take(),
        beyond: None,
        at,
        facts,
    }))
}

/// The process of a plan, which the system starts without copying this one.
fn process(planned: &Planned, mark: &str) -> Process {
    let plan = &planned.plan;
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts commands where there is no launcher"
    )]
    let mut process = Process::new(OsStr::from_bytes(&plan.program));
    let mut words = plan.arguments.iter().map(|word| OsStr::from_bytes(word));
    if let Some(name) = words.next() {
        process.arg0(name);
    }
    process.args(words).env_clear().process_group(0);
    let marked = [mark.as_bytes()].into_iter();
    for variable in plan.environment.iter().map(Vec::as_slice).chain(marked) {
        let mut parts = variable.splitn(2, |byte| *byte == b'=');
        if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            process.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
    }
    process.current_dir(OsStr::from_bytes(&plan.cwd));
    if let Some((user, group)) = plan.run_as {
        process.uid(user).gid(group);
    }
    process
}

fn in_force() -> InForce {
    let gaps = [
        "no sandbox",
        "a process group: what leaves it may live on, there is no guarantee",
        "processes and memory: unlimited",
    ];
    InForce {
        layers: Layers::Off,
        network: true,
        landlock: Landlock {
            abi: 0,
            enforced: Enforced::Not,
        },
        seccomp: false,
        processes: None,
        memory: None,
        gaps: gaps.map(str::to_owned).into(),
    }
}

/// A command's processes: its group, and whoever carries its mark or descends from one of them.
#[derive(Debug)]
struct Group {
    child: Child,
    leader: Pid,
    mark: String,
    /// A look that nobody has waited for to its end.
    looking: Option<JoinHandle<Vec<Pid>>>,
}

impl Group {
    /// Those that live beside the first one; none where nobody could look. Giving up waiting does not begin the look anew.
    async fn members(&mut self) -> Option<Vec<Pid>> {
        let (leader, mark) = (self.leader, &self.mark);
        let looking = self.looking.get_or_insert_with(|| {
            let mark = mark.clone();
            tokio::task::spawn_blocking(move || members(leader, &mark))
        });
        let looked = looking.await;
        self.looking = None;
        looked.ok()
    }
}

#[async_trait]
impl Tree for Group {
    async fn ended(&mut self) -> Option<(i32, u32)> {
        let status = self.child.wait().await.ok()?;
        Some((status.into_raw(), self.count().await.unwrap_or_default()))
    }

    async fn count(&mut self) -> Option<u32> {
        u32::try_from(self.members().await?.len()).ok()
    }

    async fn end(&mut self) -> Option<Stuck> {
        let begun = Instant::now();
        // What was seen before the kill says nothing of what is there after it.
        self.looking = None;
        loop {
            let killed = kill_process_group(self.leader, Signal::KILL);
            tracing::trace!(?killed, "a group");
            let looked = self.members().await;
            let members = looked.as_deref().unwrap_or_default();
            for member in members {
                let killed = kill_process(*member, Signal::KILL);
                tracing::trace!(?killed, "a process of a group");
            }
            let reaped = self.child.try_wait().is_ok_and(|status| status.is_some());
            // Nobody in the group outlives its kill; whoever left it has to be looked for.
            if looked.as_ref().is_some_and(Vec::is_empty) && reaped {
                return None;
            }
            if begun.elapsed() > LONGEST_END {
                let left = members.first().unwrap_or(&self.leader);
                return Some(Stuck {
                    pid: Some(left.as_raw_nonzero().get().cast_unsigned()),
                    waits: None,
                });
            }
            sleep(LOOK).await;
        }
    }

    async fn bury(&mut self) {}
}

/// Looks at all processes of this machine that may be looked at.
fn members(leader: Pid, mark: &str) -> Vec<Pid> {
    let mut system = System::new();
    let what = ProcessRefreshKind::nothing()
        .with_environ(UpdateKind::Always)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
    let living = |status| !matches!(status, ProcessStatus::Zombie | ProcessStatus::Dead);
    let raw = |id: sysinfo::Pid| i32::try_from(id.as_u32()).ok().and_then(Pid::from_raw);
    let all: Vec<_> = system
        .processes()
        .iter()
        .filter(|(_, process)| living(process.status()))
        .filter_map(|(id, process)| Some((raw(*id)?, process)))
        .collect();
    let mut ours = vec![leader];
    for (id, process) in &all {
        let marked = process.environ().iter().any(|variable| variable == mark);
        if *id != leader && marked {
            ours.push(*id);
        }
    }
    // Children of what is ours are ours.
    loop {
        let known = ours.len();
        for (id, process) in &all {
            let parent = process.parent().and_then(raw);
            if !ours.contains(id) && parent.is_some_and(|parent| ours.contains(&parent)) {
                ours.push(*id);
            }
        }
        if ours.len() == known {
            break;
        }
    }
    ours.retain(|id| *id != leader);
    ours
}

/// Kills the group at once.
#[derive(Debug)]
struct Line(Pid);

impl Lifeline for Line {
    fn cut(&self) {
        let killed = kill_process_group(self.0, Signal::KILL);
        tracing::trace!(?killed, "the lifeline of a group");
    }
}
