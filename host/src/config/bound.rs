//! What trust in a workspace's file is bound to beside its bytes: what it names inside the workspace.
//!
//! Programs, scripts and components are bound by their content, directories by where they really lie: a link that is put
//! in the place of a granted directory would widen the grant. What such a program loads on its own is not bound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::read_once;
use super::settings::{Config, HookRun};
use crate::policy::fold;

/// Absolute path to what it is now.
pub(super) type Bound = BTreeMap<PathBuf, String>;

/// What is not there.
const ABSENT: &str = "absent";

/// What a file's configuration names inside the workspace.
///
/// # Errors
/// Something of it cannot be read, so that trust could not be bound to it.
pub(super) fn bound(config: &Config, file: &Path, workspace: &Path) -> Result<Bound, ConfigError> {
    let inside = Inside { workspace, file };
    let mut bound = Bound::new();
    for hook in &config.hooks {
        match &hook.run {
            HookRun::Command { command, .. } => inside.command(&mut bound, command)?,
            HookRun::Component { file } => inside.content(&mut bound, file)?,
        }
    }
    if let Some(program) = &config.approval.program {
        inside.command(&mut bound, &program.value)?;
    }
    for component in &config.components {
        inside.content(&mut bound, &component.value)?;
    }
    for directory in config.read.iter().chain(&config.write) {
        inside.directory(&mut bound, &directory.value);
    }
    Ok(bound)
}

struct Inside<'a> {
    workspace: &'a Path,
    file: &'a Path,
}

impl Inside<'_> {
    /// Whether a path lies in the workspace, as it is written or where it leads.
    fn has(&self, path: &Path) -> bool {
        let leads = path.canonicalize();
        fold(self.workspace, path).starts_with(self.workspace)
            || leads.is_ok_and(|leads| leads.starts_with(self.workspace))
    }

    /// The program, if it has a path; and every further word that names a file, as an interpreter's script does.
    fn command(&self, bound: &mut Bound, command: &[String]) -> Result<(), ConfigError> {
        let Some((program, words)) = command.split_first() else {
            return Ok(());
        };
        if program.contains('/') {
            self.content(bound, Path::new(program))?;
        }
        let folder = self.file.parent().unwrap_or(self.workspace);
        let started_in = std::env::current_dir().ok();
        let bases = [Some(self.workspace), Some(folder), started_in.as_deref()];
        for word in words {
            for base in bases.into_iter().flatten() {
                let path = fold(base, Path::new(word));
                if path.is_file() {
                    self.content(bound, &path)?;
                }
            }
        }
        Ok(())
    }

    fn content(&self, bound: &mut Bound, path: &Path) -> Result<(), ConfigError> {
        if !self.has(path) {
            return Ok(());
        }
        let now = read_once::digest(path).map_err(|what| ConfigError {
            file: self.file.to_owned(),
            line: 0,
            what: format!("names '{}', which {what}", path.display()),
        })?;
        let now = now.map_or(ABSENT.to_owned(), |digest| format!("sha256:{digest}"));
        bound.insert(fold(self.workspace, path), now);
        Ok(())
    }

    fn directory(&self, bound: &mut Bound, path: &Path) {
        if self.has(path) {
            let now = match path.canonicalize() {
                Ok(real) => format!("at {}", real.display()),
                Err(_) => ABSENT.to_owned(),
            };
            bound.insert(fold(self.workspace, path), now);
        }
    }
}
