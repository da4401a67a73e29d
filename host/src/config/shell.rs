//! The table `[shell]`: whether commands run, and in what.
//!
//! The host of a program that embeds the library has the same settings as [`ShellSetting`]. What they mean is the shell's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::{keep, keep_in};
use super::reading::Reading;
use super::settings::Config;
use super::shell_limits::{self, ShellLimits};
use super::source::{Layer, Sourced};
use crate::policy::CommandPattern;

/// Commands. Without this table no command runs, and no tool that needs the shell is there.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Shell {
    /// What runs commands. Default where the table stands: `local`.
    #[schemars(with = "Option<ShellKind>")]
    kind: Option<Spanned<ShellKind>>,
    /// The bash that runs commands, by its absolute path; in a container, the one of its image. Default: `/bin/bash`.
    #[schemars(with = "Option<PathBuf>")]
    path: Option<Spanned<PathBuf>>,
    /// The program that makes the sandbox, where Toolgate does not do it itself: bubblewrap's or the engine's client, by its
    /// absolute path, or by its name in a folder of the system. Not in a workspace's file. Default: `bwrap`, or the engine's
    /// name.
    #[schemars(with = "Option<PathBuf>")]
    program: Option<Spanned<PathBuf>>,
    /// For containers: the image, which holds bash and is there already; images are never fetched. Not in a workspace's file.
    #[schemars(with = "Option<String>")]
    image: Option<Spanned<String>>,
    /// For containers: further options of the engine's `run`, each one word such as `--runtime=runsc`. Not in a workspace's
    /// file.
    #[schemars(with = "Vec<String>")]
    arguments: Vec<Spanned<String>>,
    /// Whether only commands run that are known to read, with flags that are known, on paths in the granted directories.
    /// Nothing can be written then, and there are no terminals. Default: `false`.
    #[schemars(with = "Option<bool>")]
    guard: Option<Spanned<bool>>,
    /// Who commands run as, where Toolgate runs as root. Default: Toolgate's own user.
    #[schemars(with = "Option<ShellUser>")]
    run_as: Option<Spanned<ShellUser>>,
    /// The weakest way of holding the processes of a command together that is accepted. Default: `subreaper`, on other
    /// systems than Linux `process_group`.
    #[schemars(with = "Option<ShellContainment>")]
    min_containment: Option<Spanned<ShellContainment>>,
    /// What commands may dial. Default: `off`, which leaves them a loopback of their own.
    #[schemars(with = "Option<ShellNetwork>")]
    network: Option<Spanned<ShellNetwork>>,
    /// What keeps commands from files. Default: `full`. Less is for machines that cannot do better; without `full`, deny
    /// rules over files do not bind commands.
    #[schemars(with = "Option<ShellSandbox>")]
    sandbox: Option<Spanned<ShellSandbox>>,
    /// Names of Toolgate's own environment variables that commands see beside the ordinary ones.
    #[schemars(with = "Vec<String>")]
    pass: Vec<Spanned<String>>,
    /// Environment variables of commands, with their values.
    #[schemars(with = "BTreeMap<String, String>")]
    environment: BTreeMap<String, Spanned<String>>,
    /// For tools that run commands which their calls do not name: by the tool's name, patterns of the commands that it may
    /// run (`git status:*`). Deny rules over commands still hold. A tool that is named here may also see tasks.
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    grants: BTreeMap<String, Spanned<Vec<Spanned<String>>>>,
    /// What one command may take of the machine.
    limits: shell_limits::Limits,
}

/// What runs commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShellKind {
    /// This machine, in a sandbox of our own.
    Local,
    /// This machine, in a sandbox that bubblewrap makes.
    Bubblewrap,
    /// A container for each command, by docker's client or what understands its arguments.
    Docker,
    /// A container for each command, by podman.
    Podman,
    /// Nothing, whatever a lesser layer says.
    None,
}

/// What commands may dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShellNetwork {
    /// Nothing but each other.
    Off,
    /// What the host may.
    Full,
}

/// What keeps commands from files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShellSandbox {
    /// Mounts, system call filter and Landlock.
    Full,
    /// Landlock and the system call filter: reading is not limited.
    Landlock,
    /// Nothing.
    Off,
}

/// What holds the processes of a command together, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShellContainment {
    /// A process group: no guarantee. What other systems than Linux have.
    ProcessGroup,
    /// A supervisor.
    Subreaper,
    /// A control group.
    Cgroup,
    /// A PID namespace.
    PidNamespace,
}

/// A user and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellUser {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
}

/// The shell of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShellSetting {
    /// What runs commands; nothing by default.
    pub kind: Option<Sourced<ShellKind>>,
    /// The bash that runs them.
    pub path: Option<Sourced<PathBuf>>,
    /// The program that makes their sandbox.
    pub program: Option<Sourced<PathBuf>>,
    /// The image of their containers.
    pub image: Option<Sourced<String>>,
    /// Further options of the containers' engine. They add up.
    pub arguments: Vec<Sourced<String>>,
    /// Whether only commands run that are known to read.
    pub guard: Option<Sourced<bool>>,
    /// Who they run as.
    pub run_as: Option<Sourced<ShellUser>>,
    /// The weakest containment that is accepted.
    pub min_containment: Option<Sourced<ShellContainment>>,
    /// What they may dial.
    pub network: Option<Sourced<ShellNetwork>>,
    /// What keeps them from files.
    pub sandbox: Option<Sourced<ShellSandbox>>,
    /// Variables that are passed on.
    pub pass: Vec<Sourced<String>>,
    /// Variables with their values.
    pub environment: BTreeMap<String, Sourced<String>>,
    /// Patterns of commands, by the tool that may run them. They add up.
    pub grants: BTreeMap<String, Vec<Sourced<String>>>,
    /// Where a tool is named in the grants, also with no pattern.
    pub granted: BTreeMap<String, Sourced<()>>,
    /// What one command may take.
    pub limits: ShellLimits,
}

impl ShellSetting {
    /// Commands on this machine, with the defaults.
    pub fn local() -> Self {
        Self {
            kind: Some(ShellKind::Local.into()),
            ..Self::default()
        }
    }

    /// Whether only commands run that are known to read.
    pub fn is_guarded(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.value)
    }

    /// Whether commands run at all.
    pub fn is_there(&self) -> bool {
        self.kind
            .as_ref()
            .is_some_and(|kind| kind.value != ShellKind::None)
    }
}

/// A setting that names what is run outside of the sandbox, or what it may take: a workspace's file may not.
///
/// # Errors
/// It does.
pub(super) fn operators<T>(
    setting: Option<Sourced<T>>,
    key: &str,
) -> Result<Option<Sourced<T>>, ConfigError> {
    match setting {
        Some(Sourced { source, .. }) if matches!(source.layer, Layer::Project | Layer::Local) => {
            Err(source.wrong(format!(
                "'{key}' of [shell] is the operator's, and this is a workspace's file: set it in your own file"
            )))
        }
        setting => Ok(setting),
    }
}

/// Adds what a file says.
///
/// # Errors
/// A pattern that is none.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    shell: Option<Spanned<Shell>>,
) -> Result<(), ConfigError> {
    let Some(shell) = shell else {
        return Ok(());
    };
    let source = reading.source(shell.span().start);
    let shell = shell.into_inner();
    let into = &mut config.shell;
    keep(&mut into.kind, shell.kind.map(|kind| reading.sourced(kind)));
    into.kind.get_or_insert(Sourced {
        value: ShellKind::Local,
        source,
    });
    let path = shell.path.map(|path| reading.sourced(path));
    keep(&mut into.path, path);
    let program = shell.program.map(|program| reading.sourced(program));
    keep(&mut into.program, operators(program, "program")?);
    let image = shell.image.map(|image| reading.sourced(image));
    keep(&mut into.image, operators(image, "image")?);
    for argument in shell.arguments {
        let argument = Some(reading.sourced(argument));
        into.arguments.extend(operators(argument, "arguments")?);
    }
    keep(&mut into.guard, shell.guard.map(|on| reading.sourced(on)));
    keep(
        &mut into.run_as,
        shell.run_as.map(|who| reading.sourced(who)),
    );
    let containment = shell.min_containment;
    keep(
        &mut into.min_containment,
        containment.map(|least| reading.sourced(least)),
    );
    let network = shell.network;
    keep(
        &mut into.network,
        network.map(|network| reading.sourced(network)),
    );
    let sandbox = shell.sandbox;
    keep(
        &mut into.sandbox,
        sandbox.map(|sandbox| reading.sourced(sandbox)),
    );
    let pass = shell.pass.into_iter();
    into.pass.extend(pass.map(|name| reading.sourced(name)));
    for (name, value) in shell.environment {
        keep_in(&mut into.environment, name, reading.sourced(value));
    }
    shell_limits::add(&mut into.limits, reading, shell.limits)?;
    add_grants(into, reading, shell.grants)
}

fn add_grants(
    into: &mut ShellSetting,
    reading: &Reading<'_>,
    grants: BTreeMap<String, Spanned<Vec<Spanned<String>>>>,
) -> Result<(), ConfigError> {
    for (tool, patterns) in grants {
        let source = reading.source(patterns.span().start);
        let named = Sourced { value: (), source };
        keep_in(&mut into.granted, tool.clone(), named);
        let known = into.grants.entry(tool).or_default();
        for pattern in patterns.into_inner() {
            let pattern = reading.sourced(pattern);
            if let Err(error) = CommandPattern::parse(&pattern.value) {
                return Err(pattern.source.wrong(format!("in [shell.grants], {error}")));
            }
            known.push(pattern);
        }
    }
    Ok(())
}
