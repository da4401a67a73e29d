//! Commands on this machine, in the strongest containment of those that may be tried.
//!
//! What is started, and how it is found out what works here, whoever makes the sandbox: this program or bubblewrap.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use tokio::sync::Mutex;

use super::cgroup::Cgroup;
use super::command::{Command, CouldNotStart, Sandbox};
use super::ended::{Containment, InForce};
use super::launched;
use super::launcher::Launcher;
use super::plan::{self, Planned};
use super::probe::Probe;
use super::pty::{Session, Terminal};
use super::running::Running;
use super::service::{self, Program, Service};
use super::settings::{Settings, SettingsError};
use super::start::LONGEST_START;
use super::wire::{Hold, Layers, Step};

/// Starts commands on this machine.
#[derive(Debug)]
pub(super) struct Machine {
    settings: Settings,
    /// Who makes the sandbox, where it is not this program.
    bubblewrap: Option<PathBuf>,
    launcher: Launcher,
    /// What works here, once it is known.
    way: Mutex<Option<Way>>,
}

/// How a command is held together here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    hold: Hold,
    /// In a control group: to be killed by it, or to have memory bounded beside a namespace.
    group: bool,
}

impl Way {
    fn containment(self) -> Containment {
        match self.hold {
            Hold::PidNamespace | Hold::UserNamespace | Hold::Bubblewrap => {
                Containment::PidNamespace
            }
            Hold::Subreaper if self.group => Containment::Cgroup,
            Hold::Subreaper => Containment::Subreaper,
        }
    }
}

impl Machine {
    /// Starts nothing.
    ///
    /// # Errors
    /// The settings contradict themselves.
    pub(super) fn new(
        settings: Settings,
        bubblewrap: Option<PathBuf>,
    ) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            launcher: Launcher::new(settings.folder.as_deref()),
            way: Mutex::default(),
            bubblewrap,
            settings,
        })
    }

    fn name(&self) -> String {
        match &self.bubblewrap {
            Some(program) => format!("bubblewrap ({})", program.display()),
            None => "local".to_owned(),
        }
    }

    /// Which ways may be tried, the strongest first.
    fn candidates(&self) -> Vec<Way> {
        let mut holds = Vec::new();
        let allowed = |containment| {
            containment >= self.settings.min_containment
                && containment <= self.settings.max_containment
        };
        if allowed(Containment::PidNamespace) {
            let group = Cgroup::bounds_memory();
            if self.bubblewrap.is_some() {
                return vec![Way {
                    hold: Hold::Bubblewrap,
                    group,
                }];
            }
            if rustix::process::geteuid().is_root() {
                holds.push((Hold::PidNamespace, group));
            }
            if self.settings.run_as.is_none() {
                holds.push((Hold::UserNamespace, group));
            }
        }
        // Without namespaces there are no mounts, and what the mounts promise may not be lost silently.
        if self.settings.layers != Layers::All {
            if allowed(Containment::Cgroup) {
                holds.push((Hold::Subreaper, true));
            }
            if allowed(Containment::Subreaper) {
                holds.push((Hold::Subreaper, false));
            }
        }
        holds
            .into_iter()
            .map(|(hold, group)| Way { hold, group })
            .collect()
    }

    /// Finds out what works by running nothing much in it.
    async fn find(&self) -> Result<(Way, InForce), Vec<CouldNotStart>> {
        let mut troubles = Vec::new();
        for way in self.candidates() {
            let mut command = Command::new(":");
            command.timeout = Some(LONGEST_START);
            let tried = match plan::of(&command, &Sandbox::default(), &self.settings, way.hold) {
                Ok(planned) => self.start_in(command, planned, way, Vec::new()).await,
                Err(error) => Err(error),
            };
            match tried {
                Ok(running) => {
                    let force = running.sandbox().clone();
                    let ended = running.wait().await;
                    tracing::debug!(?way, ?ended.outcome, "a probe of the shell");
                    return Ok((way, force));
                }
                // The sandbox was there; the shell is another matter, which another hold does not change.
                Err(error) if error.step == Step::Shell => return Err(vec![error]),
                Err(error) => troubles.push(error),
            }
        }
        if troubles.is_empty() {
            troubles.push(CouldNotStart::new(
                Step::Containment,
                format!(
                    "the shell may use {} to {} here, but the sandbox needs pid_namespace: loosen min_containment, or run with \
                     sandbox = \"landlock\" or \"off\" in [shell]",
                    self.settings.min_containment.as_str(),
                    self.settings.max_containment.as_str()
                ),
            ));
        }
        Err(troubles)
    }

    /// What works here, found out once. A failure is found out anew each time: it may have been repaired.
    async fn way(&self) -> Result<Way, CouldNotStart> {
        let mut known = self.way.lock().await;
        if let Some(way) = *known {
            return Ok(way);
        }
        match self.find().await {
            Ok((way, _)) => Ok(*known.insert(way)),
            // The first is the strongest, and what should be repaired.
            Err(troubles) => Err(troubles.into_iter().next().unwrap_or_else(|| {
                CouldNotStart::new(Step::Containment, "no containment was tried")
            })),
        }
    }

    async fn start_in(
        &self,
        command: Command,
        mut planned: Planned,
        way: Way,
        writable: Vec<PathBuf>,
    ) -> Result<Running, CouldNotStart> {
        planned.plan.hold = way.hold;
        if let Some(bubblewrap) = &self.bubblewrap {
            planned.plan.bubblewrap = bubblewrap.as_os_str().as_bytes().to_vec();
        }
        let group = if way.group {
            let made = Cgroup::create(self.settings.memory, self.settings.processes);
            Some(made.map_err(|error| {
                let hint = format!("the shell cannot make a control group: {error}");
                CouldNotStart::system(Step::Cgroup, &error, hint)
            })?)
        } else {
            None
        };
        launched::start(&self.launcher, command, planned, group, writable).await
    }

    /// Starts in what works here.
    async fn start_planned(
        &self,
        command: Command,
        planned: Planned,
        sandbox: &Sandbox,
    ) -> Result<Running, CouldNotStart> {
        let way = self.way().await?;
        let started = self
            .start_in(command, planned, way, sandbox.writable.clone())
            .await;
        if let Err(error) = &started
            && !matches!(error.step, Step::Shell | Step::Cwd | Step::Root)
        {
            // What worked works no more: look again next time.
            *self.way.lock().await = None;
        }
        started
    }

    /// As [`Shell::start`](super::Shell::start).
    pub(super) async fn start(
        &self,
        command: Command,
        sandbox: &Sandbox,
    ) -> Result<Running, CouldNotStart> {
        // What is no command is refused before the machine is looked at.
        let planned = plan::of(&command, sandbox, &self.settings, Hold::PidNamespace)?;
        self.start_planned(command, planned, sandbox).await
    }

    /// Starts a program that talks through its input and output.
    pub(super) async fn serve(
        &self,
        program: Program,
        sandbox: &Sandbox,
    ) -> Result<Service, CouldNotStart> {
        let (ours, ends) = service::pipes()?;
        let (command, planned) =
            plan::of_program(program, sandbox, &self.settings, Hold::PidNamespace, ends)?;
        let running = self.start_planned(command, planned, sandbox).await?;
        Ok(ours.of(running))
    }

    /// As [`Shell::open`](super::Shell::open).
    pub(super) async fn open(
        &self,
        session: Session,
        sandbox: &Sandbox,
    ) -> Result<Terminal, CouldNotStart> {
        let (command, planned) =
            plan::of_session(session, sandbox, &self.settings, Hold::PidNamespace)?;
        let line = command.line.clone();
        Terminal::new(self.start_planned(command, planned, sandbox).await?, line)
    }

    /// As [`Shell::probe`](super::Shell::probe).
    pub(super) async fn probe(&self) -> Probe {
        let mut warnings = Vec::new();
        if rustix::process::geteuid().is_root() && self.settings.run_as.is_none() {
            warnings.push(
                "Toolgate runs as root, and so do commands, with few capabilities left: set shell.run_as to an ordinary user"
                    .to_owned(),
            );
        }
        match self.find().await {
            Ok((way, sandbox)) => {
                *self.way.lock().await = Some(way);
                Probe {
                    launcher: self.name(),
                    containment: Some(way.containment()),
                    sandbox: Some(sandbox),
                    troubles: Vec::new(),
                    warnings,
                }
            }
            Err(troubles) => Probe {
                launcher: self.name(),
                containment: None,
                sandbox: None,
                troubles: troubles.iter().map(ToString::to_string).collect(),
                warnings,
            },
        }
    }
}
