//! Getting components: from a file, a directory, or a registry; with what is known of who signed them.

use std::path::{Path, PathBuf};

use super::files::sha256;
use super::keys::Keys;
use super::lock::is_digest;
use super::signature::{self, SignatureError, Signed};
use super::{StoreError, oci};
use crate::runtime::read_component;
use crate::state;

pub use super::oci::{Registries, RegistryAccess};

/// The most components of one directory.
const MAX_COMPONENTS: usize = 1_000;
/// What a reference to a registry begins with.
const OCI: &str = "oci://";

/// Where components come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A component file, with `FILE.sig` beside it if it is signed.
    File(PathBuf),
    /// All `*.wasm` of a directory.
    Directory(PathBuf),
    /// `oci://HOST/REPOSITORY:TAG@sha256:…`, without the beginning. The tag or the digest may be left out.
    Oci(String),
}

/// A component that was got.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where from, as it is written into the lock.
    pub source: String,
    /// Of one from a registry: the digest of its manifest, `sha256:…`.
    pub manifest: Option<String>,
    /// Who signed it.
    pub signed: Signed,
}

/// Why a component was not got.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A text that names no source.
    #[error("'{text}' cannot be installed: {what}")]
    Source {
        /// The text.
        text: String,
        /// What is wrong.
        what: String,
    },
    /// A file.
    #[error("'{}' cannot be read: {error}", .path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A directory without components, or with too many.
    #[error("the directory '{}' {what}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// Nobody may be asked.
    #[error("'{0}' is not in the store, and --offline asks no registry for it")]
    Offline(String),
    /// A registry.
    #[error("{reference}: {what}")]
    Registry {
        /// What was asked for.
        reference: String,
        /// What went wrong, and what to do.
        what: String,
    },
}

impl Source {
    /// Reads what a person wrote: a path, or `oci://…`.
    ///
    /// # Errors
    /// It is neither, or nothing is there.
    pub fn read(text: &str) -> Result<Self, FetchError> {
        if let Some(reference) = text.strip_prefix(OCI) {
            oci::reference(reference)?;
            return Ok(Self::Oci(reference.to_owned()));
        }
        let wrong = |what: String| FetchError::Source {
            text: text.to_owned(),
            what,
        };
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(wrong(format!(
                "'{scheme}://' is no source: it is a file, a directory, or oci://HOST/REPOSITORY:TAG"
            )));
        }
        let path = Path::new(text);
        let found = path.canonicalize().map_err(|error| FetchError::File {
            path: path.to_owned(),
            error,
        })?;
        match found.is_dir() {
            true => Ok(Self::Directory(found)),
            false => Ok(Self::File(found)),
        }
    }

    /// Gets the component, or all components of a directory. A registry is asked for at most 5 minutes; a component has at
    /// most 32 MiB.
    ///
    /// # Errors
    /// Something cannot be got, or is signed by a known key and not what was signed.
    pub async fn fetch(
        &self,
        registries: &Registries,
        keys: &Keys,
    ) -> Result<Vec<Fetched>, StoreError> {
        match self {
            Self::File(path) => Ok(vec![file(path, keys)?]),
            Self::Directory(folder) => components(folder)?
                .iter()
                .map(|path| file(path, keys))
                .collect(),
            Self::Oci(reference) => {
                let fetched = oci::fetch(reference, registries, keys).await?;
                Ok(vec![fetched])
            }
        }
    }
}

fn components(folder: &Path) -> Result<Vec<PathBuf>, FetchError> {
    let failed = |error: std::io::Error| FetchError::File {
        path: folder.to_owned(),
        error,
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|name| name == "wasm") && path.is_file() {
            found.push(path);
        }
        if found.len() > MAX_COMPONENTS {
            let what = "has more than 1,000 components";
            let path = folder.to_owned();
            return Err(FetchError::Directory { path, what });
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(FetchError::Directory {
            path: folder.to_owned(),
            what: "has no *.wasm",
        }),
        false => Ok(found),
    }
}

fn file(path: &Path, keys: &Keys) -> Result<Fetched, StoreError> {
    let bytes = read_component(path).map_err(|error| FetchError::File {
        path: path.to_owned(),
        error,
    })?;
    Ok(Fetched {
        signed: signed(path, &sha256(&bytes), keys)?,
        source: path.display().to_string(),
        manifest: None,
        bytes,
    })
}

/// Who signed the component in a file, as the file `FILE.sig` beside it shows.
pub(super) fn signed(path: &Path, digest: &str, keys: &Keys) -> Result<Signed, StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".sig");
    let beside = PathBuf::from(beside);
    let read = state::read_any(&beside, signature::MAX_FILE);
    let Some(text) = read.map_err(|error| StoreError::file(&beside, error))? else {
        return Ok(Signed::Nobody);
    };
    signature::verify(&text, digest, keys).map_err(|error: SignatureError| StoreError::Signature {
        origin: beside.display().to_string(),
        error,
    })
}

/// The digest that a text pins: `sha256:…`, or its digits alone.
pub(super) fn pinned(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    is_digest(digits).then_some(digits)
}
