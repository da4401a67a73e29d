//! What trust in a workspace's file is bound to beside its bytes: what it has run, and what it grants.
//!
//! Programs (found in the search path too), scripts and components that lie in the workspace are bound by their content,
//! granted directories by where they really lie: a link that is put in the place of one would widen the grant. What a
//! script loads on its own is not bound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ConfigError;
use super::egress::SecretOrigin;
use super::mcp::{McpReach, McpServer};
use super::read_once;
use super::runs::Runs;
use super::settings::{Config, HookRun};
use super::source::{Source, Sourced};
use crate::policy::fold;

/// Absolute path to what it is now.
pub(super) type Bound = BTreeMap<PathBuf, String>;

/// What stands before a directory's real path.
const DIRECTORY: &str = "at ";
/// What is not there.
const ABSENT: &str = "absent";

/// What a file's configuration names inside the workspace. Each hook and the approval program keep their part of it, to
/// be compared again before each run.
///
/// # Errors
/// Something of it cannot be read, or runs what cannot be looked through, so that trust could not be bound to it.
pub(super) fn bind(config: &mut Config, file: &Path, workspace: &Path) -> Result<(), ConfigError> {
    let inside = Inside { workspace, file };
    let mut all = Bound::new();
    for hook in &mut config.hooks {
        let mut bound = Bound::new();
        match &hook.run {
            HookRun::Command { command, .. } => {
                inside.command(&mut bound, command, &hook.source)?;
            }
            HookRun::Component { file } => inside.content(&mut bound, file)?,
        }
        all.extend(bound.clone());
        hook.bound = bound;
    }
    if let Some(program) = &config.approval.program {
        let mut bound = Bound::new();
        inside.command(&mut bound, &program.value, &program.source)?;
        all.extend(bound.clone());
        config.approval.bound = bound;
    }
    for Sourced { value, source } in config.secrets.values() {
        if let SecretOrigin::Command(command) = &value.from {
            inside.command(&mut all, command, source)?;
        }
    }
    if let Some(file) = &config.egress.ca_file {
        inside.content(&mut all, &file.value)?;
    }
    for server in config.mcp.values_mut() {
        let mut bound = Bound::new();
        let McpServer { reach, .. } = &server.value;
        if let McpReach::Command {
            command,
            read,
            write,
            ..
        } = reach
        {
            inside.command(&mut bound, command, &server.source)?;
            for directory in read.iter().chain(write) {
                inside.directory(&mut bound, &directory.value);
            }
        }
        all.extend(bound.clone());
        server.value.bound = bound;
    }
    for component in &config.components {
        inside.content(&mut all, &component.value)?;
    }
    for directory in config.read.iter().chain(&config.write) {
        inside.directory(&mut all, &directory.value);
    }
    config.bound = all;
    Ok(())
}

/// Whether everything is still what it was when it was bound.
///
/// # Errors
/// What is not, for people.
pub fn unchanged(bound: &BTreeMap<PathBuf, String>) -> Result<(), String> {
    for (path, was) in bound {
        let now = match was.starts_with(DIRECTORY) {
            true => Ok(leads(path)),
            false => now(path),
        };
        let now = now.map_err(|what| format!("'{}' {what}", path.display()))?;
        if now != *was {
            return Err(format!("'{}' changed since it was trusted", path.display()));
        }
    }
    Ok(())
}

/// Whether the bytes of a file are those that were bound, if it was bound.
///
/// # Errors
/// They are not, for people.
pub fn same_bytes(
    bound: &BTreeMap<PathBuf, String>,
    path: &Path,
    bytes: &[u8],
) -> Result<(), String> {
    let base = std::env::current_dir().unwrap_or_default();
    match bound.get(&fold(&base, path)) {
        Some(was) if *was != content_of(&read_once::digest_of(bytes)) => {
            Err(format!("'{}' changed since it was trusted", path.display()))
        }
        Some(_) | None => Ok(()),
    }
}

fn content_of(digest: &str) -> String {
    format!("sha256:{digest}")
}

/// What a file is now.
fn now(path: &Path) -> Result<String, String> {
    let digest = read_once::digest(path)?;
    Ok(digest.map_or(ABSENT.to_owned(), |digest| content_of(&digest)))
}

/// Where a directory is now.
fn leads(path: &Path) -> String {
    match path.canonicalize() {
        Ok(real) => format!("{DIRECTORY}{}", real.display()),
        Err(_) => ABSENT.to_owned(),
    }
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

    /// The program, and every word that names a script.
    fn command(
        &self,
        bound: &mut Bound,
        command: &[String],
        source: &Source,
    ) -> Result<(), ConfigError> {
        let folder = self.file.parent().unwrap_or(self.workspace);
        let mut bases = vec![self.workspace.to_owned(), folder.to_owned()];
        bases.extend(std::env::current_dir());
        let runs = Runs::of(command, &bases);
        if let Some(doubt) = runs.doubt {
            return Err(source.wrong(format!(
                "what the command '{}' runs cannot be bound, so that a workspace's file may not have it: {doubt}. Name \
                 the program and its script as a list of words, or put it into your own configuration",
                command.join(" ")
            )));
        }
        for path in runs.files.iter().chain(&runs.absent) {
            self.content(bound, path)?;
        }
        Ok(())
    }

    fn content(&self, bound: &mut Bound, path: &Path) -> Result<(), ConfigError> {
        if !self.has(path) {
            return Ok(());
        }
        let now = now(path).map_err(|what| ConfigError {
            file: self.file.to_owned(),
            line: 0,
            what: format!("names '{}', which {what}", path.display()),
        })?;
        bound.insert(fold(self.workspace, path), now);
        Ok(())
    }

    /// Inside or outside: what a link in its path is made to lead to is what would be granted.
    fn directory(&self, bound: &mut Bound, path: &Path) {
        bound.insert(fold(self.workspace, path), leads(path));
    }
}
