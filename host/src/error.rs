//! What fails outside of a call: building the host.

use std::path::PathBuf;

use crate::approval::{QueueError, StandingError};
use crate::config::ConfigError;
use crate::gate::RegistrationError;
use crate::journal::JournalError;
use crate::policy::PolicyError;
use crate::runtime::{ComponentError, EngineError};
use crate::state::StateError;
use crate::store::StoreError;

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The rules, all that are wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Policy(Vec<PolicyError>),
    /// A directory that should be granted.
    #[error("the directory '{}' cannot be granted: {error}", .path.display())]
    Directory {
        /// As it was named.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The workspace.
    #[error("the workspace '{}' cannot be opened: {error}", .path.display())]
    Workspace {
        /// As it was named.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Nowhere to keep the journal and long outputs.
    #[error(
        "there is no home directory for the journal and long outputs: name a directory with --state"
    )]
    NoHome,
    /// A component.
    #[error("{}: {error}", .path.display())]
    Component {
        /// The file, or the built-in tool's name.
        path: PathBuf,
        /// Why.
        error: ComponentError,
    },
    /// A component file that cannot be read.
    #[error("{}: cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Two tools whose names are the same, or look alike.
    #[error(
        "the tools '{one}' ({one_origin}) and '{other}' ({other_origin}) have names that are the same or look alike: leave one of them out"
    )]
    Names {
        /// The first one's name.
        one: String,
        /// Where it comes from.
        one_origin: String,
        /// The other one's name.
        other: String,
        /// Where that comes from.
        other_origin: String,
    },
    /// Two tools of a name, or a schema that does not hold.
    #[error(transparent)]
    Registration(#[from] RegistrationError),
    /// The approval queue.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The standing answers.
    #[error(transparent)]
    Standing(#[from] StandingError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The state directory, which anybody else could have written.
    #[error(transparent)]
    State(#[from] StateError),
    /// Installed tools.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The spill store.
    #[error("the spill store {} cannot be opened: {error}", .path.display())]
    Spill {
        /// Its folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}
