//! The shell that the configuration names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{
    Config, ConfigError, ShellContainment, ShellKind, ShellNetwork, ShellSandbox, ShellSetting,
    ShellUser, Sourced,
};
use crate::model::{Declaration, ShellTarget};
use crate::policy::{CommandPattern, ShellGrants};
use crate::provider::{NativeShell, ShellPlaces};
use crate::shell::{
    Containment, Layers, LocalShell, Network, RunAs, Settings, SettingsError, Shell,
};

/// The shell; none where none is configured.
///
/// # Errors
/// A setting that cannot be.
pub(super) fn native(
    config: &Config,
    state: &Path,
    spill: &Path,
    own: &[PathBuf],
) -> Result<Option<Arc<NativeShell>>, ConfigError> {
    let setting = &config.shell;
    if !setting.is_there() {
        return Ok(None);
    }
    let network = match setting.network.as_ref().map(|network| network.value) {
        Some(ShellNetwork::Full) => Network::Full,
        Some(ShellNetwork::Off) | None => Network::Off,
    };
    let places = places(state, spill, own);
    let native = NativeShell::new(launcher(setting)?, network, places);
    Ok(Some(Arc::new(match setting.is_guarded() {
        true => native.without_terminals(),
        false => native,
    })))
}

/// What starts the processes of servers, with what the operator set for commands.
///
/// # Errors
/// A setting that cannot be.
pub(super) fn of_servers(setting: &ShellSetting) -> Result<LocalShell, ConfigError> {
    LocalShell::new(settings(setting)).map_err(|error| wrong(setting, &error))
}

/// What no process of a tool's sees, and where long outputs go.
pub(super) fn places(state: &Path, spill: &Path, own: &[PathBuf]) -> ShellPlaces {
    let hidden: Vec<PathBuf> = [Some(state.to_owned()), state.canonicalize().ok()]
        .into_iter()
        .flatten()
        .collect();
    let below = |path: &&PathBuf| !hidden.iter().any(|hidden| path.starts_with(hidden));
    ShellPlaces {
        home: etcetera::home_dir().ok(),
        own: own.iter().filter(below).cloned().collect(),
        hidden,
        spill: spill.to_owned(),
    }
}

/// What starts commands.
///
/// # Errors
/// A setting that cannot be with it.
fn launcher(setting: &ShellSetting) -> Result<Arc<dyn Shell>, ConfigError> {
    let settings = settings(setting);
    let kind = setting.kind.as_ref().map(|kind| kind.value);
    if !matches!(kind, Some(ShellKind::Docker | ShellKind::Podman)) {
        let image = setting.image.as_ref().map(|image| (&image.source, "image"));
        let argument = setting.arguments.first();
        let argument = argument.map(|argument| (&argument.source, "arguments"));
        if let Some((source, key)) = image.or(argument) {
            let what = "is of containers: it needs kind = \"docker\" or kind = \"podman\"";
            return Err(source.wrong(format!("in [shell], '{key}' {what}")));
        }
    }
    let made = by_kind(kind.unwrap_or(ShellKind::Local), settings, setting);
    made.map_err(|error| wrong(setting, &error))
}

#[cfg(target_os = "linux")]
fn by_kind(
    kind: ShellKind,
    settings: Settings,
    setting: &ShellSetting,
) -> Result<Arc<dyn Shell>, SettingsError> {
    use crate::shell::{BubblewrapShell, ContainerShell, Engine};
    let containers = |settings, engine| -> Result<Arc<dyn Shell>, SettingsError> {
        Ok(Arc::new(ContainerShell::new(
            settings,
            container(setting, engine),
        )?))
    };
    let program = setting.program.as_ref();
    let program = program.map(|program| program.value.as_path());
    Ok(match kind {
        ShellKind::Bubblewrap => Arc::new(BubblewrapShell::new(settings, program)?),
        ShellKind::Docker => containers(settings, Engine::Docker)?,
        ShellKind::Podman => containers(settings, Engine::Podman)?,
        ShellKind::Local | ShellKind::None => Arc::new(LocalShell::new(settings)?),
    })
}

#[cfg(not(target_os = "linux"))]
fn by_kind(
    kind: ShellKind,
    settings: Settings,
    _setting: &ShellSetting,
) -> Result<Arc<dyn Shell>, SettingsError> {
    match kind {
        ShellKind::Bubblewrap => Err(SettingsError::NeedsLinux("bubblewrap")),
        ShellKind::Docker => Err(SettingsError::NeedsLinux("docker")),
        ShellKind::Podman => Err(SettingsError::NeedsLinux("podman")),
        ShellKind::Local | ShellKind::None => Ok(Arc::new(LocalShell::new(settings)?)),
    }
}

/// What the containers of commands are made of.
#[cfg(target_os = "linux")]
fn container(setting: &ShellSetting, engine: crate::shell::Engine) -> crate::shell::Container {
    let program = setting.program.as_ref();
    let image = setting.image.as_ref();
    crate::shell::Container {
        engine,
        program: program.map(|program| program.value.clone()),
        image: image.map(|image| image.value.clone()).unwrap_or_default(),
        arguments: setting
            .arguments
            .iter()
            .map(|argument| argument.value.clone())
            .collect(),
    }
}

fn settings(setting: &ShellSetting) -> Settings {
    let mut settings = Settings::default();
    if let Some(Sourced { value, .. }) = &setting.path {
        settings.shell.clone_from(value);
    }
    if let Some(Sourced { value, .. }) = setting.sandbox {
        settings.layers = match value {
            ShellSandbox::Full => Layers::All,
            ShellSandbox::Landlock => Layers::Landlock,
            ShellSandbox::Off => Layers::Off,
        };
    }
    if let Some(Sourced { value, .. }) = setting.min_containment {
        settings.min_containment = match value {
            ShellContainment::ProcessGroup => Containment::ProcessGroup,
            ShellContainment::Subreaper => Containment::Subreaper,
            ShellContainment::Cgroup => Containment::Cgroup,
            ShellContainment::PidNamespace => Containment::PidNamespace,
        };
    }
    if let Some(Sourced { value, .. }) = setting.run_as {
        let ShellUser { user, group } = value;
        settings.run_as = Some(RunAs { user, group });
    }
    let limits = &setting.limits;
    let mib = |set: &Option<Sourced<u64>>, bytes: &mut u64| {
        if let Some(set) = set {
            *bytes = set.value << 20;
        }
    };
    mib(&limits.memory_mib, &mut settings.memory);
    mib(&limits.file_size_mib, &mut settings.file_size);
    mib(&limits.tmp_mib, &mut settings.tmp_size);
    let of =
        |set: &Option<Sourced<u64>>, default: u64| set.as_ref().map_or(default, |set| set.value);
    settings.processes = of(&limits.processes, settings.processes);
    settings.open_files = of(&limits.open_files, settings.open_files);
    let pass = setting.pass.iter();
    settings.pass = pass.map(|name| name.value.clone()).collect();
    let set = setting.environment.iter();
    settings.set = set
        .map(|(name, value)| (name.clone(), value.value.clone()))
        .collect();
    settings
}

/// The error, where the setting stands.
fn wrong(setting: &ShellSetting, error: &SettingsError) -> ConfigError {
    let source = match error {
        SettingsError::Variable(name) => {
            let passed = setting.pass.iter().find(|known| known.value == *name);
            let set = setting.environment.get(name);
            passed.or(set).map(|setting| &setting.source)
        }
        SettingsError::Shell(_) => setting.path.as_ref().map(|path| &path.source),
        SettingsError::Program(_) => setting.program.as_ref().map(|path| &path.source),
        SettingsError::Container(_) => None,
        SettingsError::NoSandbox => setting.sandbox.as_ref().map(|layers| &layers.source),
        SettingsError::NeedsLinux(_) => None,
        SettingsError::OnlyGroups(_) => {
            let least = setting.min_containment.as_ref();
            least.map(|least| &least.source)
        }
        SettingsError::Bubblewrap(_) => setting.sandbox.as_ref().map(|layers| &layers.source),
    };
    let source = source.or(setting.kind.as_ref().map(|kind| &kind.source));
    match source {
        Some(source) => source.wrong(format!("in [shell], {error}")),
        None => ConfigError {
            file: PathBuf::from("library"),
            line: 0,
            what: format!("in [shell], {error}"),
        },
    }
}

/// Tells a model that the shell is guarded, before it asks for what does not run.
pub(super) fn say_guarded(config: &Config, built_in: bool, declaration: &mut Declaration) {
    if built_in && config.shell.is_guarded() && declaration.shell() == Some(ShellTarget::Run) {
        declaration.description.push_str(
            " The shell is guarded here: only commands that are known to read run (ls, cat, head, tail, grep, find, sort, wc and \
             the like), with plain flags and names inside the granted directories, joined by ; && || |; nothing can be written.",
        );
    }
}

/// The commands that tools may run without naming them in their calls.
///
/// # Errors
/// A pattern of the embedding program's that is none.
pub(super) fn grants(config: &Config) -> Result<ShellGrants, ConfigError> {
    let mut grants = ShellGrants {
        guarded: config.shell.is_guarded(),
        ..ShellGrants::default()
    };
    for tool in config.shell.granted.keys() {
        grants.patterns.insert(tool.clone(), Vec::new());
    }
    for (tool, patterns) in &config.shell.grants {
        let parsed = patterns.iter().map(|pattern| {
            let parsed = CommandPattern::parse(&pattern.value);
            parsed.map_err(|error| pattern.source.wrong(format!("in [shell.grants], {error}")))
        });
        grants
            .patterns
            .insert(tool.clone(), parsed.collect::<Result<_, _>>()?);
    }
    Ok(grants)
}
