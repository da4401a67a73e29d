//! A container engine's command line: the arguments that make a container what a sandbox promises.
//!
//! Nothing of a model stands where an engine looks for an option: the command line is the last argument, behind the image, and
//! every path stands inside of a `--mount`.

use std::path::Path;

use super::super::command::{CouldNotStart, Network};
use super::super::environment;
use super::super::settings::Settings;
use super::inside;
use super::mounts::{Mount, text};

/// A container engine's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `docker`, and what understands its arguments.
    Docker,
    /// `podman`.
    Podman,
}

impl Engine {
    /// The client's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// What one container is made of.
pub(super) struct Order<'a> {
    pub(super) name: &'a str,
    pub(super) image: &'a str,
    /// The operator's own.
    pub(super) more: &'a [String],
    pub(super) settings: &'a Settings,
    pub(super) engine: Engine,
    pub(super) mounts: &'a [Mount],
    pub(super) cwd: &'a Path,
    pub(super) network: Network,
    pub(super) line: &'a str,
}

/// The arguments of `run`.
///
/// # Errors
/// A path that no engine can mount.
pub(super) fn run(order: &Order<'_>) -> Result<Vec<String>, CouldNotStart> {
    let settings = order.settings;
    let mut arguments: Vec<String> = ["run", "--rm", "--interactive", "--pull=never"]
        .map(str::to_owned)
        .into();
    let mut option = |name: &str, value: String| arguments.push(format!("--{name}={value}"));
    option("name", order.name.to_owned());
    if order.network == Network::Off {
        option("network", "none".to_owned());
    }
    option("read-only", "true".to_owned());
    option("cap-drop", "ALL".to_owned());
    option("security-opt", "no-new-privileges".to_owned());
    option("pids-limit", settings.processes.to_string());
    option("memory", settings.memory.to_string());
    option("memory-swap", settings.memory.to_string());
    option("ulimit", format!("nofile={0}:{0}", settings.open_files));
    option("ulimit", format!("fsize={0}:{0}", settings.file_size));
    option("ulimit", "core=0:0".to_owned());
    for (folder, mode) in [("/tmp", "1777"), ("/run", "755")] {
        let size = settings.tmp_size;
        option(
            "tmpfs",
            format!("{folder}:rw,nosuid,nodev,size={size},mode={mode}"),
        );
    }
    let (user, group) = user(settings);
    option("user", format!("{user}:{group}"));
    if order.engine == Engine::Podman && !rustix::process::geteuid().is_root() {
        // An ordinary user's podman runs in a user namespace: the user keeps its number there, and so its files.
        option("userns", "keep-id".to_owned());
    }
    for (name, value) in environment::of_container(settings) {
        option("env", format!("{name}={value}"));
    }
    option("workdir", text(order.cwd)?.to_owned());
    for mount in order.mounts {
        option("mount", mount.argument()?);
    }
    arguments.extend(order.more.iter().cloned());
    let shell = text(&settings.shell)?;
    arguments.push(format!("--entrypoint={shell}"));
    arguments.push(order.image.to_owned());
    let inside = [
        "--norc",
        "--noprofile",
        "-c",
        inside::SCRIPT,
        "toolgate",
        shell,
        order.line,
    ];
    arguments.extend(inside.map(str::to_owned));
    Ok(arguments)
}

fn user(settings: &Settings) -> (u32, u32) {
    match settings.run_as {
        Some(who) => (who.user, who.group),
        None => (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        ),
    }
}
