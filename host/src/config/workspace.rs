//! The files of a workspace, which may be anybody's: found, read once, and in force only if the person trusts them.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::ConfigError;
use super::bound::bind;
use super::merge;
use super::places::{LOCAL_FILE, PROJECT_FILES};
use super::read_once::{self, Content, Unusable};
use super::settings::Config;
use super::source::Layer;
use super::trust::{TrustStore, Trusted};

/// A file of a workspace, as it was when it was read.
#[derive(Clone, Debug)]
pub struct WorkspaceFile {
    /// Project or local.
    pub layer: Layer,
    /// Its path, on the workspace's real one.
    pub file: PathBuf,
    workspace: PathBuf,
    content: Result<Content, String>,
}

/// What a file would set, and what trust in it would be bound to.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What the file says, alone.
    pub config: Config,
}

impl Preview {
    /// What it names inside the workspace, each with what it is now: `sha256:…` of a file, `at …` of a directory, or
    /// `absent`.
    pub fn named(&self) -> impl Iterator<Item = (&Path, &str)> {
        let named = self.config.bound.iter();
        named.map(|(path, now)| (path.as_path(), now.as_str()))
    }
}

/// A file of a workspace that sets nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotInForce {
    /// Project or local.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub why: WhyNot,
}

/// Why a file of a workspace sets nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum WhyNot {
    /// Nobody has trusted it.
    NeverTrusted,
    /// Its bytes are others than those that were trusted.
    Changed {
        /// When they were trusted.
        trusted_at: Timestamp,
    },
    /// Something that it names inside the workspace is not what it was.
    NamedChanged {
        /// What.
        path: PathBuf,
        /// When it was trusted.
        trusted_at: Timestamp,
    },
    /// It cannot be used, and so not be trusted.
    Unusable {
        /// What is wrong with it.
        what: String,
    },
}

impl WhyNot {
    /// Whether trusting the file as it is now would put it into force.
    pub fn can_be_trusted(&self) -> bool {
        match self {
            Self::NeverTrusted | Self::Changed { .. } | Self::NamedChanged { .. } => true,
            Self::Unusable { .. } => false,
        }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverTrusted => f.write_str("nobody has trusted it"),
            Self::Changed { trusted_at } => {
                write!(f, "it changed since you trusted it on {}", day(*trusted_at))
            }
            Self::NamedChanged { path, trusted_at } => write!(
                f,
                "'{}', which it names, changed since you trusted it on {}",
                path.display(),
                day(*trusted_at)
            ),
            Self::Unusable { what } => write!(f, "it {what}"),
        }
    }
}

impl fmt::Display for NotInForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}) is not in force: {}",
            self.file.display(),
            self.layer,
            self.why
        )
    }
}

/// `2026-11-30 06:03 UTC`.
fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// The files that a workspace has, project before local, without those that are named in another way (`named`). Of two
/// project files, neither can be used.
pub(super) fn files(workspace: &Path, named: &[PathBuf]) -> Vec<WorkspaceFile> {
    // A workspace that cannot be opened has no files; whoever opens it as a workspace says why.
    let Ok(workspace) = workspace.canonicalize() else {
        return Vec::new();
    };
    let find = |layer, below: &str| {
        let file = workspace.join(below);
        let content = match read_once::workspace_file(&workspace, below) {
            Ok(content) => Ok(content),
            Err(Unusable::Absent) => return None,
            Err(Unusable::Wrong(what)) => Err(what),
        };
        let real = file.canonicalize().ok();
        let elsewhere = |other: &PathBuf| real.is_some() && other.canonicalize().ok() == real;
        (!named.iter().any(elsewhere)).then(|| WorkspaceFile {
            layer,
            file,
            workspace: workspace.clone(),
            content,
        })
    };
    let mut files: Vec<WorkspaceFile> = PROJECT_FILES
        .into_iter()
        .filter_map(|below| find(Layer::Project, below))
        .collect();
    // Which of them counts must not be a matter of names; and what nobody trusts cannot stop the start.
    let names: Vec<PathBuf> = files.iter().map(|file| file.file.clone()).collect();
    if names.len() > 1 {
        for file in &mut files {
            let other = names.iter().find(|name| **name != file.file);
            let other = other.unwrap_or(&file.file);
            file.content = Err(format!(
                "is one of two project files, and '{}' is the other: keep one",
                other.display()
            ));
        }
    }
    files.extend(find(Layer::Local, LOCAL_FILE));
    files
}

/// Every path at which a workspace's file may stand.
pub(super) fn possible(workspace: &Path) -> impl Iterator<Item = PathBuf> {
    PROJECT_FILES
        .into_iter()
        .chain([LOCAL_FILE])
        .map(|below| workspace.join(below))
}

impl WorkspaceFile {
    /// SHA-256 of its bytes, hexadecimal; none if it cannot be used.
    pub fn digest(&self) -> Option<&str> {
        self.content
            .as_ref()
            .ok()
            .map(|content| content.digest.as_str())
    }

    /// What it would set. Reading it puts nothing into force and runs nothing.
    ///
    /// # Errors
    /// It cannot be used, or something in it is wrong.
    pub fn preview(&self) -> Result<Preview, ConfigError> {
        let content = self.content.as_ref().map_err(|what| self.wrong(what))?;
        let mut config = Config::default();
        merge::add(&mut config, self.layer, &self.file, &content.text)?;
        bind(&mut config, &self.file, &self.workspace)?;
        Ok(Preview { config })
    }

    /// Why it would not be in force with what a store trusts; none: it would.
    ///
    /// # Errors
    /// It is trusted, and something in it is wrong.
    pub fn standing(&self, store: &TrustStore) -> Result<Option<NotInForce>, ConfigError> {
        let why = self.judge(store.get(&self.file))?.err();
        Ok(why.map(|why| NotInForce {
            layer: self.layer,
            file: self.file.clone(),
            why,
        }))
    }

    /// What it sets, if it is what was trusted; or why it sets nothing.
    pub(super) fn judge(
        &self,
        trusted: Option<&Trusted>,
    ) -> Result<Result<Preview, WhyNot>, ConfigError> {
        let content = match &self.content {
            Ok(content) => content,
            Err(what) => return Ok(Err(WhyNot::Unusable { what: what.clone() })),
        };
        let Some(trusted) = trusted else {
            return Ok(Err(WhyNot::NeverTrusted));
        };
        let trusted_at = trusted.trusted_at;
        if trusted.sha256 != content.digest {
            return Ok(Err(WhyNot::Changed { trusted_at }));
        }
        let preview = self.preview()?;
        let now = &preview.config.bound;
        let paths = now.keys().chain(trusted.named.keys());
        let mut changed = paths.filter(|path| now.get(*path) != trusted.named.get(*path));
        let changed = changed.next().cloned();
        Ok(match changed {
            Some(path) => Err(WhyNot::NamedChanged { path, trusted_at }),
            None => Ok(preview),
        })
    }

    /// Adds what it says, with what it was found to be bound to.
    pub(super) fn add_to(&self, config: &mut Config, preview: &Preview) -> Result<(), ConfigError> {
        let content = self.content.as_ref().map_err(|what| self.wrong(what))?;
        let known = config.hooks.len();
        merge::add(config, self.layer, &self.file, &content.text)?;
        let own = config.hooks.iter_mut().skip(known);
        for (hook, seen) in own.zip(&preview.config.hooks) {
            hook.bound = seen.bound.clone();
        }
        let program = config.approval.program.as_ref();
        if program.is_some_and(|program| program.source.file == self.file) {
            config.approval.bound = preview.config.approval.bound.clone();
        }
        for (name, server) in &mut config.mcp {
            if server.source.file == self.file
                && let Some(seen) = preview.config.mcp.get(name)
            {
                server.value.bound = seen.value.bound.clone();
            }
        }
        config.bound.extend(preview.config.bound.clone());
        Ok(())
    }

    fn wrong(&self, what: &str) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            line: 0,
            what: what.to_owned(),
        }
    }
}
