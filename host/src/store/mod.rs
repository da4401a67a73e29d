//! The component store: tools that a person installed, exactly the bytes that they consented to.
//!
//! Owns the lock file, the blobs under their digests, the kept declarations, the publishers' keys, and the ways to get a
//! component. Guarantees that nothing is installed half: the lock is written last, in one step, and everything else only
//! serves it. Never grants anything: what a tool may reach is for rules and settings to say, and what those say of a tool
//! holds for the bytes that were there when the person said so.

mod candidate;
mod change;
mod commit;
mod cosign;
mod credentials;
mod declared;
mod error;
mod fetch;
mod files;
mod keys;
mod lock;
mod name;
mod oci;
mod pinned;
mod signature;

use std::path::{Path, PathBuf};

pub use candidate::{Candidate, Choice, Step};
pub use commit::Grants;
pub use error::StoreError;
pub use fetch::{FetchError, Fetched, Registries, RegistryAccess, Source};
pub use keys::{KeyError, Keys, Known, PublicKey};
pub use lock::{Entry, Lock, Removed};
pub use name::{NameRefusal, Publisher, QualifiedName};
pub use pinned::{Reach, is_signed};
pub use signature::{SignatureError, Signed, file as signature_file, message as signed_message};

use self::declared::Declared;
use self::files::sha256;
use crate::model::{Declaration, suggestion};
use crate::runtime::{self, AnyComponent, ComponentError, ToolEngine};
use crate::state;

/// The store's folder in the state directory.
const FOLDER: &str = "store";

/// See the module.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// An installed tool on its way into a host. Its code is loaded at its first call.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its name.
    pub name: QualifiedName,
    /// What the lock says of it.
    pub entry: Entry,
    /// What it says of itself, under its published name.
    pub declaration: Declaration,
    /// It computes subjects.
    pub computes_subjects: bool,
    /// It is of no use without a shell.
    pub needs_shell: bool,
    /// It is a function of a plain component: what it reaches is what the operator grants.
    pub plain: bool,
    /// The component.
    pub component: runtime::Source,
}

impl Store {
    /// The store in a state directory, made where there is none.
    ///
    /// # Errors
    /// A folder of it is not the user's alone, or cannot be made.
    pub fn open(state: &Path) -> Result<Self, StoreError> {
        state::open(state)?;
        let folder = state.join(FOLDER);
        for folder in [&folder, &folder.join("blobs"), &folder.join("declarations")] {
            state::open(folder)?;
        }
        Ok(Self { folder })
    }

    /// The store in a state directory, if there is one.
    ///
    /// # Errors
    /// Its folder is not the user's alone.
    pub fn existing(state: &Path) -> Result<Option<Self>, StoreError> {
        let folder = state.join(FOLDER);
        state::check(&folder)?;
        Ok(folder.is_dir().then_some(Self { folder }))
    }

    /// Its lock file.
    pub fn lock_file(&self) -> PathBuf {
        Lock::file(&self.folder)
    }

    /// What is installed.
    ///
    /// # Errors
    /// The lock cannot be read or understood.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        Lock::read(&self.lock_file())
    }

    /// The publishers' keys.
    ///
    /// # Errors
    /// Their file cannot be read or understood.
    pub fn keys(&self) -> Result<Keys, StoreError> {
        Keys::read(&self.folder)
    }

    /// The file of a component of this digest, if it is there and is what it should be.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.blob_file(digest);
        let bytes = files::read(&path, runtime::MAX_COMPONENT as u64)?;
        Ok(bytes.filter(|bytes| sha256(bytes) == digest))
    }

    fn blob_file(&self, digest: &str) -> PathBuf {
        self.folder.join("blobs").join(format!("{digest}.wasm"))
    }

    /// The installed tool of a published or qualified name.
    ///
    /// # Errors
    /// There is none, or the lock cannot be read.
    pub fn find(&self, name: &str) -> Result<(QualifiedName, Entry), StoreError> {
        let lock = self.lock()?;
        let found = lock
            .find(name)
            .map(|(name, entry)| (name.clone(), entry.clone()));
        found.ok_or_else(|| {
            let known: Vec<String> = lock
                .tools()
                .flat_map(|(name, _)| [name.to_string(), name.published().to_string()])
                .collect();
            let nearest = suggestion(name, known.iter().map(String::as_str));
            StoreError::NotInstalled(name.to_owned(), nearest)
        })
    }

    /// All installed tools, with what they declared when they were installed. One whose declaration is lost, or is of
    /// another contract, is asked again; nothing else is run or compiled.
    ///
    /// # Errors
    /// The lock cannot be read, or a component that has to be asked again is not there.
    pub async fn installed(&self, engine: &ToolEngine) -> Result<Vec<Installed>, StoreError> {
        let mut installed = Vec::new();
        for (name, entry, declared) in declared::all(&self.folder)? {
            let component = runtime::Source::Stored {
                digest: entry.digest.clone(),
                file: self.blob_file(&entry.digest),
            };
            let wrong = |error: ComponentError| StoreError::Component {
                origin: name.to_string(),
                error,
            };
            let declared = match declared {
                Some(declared) => declared,
                None => {
                    let asked = asked(engine, component.clone()).await.map_err(wrong)?;
                    let mut ours = asked.into_iter();
                    let ours = ours.find(|(_, declaration)| declaration.name == *name.tool());
                    ours.ok_or_else(|| wrong(ComponentError::NotATool))?.0
                }
            };
            let (computes_subjects, needs_shell) =
                (declared.computes_subjects, declared.needs_shell);
            let plain = declared.plain;
            let declaration = declared.declaration(name.published());
            installed.push(Installed {
                declaration: declaration.map_err(|error| wrong(error.into()))?,
                name,
                entry,
                computes_subjects,
                needs_shell,
                plain,
                component,
            });
        }
        Ok(installed)
    }

    /// Who signed a component file, as the file `FILE.sig` beside it shows to the keys of the store.
    ///
    /// # Errors
    /// It is signed by a known key and not what was signed.
    pub fn who_signed(&self, file: &Path, component: &[u8]) -> Result<Signed, StoreError> {
        fetch::signed(file, &sha256(component), &self.keys()?)
    }
}

/// Loads a component and asks it what it is: one tool, or of a plain component each function that can be one.
async fn asked(
    engine: &ToolEngine,
    source: runtime::Source,
) -> Result<Vec<(Declared, Declaration)>, ComponentError> {
    let on = engine.clone();
    let loading = tokio::task::spawn_blocking(move || AnyComponent::load(&on, source)).await;
    let component = loading.map_err(|panicked| ComponentError::Invalid(panicked.to_string()))??;
    match component {
        AnyComponent::Tool(component) => {
            let declaration = component.describe().await?;
            Ok(vec![(Declared::of(&component, &declaration), declaration)])
        }
        AnyComponent::Plain(component) => {
            let functions = component.functions().iter();
            let declared = functions.map(|function| {
                let declaration = function.declaration()?;
                Ok((Declared::of_function(&declaration), declaration))
            });
            declared.collect()
        }
    }
}
