//! Installing exactly what a lock pins: from the store's own blobs, or from where the lock says.

use std::path::Path;

use super::candidate::{Candidate, Choice};
use super::commit::says_unsigned;
use super::fetch::{FetchError, Fetched, Registries, Source};
use super::keys::Keys;
use super::lock::{Entry, Lock};
use super::name::QualifiedName;
use super::signature::Signed;
use super::{Store, StoreError, declared};
use crate::runtime::ToolEngine;

/// Whether anybody may be asked for a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Files and registries.
    Anywhere,
    /// Only what lies on this machine.
    Offline,
}

impl Store {
    /// Looks at every tool of a lock that is not installed exactly so. What is got must have the digest and the name that
    /// the lock gives it.
    ///
    /// # Errors
    /// One of them cannot be got, or is another one.
    pub async fn examine_pinned(
        &self,
        engine: &ToolEngine,
        (lock, file): (&Lock, &Path),
        (registries, reach): (&Registries, Reach),
        choice: &Choice,
    ) -> Result<Vec<Candidate>, StoreError> {
        let (ours, keys) = (self.lock()?, self.keys()?);
        let mut candidates = Vec::new();
        for (name, entry) in lock.tools() {
            let known = ours
                .tools
                .get(name)
                .filter(|known| known.digest == entry.digest);
            let blob = match known {
                Some(_) => self.blob(&entry.digest)?,
                None => None,
            };
            let whole = blob.is_some() && declared::one(&self.folder, entry)?.is_some();
            if whole {
                continue;
            }
            let fetched = match blob {
                Some(bytes) => kept(bytes, entry, &keys),
                None => self.get(entry, registries, reach, &keys).await?,
            };
            let unsigned = entry.key.is_none() && !says_unsigned(name.publisher());
            let choice = Choice {
                pinned: Some((entry.digest.clone(), file.display().to_string())),
                name: Some(name.clone()),
                publisher: unsigned.then(|| name.publisher().clone()),
                ..choice.clone()
            };
            for mut candidate in self.examine(engine, fetched, &choice).await? {
                candidate.fetched.source.clone_from(&entry.source);
                candidates.push(candidate);
            }
        }
        Ok(candidates)
    }

    async fn get(
        &self,
        entry: &Entry,
        registries: &Registries,
        reach: Reach,
        keys: &Keys,
    ) -> Result<Fetched, StoreError> {
        let from = match &entry.manifest {
            Some(manifest) if !entry.source.contains('@') => format!("{}@{manifest}", entry.source),
            Some(_) | None => entry.source.clone(),
        };
        let source = Source::read(&from)?;
        if reach == Reach::Offline && matches!(source, Source::Oci(_)) {
            return Err(FetchError::Offline(entry.source.clone()).into());
        }
        let mut fetched = source.fetch(registries, keys).await?;
        match (fetched.pop(), fetched.is_empty()) {
            (Some(one), true) => Ok(one),
            (Some(_) | None, _) => Err(FetchError::Source {
                text: from,
                what: "it is not one component any more".to_owned(),
            }
            .into()),
        }
    }
}

/// A component of the store's own, signed as its lock says.
fn kept(bytes: Vec<u8>, entry: &Entry, keys: &Keys) -> Fetched {
    let signer = entry.key.as_deref().and_then(|id| keys.by_id(id));
    Fetched {
        bytes,
        source: entry.source.clone(),
        manifest: entry.manifest.clone(),
        signed: match (signer, &entry.key) {
            (Some((publisher, key)), _) => Signed::By {
                publisher: publisher.clone(),
                key: key.id(),
            },
            (None, Some(id)) => Signed::Unknown(vec![id.clone()]),
            (None, None) => Signed::Nobody,
        },
    }
}

/// Whether a lock's entry is of a tool that a known key signed.
pub fn is_signed(name: &QualifiedName, entry: &Entry, keys: &Keys) -> bool {
    let signer = entry.key.as_deref().and_then(|id| keys.by_id(id));
    signer.is_some_and(|(publisher, _)| publisher == name.publisher())
}
