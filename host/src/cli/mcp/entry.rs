//! What a client starts: this program, with the flags that were given.

use std::path::Path;

use anyhow::Context as _;

use crate::cli::args::{Level, Setup, ShellFlag};

/// See the module.
#[derive(Debug)]
pub(super) struct Entry {
    /// This program.
    pub(super) command: String,
    /// `serve` and its flags.
    pub(super) arguments: Vec<String>,
}

impl Entry {
    /// The server that these flags describe. Paths are made absolute: a client starts it from anywhere.
    ///
    /// # Errors
    /// A path is not UTF-8, so that no configuration can hold it.
    pub(super) fn of(setup: &Setup, workspace: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("the path of this program")?;
        let mut arguments = vec![
            "serve".to_owned(),
            "--workspace".to_owned(),
            text(workspace)?,
        ];
        let mut flag = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        for (name, paths) in [
            ("--config", &setup.config),
            ("--read", &setup.read),
            ("--write", &setup.write),
            ("--component", &setup.component),
        ] {
            for path in paths {
                flag(name, absolute(path)?);
            }
        }
        for (name, rules) in [
            ("--allow", &setup.allow),
            ("--ask", &setup.ask),
            ("--deny", &setup.deny),
        ] {
            for rule in rules {
                flag(name, rule.clone());
            }
        }
        if let Some(mode) = &setup.mode {
            flag("--mode", mode.clone());
        }
        if let Some(level) = setup.ceiling {
            let word = match level {
                Level::ReadOnly => "read-only",
                Level::Mutating => "mutating",
            };
            flag("--ceiling", word.to_owned());
        }
        if let Some(shell) = setup.shell {
            let word = match shell {
                ShellFlag::Local => "local",
                ShellFlag::Bubblewrap => "bubblewrap",
                ShellFlag::Docker => "docker",
                ShellFlag::Podman => "podman",
                ShellFlag::None => "none",
            };
            flag("--shell", word.to_owned());
        }
        if let Some(state) = &setup.state {
            flag("--state", absolute(state)?);
        }
        if setup.no_user_config {
            arguments.push("--no-user-config".to_owned());
        }
        Ok(Self {
            command: text(&program)?,
            arguments,
        })
    }
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    text(&std::path::absolute(path)?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("the path '{}' is not UTF-8", path.display()))
}
