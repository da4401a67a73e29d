//! The engine's client: run as any other command is, without a sandbox, and with nothing of the host's environment but what
//! tells it where its engine is.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::super::command::{Command, CouldNotStart, Sandbox};
use super::super::ended::{CommandEnd, Ended, Stuck};
use super::super::launched;
use super::super::launcher::Launcher;
use super::super::plan::{self, Planned};
use super::super::settings::Settings;
use super::super::wire::Hold;
use super::home::{Home, PREFIX};

/// How long a kill or a removal may take.
const LONGEST_CALL: Duration = Duration::from_secs(10);
/// How long an engine that is at it already is left alone.
const AGAIN: Duration = Duration::from_millis(50);
/// Variables of the host that tell a client where its engine is.
const OF_CLIENTS: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "CONTAINER_SSHKEY",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
];

/// See the module.
#[derive(Debug)]
pub(super) struct Calls {
    program: PathBuf,
    /// Without a sandbox.
    settings: Settings,
    launcher: Launcher,
    swept: tokio::sync::OnceCell<()>,
}

impl Calls {
    pub(super) fn new(program: PathBuf, settings: Settings) -> Self {
        Self {
            program,
            launcher: Launcher::new(settings.folder.as_deref()),
            settings,
            swept: tokio::sync::OnceCell::new(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// Turns the plan of a command into one of the client.
    pub(super) fn fit(&self, planned: &mut Planned, arguments: Vec<String>) {
        let plan = &mut planned.plan;
        plan.program = self.program.as_os_str().as_bytes().to_vec();
        let name = self.program.file_name();
        let name = name.map(|name| name.as_bytes().to_vec());
        let words = arguments.into_iter().map(String::into_bytes);
        plan.arguments = name.into_iter().chain(words).collect();
        let variables = OF_CLIENTS
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        plan.environment = variables
            .map(|(name, value)| [name.as_bytes(), b"=", &value.into_vec()].concat())
            .collect();
        plan.cwd = b"/".to_vec();
        plan.run_as = None;
        planned.script = false;
    }

    /// Runs the client to its end.
    async fn call(&self, arguments: &[&str]) -> Result<Ended, CouldNotStart> {
        let mut command = Command::new(":");
        command.timeout = Some(LONGEST_CALL);
        let sandbox = Sandbox::default();
        let mut planned = plan::of(&command, &sandbox, &self.settings, Hold::Subreaper)?;
        let arguments = arguments.iter().map(|word| (*word).to_owned());
        self.fit(&mut planned, arguments.collect());
        let started = launched::start(&self.launcher, command, planned, None, Vec::new());
        Ok(started.await?.wait().await)
    }

    /// Has the engine end a container and forget it. Gives what it did not confirm.
    pub(super) async fn end(&self, name: &str, alive: bool) -> Option<Stuck> {
        if alive {
            let killed = self.call(&["kill", name]).await;
            tracing::debug!(?killed, "a container");
        }
        let begun = Instant::now();
        let said = loop {
            let said = match self.call(&["rm", "--force", name]).await {
                Ok(ended) if ended.outcome == (CommandEnd::Exit { code: 0 }) => return None,
                Ok(ended) => ended.output.text,
                Err(error) => error.to_string(),
            };
            let lower = said.to_lowercase();
            let has = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
            // Gone by itself, which is what was wanted.
            if has(&["no such container", "no container with name"]) {
                return None;
            }
            if !has(&["already in progress"]) || begun.elapsed() > LONGEST_CALL {
                break said;
            }
            // The engine is at it, as it was told to be when the container was made.
            tokio::time::sleep(AGAIN).await;
        };
        let said = crate::model::visible(said.trim()).into_owned();
        Some(Stuck {
            pid: None,
            waits: Some(format!("container {name}: {said}")),
        })
    }

    /// Ends, once, what hosts of this machine have left that were killed.
    pub(super) async fn sweep(&self, home: &Home) {
        let swept = self.swept.get_or_init(|| async {
            let name = format!("name=^{PREFIX}");
            let listed = self
                .call(&["ps", "--all", "--filter", &name, "--format", "{{.Names}}"])
                .await;
            let Ok(listed) = listed else {
                return;
            };
            let names = listed.output.text.lines().map(str::trim);
            let orphans: Vec<&str> = names.filter(|name| home.is_orphan(name)).collect();
            for name in &orphans {
                if let Some(stuck) = self.end(name, true).await {
                    tracing::warn!(?stuck, "a container of a host that has ended is left");
                    return;
                }
            }
            for name in &orphans {
                home.forget(name);
            }
        });
        swept.await;
    }
}
