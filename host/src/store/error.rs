//! What keeps a component out of the store.

use std::io;
use std::path::{Path, PathBuf};

use super::fetch::FetchError;
use super::name::NameRefusal;
use super::signature::SignatureError;
use crate::runtime::ComponentError;
use crate::state::StateError;

/// See the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The state directory.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file of the store.
    #[error("the store's file '{}': {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// A file of the store that this version does not understand.
    #[error("{}:{line}: {what}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// Getting the component.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Its signature.
    #[error("{origin}: {error}")]
    Signature {
        /// Where the component comes from.
        origin: String,
        /// What is wrong.
        error: SignatureError,
    },
    /// The component.
    #[error("{origin}: {error}")]
    Component {
        /// Where it comes from.
        origin: String,
        /// What is wrong.
        error: ComponentError,
    },
    /// Its name.
    #[error(transparent)]
    Name(#[from] NameRefusal),
    /// It is not what was asked for.
    #[error(
        "{origin}: the digest is sha256:{found}, and {by} says sha256:{pinned}: this is not the component that was meant"
    )]
    Pinned {
        /// Where it comes from.
        origin: String,
        /// The digest that it has.
        found: String,
        /// The one that it should have.
        pinned: String,
        /// Who says so.
        by: String,
    },
    /// The store changed between the question and the answer.
    #[error(
        "another process changed the store meanwhile, and nothing is installed: run the command again"
    )]
    Changed,
    /// No such tool.
    #[error("no installed tool is called '{0}'.{1}")]
    NotInstalled(String, String),
    /// Nobody signed it who has to.
    #[error("{name} is signed by no key of the store, and {by} requires a signature: {what}")]
    Unsigned {
        /// The tool, or the file.
        name: String,
        /// Where that stands.
        by: String,
        /// What is known of its signature, and what to do.
        what: String,
    },
}

impl StoreError {
    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            error,
        }
    }
}
