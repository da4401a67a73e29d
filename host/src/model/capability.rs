//! Capabilities: what a tool asks for. Asking grants nothing.

use std::fmt;

use serde::Serialize;

use super::visible::hides;

/// How much of the file view a tool asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileScope {
    /// Only what the call's subject names.
    Subject,
    /// All the roots that the operator granted.
    Workspace,
}

/// What of the shell a tool asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShellTarget {
    /// Running commands, also as tasks.
    Run,
    /// Tasks that somebody else started: listing and reading them, and for a mutating tool stopping them.
    Tasks,
}

impl ShellTarget {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Tasks => "tasks",
        }
    }
}

/// One kind of reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityKind {
    /// Reading files.
    FsRead(FileScope),
    /// Reading and writing files.
    FsWrite(FileScope),
    /// Requests to URLs that match the pattern.
    Net(String),
    /// One environment variable.
    Env(String),
    /// Whether a named secret exists; its value is injected by the host.
    Secret(String),
    /// Commands.
    Shell(ShellTarget),
    /// The tool's own key-value store.
    Store,
    /// The wall clock as it is.
    ClockReal,
}

impl CapabilityKind {
    /// Whether it is about files: does it write, and how much of the view does it ask for?
    pub fn files(&self) -> Option<(bool, FileScope)> {
        match self {
            Self::FsRead(scope) => Some((false, *scope)),
            Self::FsWrite(scope) => Some((true, *scope)),
            Self::Net(_)
            | Self::Env(_)
            | Self::Secret(_)
            | Self::Shell(_)
            | Self::Store
            | Self::ClockReal => None,
        }
    }
}

/// One capability that a tool asks for, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// What is asked for.
    pub kind: CapabilityKind,
    /// Why, for the person who grants it.
    pub reason: String,
    /// Whether the tool is of use without it.
    pub optional: bool,
}

/// Why a declared capability cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapabilityError {
    /// A kind that this host does not know.
    #[error("needs the capability '{}', unknown to this host", .0.escape_debug())]
    UnknownKind(String),
    /// A target that the kind does not take.
    #[error("the capability '{kind}' cannot have the target '{}': {hint}", .target.escape_debug())]
    BadTarget {
        /// The kind.
        kind: &'static str,
        /// What was written.
        target: String,
        /// What may be written.
        hint: &'static str,
    },
    /// The reason's length or characters.
    #[error(
        "the reason of the capability '{0}' is longer than 500 characters, of several lines, or holds what a reader does not see"
    )]
    Reason(String),
}

/// The longest reason, characters: a person reads it.
const MAX_REASON: usize = 500;

impl Capability {
    /// Reads a declared capability.
    ///
    /// # Errors
    /// An unknown kind, a target that the kind does not take, or a reason that a person cannot read as it is.
    pub fn parse(
        kind: &str,
        target: &str,
        reason: &str,
        optional: bool,
    ) -> Result<Self, CapabilityError> {
        if reason.chars().count() > MAX_REASON || reason.contains('\n') || hides(reason) {
            return Err(CapabilityError::Reason(kind.chars().take(64).collect()));
        }
        let kind = match kind {
            "fs-read" => CapabilityKind::FsRead(file_scope("fs-read", target)?),
            "fs-write" => CapabilityKind::FsWrite(file_scope("fs-write", target)?),
            "net" => CapabilityKind::Net(named("net", target)?),
            "env" => CapabilityKind::Env(named("env", target)?),
            "secret" => CapabilityKind::Secret(named("secret", target)?),
            "shell" => CapabilityKind::Shell(shell_target(target)?),
            "store" => CapabilityKind::Store,
            "clock-real" => CapabilityKind::ClockReal,
            other => {
                return Err(CapabilityError::UnknownKind(
                    other.chars().take(64).collect(),
                ));
            }
        };
        Ok(Self {
            kind,
            reason: reason.to_owned(),
            optional,
        })
    }
}

fn file_scope(kind: &'static str, target: &str) -> Result<FileScope, CapabilityError> {
    match target {
        "subject" => Ok(FileScope::Subject),
        "workspace" => Ok(FileScope::Workspace),
        _ => Err(CapabilityError::BadTarget {
            kind,
            target: target.chars().take(128).collect(),
            hint: "it is 'subject' or 'workspace'",
        }),
    }
}

fn shell_target(target: &str) -> Result<ShellTarget, CapabilityError> {
    match target {
        "run" => Ok(ShellTarget::Run),
        "tasks" => Ok(ShellTarget::Tasks),
        _ => Err(CapabilityError::BadTarget {
            kind: "shell",
            target: target.chars().take(128).collect(),
            hint: "it is 'run' or 'tasks'",
        }),
    }
}

fn named(kind: &'static str, target: &str) -> Result<String, CapabilityError> {
    if target.is_empty() || target == "*" {
        return Err(CapabilityError::BadTarget {
            kind,
            target: target.to_owned(),
            hint: "it names what it asks for",
        });
    }
    Ok(target.to_owned())
}

impl fmt::Display for CapabilityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = |scope: &FileScope| match scope {
            FileScope::Subject => "subject",
            FileScope::Workspace => "workspace",
        };
        match self {
            Self::FsRead(of) => write!(f, "fs-read:{}", scope(of)),
            Self::FsWrite(of) => write!(f, "fs-write:{}", scope(of)),
            Self::Net(pattern) => write!(f, "net:{pattern}"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::Secret(name) => write!(f, "secret:{name}"),
            Self::Shell(target) => write!(f, "shell:{}", target.as_str()),
            Self::Store => f.write_str("store"),
            Self::ClockReal => f.write_str("clock-real"),
        }
    }
}
