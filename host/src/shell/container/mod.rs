//! Commands in containers, by an engine's own client.
//!
//! One container for each command, with a name that is chosen before it starts, exactly the granted directories in it, and no
//! network unless it was granted. The client is held by a supervisor of ours as any other command is; the container is the
//! engine's, so that its end is the engine's word: it is killed by its name, removed, and a result that the engine does not
//! confirm says so. What the engine was asked for is looked at from inside before the command begins: a network that was not
//! granted, a root that can be written, a mount that is missing or leads elsewhere is a failure to start. With the host's end
//! the client ends, and with the client the container's input, whose end ends its first process and all others with it.
//!
//! There are no terminals, and one stream of output. Images are never fetched.

mod client;
mod engine;
mod held;
mod home;
mod inside;
mod mounts;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use self::client::Calls;
pub use self::engine::Engine;
use self::engine::Order;
use self::held::{Held, HeldParts};
use self::home::Home;
use super::Shell;
use super::command::{Command, CouldNotStart, Network, Sandbox};
use super::ended::Containment;
use super::launched;
use super::plan;
use super::probe::Probe;
use super::program::found;
use super::running::Running;
use super::service::Ends;
use super::settings::{Settings, SettingsError};
use super::start::LONGEST_START;
use super::streams::pipe;
use super::wire::{Hold, Layers, Step};

/// What containers are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The engine.
    pub engine: Engine,
    /// Its client's path, or its name in a folder of the system; the engine's name where there is none.
    pub program: Option<PathBuf>,
    /// The image. It holds bash, and is there already.
    pub image: String,
    /// The operator's own arguments of `run`.
    pub arguments: Vec<String>,
}

/// A shell whose commands run in containers.
#[derive(Debug)]
pub struct ContainerShell {
    settings: Settings,
    container: Container,
    calls: Arc<Calls>,
    home: Home,
}

impl ContainerShell {
    /// A shell with settings. Starts nothing.
    ///
    /// # Errors
    /// The settings contradict themselves or what a container is; the client is not there; an image or an argument that would be
    /// taken for something else.
    pub fn new(settings: Settings, container: Container) -> Result<Self, SettingsError> {
        let no = |what: &str| Err(SettingsError::Container(what.to_owned()));
        settings.check()?;
        if settings.layers != Layers::All {
            return no("is the whole sandbox: leave 'sandbox' out");
        }
        if settings.min_containment > Containment::Container {
            return no(
                "is ended by its engine, which is less than 'min_containment' demands: take kind = \"local\"",
            );
        }
        if !settings.pass.is_empty() {
            return no(
                "sees none of the host's variables: give values in 'environment' instead of names in 'pass'",
            );
        }
        let image = &container.image;
        if image.is_empty() || image.starts_with('-') || image.contains(char::is_whitespace) {
            return no("needs the name of an image, as 'image' in [shell]");
        }
        if let Some(wrong) = container
            .arguments
            .iter()
            .find(|argument| !argument.starts_with("--"))
        {
            return no(&format!(
                "takes whole options only ('--name=value'), and '{}' is none",
                crate::model::visible(wrong)
            ));
        }
        let name = Path::new(container.engine.as_str());
        let program = found(container.program.as_deref().unwrap_or(name))?;
        let mut of_client = settings.clone();
        of_client.layers = Layers::Off;
        let home = Home::new(settings.folder.as_deref())?;
        Ok(Self {
            calls: Arc::new(Calls::new(program, of_client)),
            settings,
            container,
            home,
        })
    }

    async fn run(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart> {
        if command.separate {
            return Err(CouldNotStart::new(
                Step::Validate,
                "a container has one stream of output: run the command without keeping stderr apart",
            ));
        }
        let mut planned = plan::of(&command, sandbox, self.calls.settings(), Hold::Subreaper)?;
        planned.fits_argument()?;
        self.calls.sweep(&self.home).await;
        let paths = |list: &[Vec<u8>]| list.iter().map(|path| as_path(path)).collect::<Vec<_>>();
        let writable = paths(&planned.plan.writable);
        let mut readable = plan::roots(&sandbox.readable)?;
        readable.retain(|root| !writable.contains(root));
        let mounts = mounts::of(&writable, &readable, sandbox, &self.home.covers());
        let name = self.home.name();
        let arguments = engine::run(&Order {
            name: &name,
            image: &self.container.image,
            more: &self.container.arguments,
            settings: &self.settings,
            engine: self.container.engine,
            mounts: &mounts,
            cwd: &planned.cwd,
            network: command.network,
            line: &command.line,
        })?;
        self.calls.fit(&mut planned, arguments);
        let (input, ours) = pipe().map_err(|error| {
            let hint = format!("there is no pipe to hold a container by: {error}");
            CouldNotStart::system(Step::Control, &error, hint)
        })?;
        planned.plan.input = true;
        planned.ends = Some(Ends {
            input,
            output: None,
        });
        let held = Held::new(
            HeldParts {
                name,
                network: command.network == Network::Full,
                mounts,
                calls: Arc::clone(&self.calls),
                container: self.container.clone(),
                input: ours,
            },
            &self.settings,
        );
        let (calls, writable) = (Arc::clone(&self.calls), sandbox.writable.clone());
        // A task of its own: whoever gives up while the engine is at it drops what has begun, and that is ended as always.
        let starting = tokio::spawn(async move {
            launched::start_beyond(calls.launcher(), command, planned, writable, Box::new(held))
                .await
        });
        let started = starting.await;
        started.unwrap_or_else(|lost| {
            let hint = format!("the start of a container was lost: {lost}");
            Err(CouldNotStart::new(Step::Control, hint))
        })
    }
}

fn as_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[async_trait]
impl Shell for ContainerShell {
    async fn start(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart> {
        self.run(command, sandbox).await
    }

    fn has_terminals(&self) -> bool {
        false
    }

    async fn probe(&self) -> Probe {
        let engine = self.container.engine.as_str();
        let launcher = format!("container ({engine}, image {})", self.container.image);
        let mut command = Command::new(":");
        command.timeout = Some(LONGEST_START);
        let (containment, sandbox, troubles) = match self.run(command, &Sandbox::default()).await {
            Ok(running) => {
                let force = running.sandbox().clone();
                let ended = running.wait().await;
                let trouble = ended.kill_incomplete.map(|stuck| {
                    format!(
                        "the container was not removed: {}",
                        stuck.waits.unwrap_or_default()
                    )
                });
                (
                    Some(Containment::Container),
                    Some(force),
                    trouble.into_iter().collect(),
                )
            }
            Err(error) => (None, None, vec![error.to_string()]),
        };
        Probe {
            launcher,
            containment,
            sandbox,
            troubles,
            warnings: Vec::new(),
        }
    }
}
