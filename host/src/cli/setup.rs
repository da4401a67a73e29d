//! From flags and files to a host.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use toolgate::approval::{Fixed, Terminal};
use toolgate::config::{self, Config};
use toolgate::model::{CallOrigin, RawCall};
use toolgate::policy::{Decision, Rule};
use toolgate::{Host, HostBuilder};

use super::args::{CallArgs, Setup};
use super::render;

/// The most bytes of an input that are read from stdin; what is over, the parse gate refuses.
const MAX_STDIN: u64 = (1 << 20) + 1;

/// The host that the flags describe.
pub(crate) async fn host(setup: &Setup) -> anyhow::Result<Host> {
    Ok(builder(setup)?.build().await?)
}

/// The same, not built yet.
pub(crate) fn builder(setup: &Setup) -> anyhow::Result<HostBuilder> {
    let mut builder = Host::builder(&setup.workspace).config(config(setup)?);
    builder = match Terminal::is_there() {
        true => builder.approver(Terminal),
        false => builder.approver(Fixed::nobody()),
    };
    if let Some(state) = &setup.state {
        builder = builder.state_dir(state);
    }
    Ok(builder)
}

/// The user's configuration file, if there is a place for one.
pub(crate) fn user_file() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("toolgate").join("toolgate.toml"))
}

fn config(setup: &Setup) -> anyhow::Result<Config> {
    let user = user_file().filter(|file| !setup.no_user_config && file.exists());
    let files: Vec<PathBuf> = user
        .into_iter()
        .chain(setup.config.iter().cloned())
        .collect();
    note_project_file(&setup.workspace, &files);
    let mut config = config::load(&files)?;
    for (effect, rules) in [
        (Decision::Allow, &setup.allow),
        (Decision::Ask, &setup.ask),
        (Decision::Deny, &setup.deny),
    ] {
        for rule in rules {
            let parsed = Rule::parse(effect, rule, Path::new("command line"), 0);
            config
                .rules
                .push(parsed.with_context(|| format!("--{effect} '{rule}'"))?);
        }
    }
    if let Some(mode) = &setup.mode {
        config.mode = Some(mode.parse().context("--mode")?);
    }
    config.read.extend(setup.read.iter().cloned());
    config.write.extend(setup.write.iter().cloned());
    config.components.extend(setup.component.iter().cloned());
    Ok(config)
}

/// A file that lies in the workspace may be anybody's: it is only read when the person names it.
fn note_project_file(workspace: &Path, read: &[PathBuf]) {
    for name in [
        "toolgate.toml",
        ".toolgate/toolgate.toml",
        ".toolgate/config.toml",
    ] {
        let file = workspace.join(name);
        let named = read
            .iter()
            .any(|known| known.canonicalize().ok() == file.canonicalize().ok());
        if file.exists() && !named {
            render::note(&format!(
                "{} is not read: a workspace's own file grants nothing unless you name it with --config",
                file.display()
            ));
        }
    }
}

/// The call that the arguments describe.
pub(crate) fn call(call: &CallArgs) -> anyhow::Result<RawCall> {
    let input = if call.input == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .take(MAX_STDIN)
            .read_to_end(&mut bytes)
            .context("stdin")?;
        bytes
    } else {
        call.input.clone().into_bytes()
    };
    Ok(RawCall::new(&call.name, input).from_origin(CallOrigin::CommandLine))
}
