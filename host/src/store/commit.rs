//! Changing the store: one process at a time, and the lock last.

use std::collections::BTreeSet;
use std::fs;
#[cfg(test)]
use std::path::Path;

use jiff::Timestamp;

use super::candidate::{Candidate, Step, key};
use super::files::{self, sha256};
use super::keys::PublicKey;
use super::lock::{Entry, Lock, Removed};
use super::name::{LOCAL, NameRefusal, OCI, Publisher, QualifiedName};
use super::{Known, Store, StoreError, declared};
use crate::model::outline;
use crate::state;

/// What becomes of what the settings grant to a tool whose bytes changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grants {
    /// It does not hold for the new bytes.
    Withhold,
    /// The person said that it holds for the new bytes too.
    Keep,
}

/// A moment between two steps, at which a process may end.
type Moment<'a> = &'a mut dyn FnMut(&'static str) -> Result<(), StoreError>;

impl Store {
    /// Installs what the person consented to: all of it, or nothing.
    ///
    /// # Errors
    /// Another process changed the store since the candidates were looked at, or a file cannot be written.
    pub fn install(&self, candidates: &[(Candidate, Grants)]) -> Result<(), StoreError> {
        self.install_by_steps(candidates, &mut |_| Ok(()))
    }

    fn install_by_steps(
        &self,
        candidates: &[(Candidate, Grants)],
        moment: Moment<'_>,
    ) -> Result<(), StoreError> {
        let _held = self.hold()?;
        let mut lock = self.lock()?;
        let looked_at = |(candidate, _): &(Candidate, Grants)| candidate.lock == lock.version;
        if !candidates.iter().all(looked_at) {
            return Err(StoreError::Changed);
        }
        each_once(candidates)?;
        let before = lock.clone();
        for (candidate, grants) in candidates {
            self.keep_blob(candidate)?;
            moment("the blob is kept")?;
            let text = candidate.declared.text().map_err(|error| {
                StoreError::file(&self.lock_file(), std::io::Error::other(error))
            })?;
            let declaration = sha256(text.as_bytes());
            let file = declared::file(&self.folder, &declaration);
            files::replace(&file, text.as_bytes())?;
            moment("the declaration is kept")?;
            let entry = entry(candidate, declaration, &lock, *grants);
            lock.removed.remove(&candidate.name);
            lock.tools.insert(candidate.name.clone(), entry);
        }
        if lock != before {
            self.write(&lock, moment)?;
        }
        self.tidy(&lock);
        Ok(())
    }

    /// Uninstalls a tool of a published or qualified name. What its name stood for is remembered, so that other bytes that
    /// come under it are seen as such.
    ///
    /// # Errors
    /// There is no such tool, or a file cannot be written.
    pub fn uninstall(&self, name: &str) -> Result<QualifiedName, StoreError> {
        let _held = self.hold()?;
        let (name, entry) = self.find(name)?;
        let mut lock = self.lock()?;
        lock.tools.remove(&name);
        let removed = Removed {
            name: entry.name,
            digest: entry.digest,
            grants_withheld: entry.grants_withheld,
        };
        lock.removed.insert(name.clone(), removed);
        self.write(&lock, &mut |_| Ok(()))?;
        self.tidy(&lock);
        Ok(name)
    }

    /// Makes a publisher's key known under a name.
    ///
    /// # Errors
    /// The name is another key's, or unsigned tools are installed under it.
    pub fn add_key(&self, publisher: &Publisher, key: PublicKey) -> Result<(), StoreError> {
        let _held = self.hold()?;
        let mut keys = self.keys()?;
        let taken = |known: String, source: String| NameRefusal::Taken {
            new: publisher.to_string(),
            new_source: format!("the key {}", key.id()),
            known,
            known_source: source,
        };
        if let Some(known) = keys.get(publisher)
            && known.key != key
        {
            let other = format!("the key {}", known.key.id());
            return Err(taken(publisher.to_string(), other).into());
        }
        if let Some((name, _)) = keys.by_id(&key.id())
            && name != publisher
        {
            return Err(taken(name.to_string(), "the same key".to_owned()).into());
        }
        let lock = self.lock()?;
        let mut tools = lock.tools();
        let unsigned =
            tools.find(|(name, entry)| name.publisher() == publisher && entry.key.is_none());
        if let Some((name, entry)) = unsigned {
            return Err(taken(name.to_string(), entry.source.clone()).into());
        }
        keys.insert(publisher.clone(), key);
        keys.write(&self.folder)
    }

    /// Forgets a publisher's key. What it signed stays installed.
    ///
    /// # Errors
    /// There is no such key, or the file cannot be written.
    pub fn remove_key(&self, publisher: &Publisher) -> Result<Known, StoreError> {
        let _held = self.hold()?;
        let mut keys = self.keys()?;
        let removed = keys.remove(publisher);
        let removed =
            removed.ok_or_else(|| StoreError::Name(NameRefusal::NoKey(publisher.to_string())))?;
        keys.write(&self.folder)?;
        Ok(removed)
    }

    /// One process at a time.
    fn hold(&self) -> Result<fs::File, StoreError> {
        let path = self.folder.join("held");
        let failed = |error: std::io::Error| StoreError::file(&path, error);
        let file = state::create(&path, false).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    fn keep_blob(&self, candidate: &Candidate) -> Result<(), StoreError> {
        if self.blob(&candidate.digest)?.is_some() {
            return Ok(());
        }
        let file = self.blob_file(&candidate.digest);
        files::replace(&file, &candidate.fetched.bytes)
    }

    fn write(&self, lock: &Lock, moment: Moment<'_>) -> Result<(), StoreError> {
        let path = self.lock_file();
        let failed =
            |error: toml::ser::Error| StoreError::file(&path, std::io::Error::other(error));
        let text = lock.text().map_err(failed)?;
        moment("the lock is not written yet")?;
        files::replace(&path, text.as_bytes())?;
        moment("the lock is written")
    }

    /// Makes the index, and removes what the lock does not name. What is left undone here is done the next time.
    fn tidy(&self, lock: &Lock) {
        if let Err(error) = declared::all(&self.folder) {
            tracing::warn!("the index of installed tools: {error}");
        }
        let digests = |of: fn(&Entry) -> &String| -> BTreeSet<&str> {
            lock.tools
                .values()
                .map(|entry| of(entry).as_str())
                .collect()
        };
        let blobs = digests(|entry| &entry.digest);
        let declarations = digests(|entry| &entry.declaration);
        for (folder, named) in [("blobs", blobs), ("declarations", declarations)] {
            let Ok(entries) = fs::read_dir(self.folder.join(folder)) else {
                continue;
            };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                let stem = path.file_stem().and_then(|stem| stem.to_str());
                if stem.is_none_or(|stem| !named.contains(stem)) {
                    let removed = fs::remove_file(&path);
                    tracing::debug!(?removed, "no tool needs {}", path.display());
                }
            }
        }
    }
}

/// No two of them have one name, or names that look alike.
fn each_once(candidates: &[(Candidate, Grants)]) -> Result<(), NameRefusal> {
    for (at, (one, _)) in candidates.iter().enumerate() {
        for (other, _) in candidates.iter().skip(at + 1) {
            let (new, known) = (other.name.published(), one.name.published());
            if outline(new.as_str()) == outline(known.as_str()) {
                return Err(NameRefusal::Taken {
                    new: new.to_string(),
                    new_source: other.fetched.source.clone(),
                    known: known.to_string(),
                    known_source: one.fetched.source.clone(),
                });
            }
        }
    }
    Ok(())
}

fn entry(candidate: &Candidate, declaration: String, lock: &Lock, grants: Grants) -> Entry {
    let withheld = match (lock.last(&candidate.name), grants) {
        (_, Grants::Keep) | (None, Grants::Withhold) => false,
        (Some((digest, withheld)), Grants::Withhold) => withheld || digest != candidate.digest,
    };
    let installed = match (&candidate.step, lock.tools.get(&candidate.name)) {
        (Step::Same, Some(from)) => from.installed,
        _ => Timestamp::now(),
    };
    Entry {
        name: candidate.name.to_string(),
        source: candidate.fetched.source.clone(),
        digest: candidate.digest.clone(),
        manifest: candidate.fetched.manifest.clone(),
        declaration,
        capabilities: candidate.asks(),
        key: key(&candidate.fetched.signed).map(str::to_owned),
        installed,
        grants_withheld: withheld,
    }
}

/// Whether a publisher's name says that nobody known signed.
pub(super) fn says_unsigned(publisher: &Publisher) -> bool {
    [LOCAL, OCI].contains(&publisher.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::ToolEngine;
    use crate::store::{Choice, Fetched, Signed};

    /// The same component with other bytes: one more custom section.
    fn other_bytes(component: &[u8]) -> Vec<u8> {
        let mut bytes = component.to_vec();
        bytes.extend([0, 3, 1, b'x', b'y']);
        bytes
    }

    fn fetched(bytes: Vec<u8>) -> Fetched {
        Fetched {
            bytes,
            source: "/tools/echo.wasm".to_owned(),
            manifest: None,
            signed: Signed::Nobody,
        }
    }

    async fn candidate(store: &Store, engine: &ToolEngine, bytes: Vec<u8>) -> Candidate {
        let choice = Choice::default();
        let examined = store.examine(engine, fetched(bytes), &choice).await;
        let [candidate] = <[Candidate; 1]>::try_from(examined.unwrap()).unwrap();
        candidate
    }

    /// The digest that is installed; everything that belongs to it is there.
    async fn whole(store: &Store, engine: &ToolEngine) -> String {
        let installed = store.installed(engine).await.unwrap();
        assert_eq!(installed.len(), 1);
        let digest = installed[0].entry.digest.clone();
        assert!(store.blob(&digest).unwrap().is_some(), "the blob is lost");
        let declared = declared::one(&store.folder, &installed[0].entry).unwrap();
        assert!(declared.is_some(), "the declaration is lost");
        digest
    }

    #[tokio::test]
    async fn a_crash_between_any_two_steps_leaves_the_old_or_the_new() {
        let engine = ToolEngine::new(2).unwrap();
        let old = toolgate_artifacts::ECHO.to_vec();
        let new = other_bytes(&old);
        let mut seen = Vec::new();
        for crash_at in 0.. {
            let state = tempfile::tempdir().unwrap();
            let store = Store::open(state.path()).unwrap();
            let first = candidate(&store, &engine, old.clone()).await;
            store.install(&[(first, Grants::Withhold)]).unwrap();
            assert_eq!(whole(&store, &engine).await, sha256(&old));

            let update = candidate(&store, &engine, new.clone()).await;
            let mut moments = 0;
            let crashed = store.install_by_steps(&[(update, Grants::Withhold)], &mut |at| {
                moments += 1;
                if moments > crash_at {
                    return Err(StoreError::file(
                        Path::new(at),
                        std::io::Error::other("crash"),
                    ));
                }
                Ok(())
            });
            let store = Store::open(state.path()).unwrap();
            let digest = whole(&store, &engine).await;
            match crashed {
                Ok(()) => {
                    assert_eq!(digest, sha256(&new));
                    break;
                }
                Err(StoreError::File { path, .. }) => {
                    let written = path == Path::new("the lock is written");
                    let wanted = if written { &new } else { &old };
                    assert_eq!(digest, sha256(wanted), "{}", path.display());
                    seen.push(path.display().to_string());
                }
                Err(other) => panic!("{other}"),
            }
            let again = candidate(&store, &engine, new.clone()).await;
            store.install(&[(again, Grants::Withhold)]).unwrap();
            assert_eq!(whole(&store, &engine).await, sha256(&new));
            let blobs = fs::read_dir(store.folder.join("blobs")).unwrap().count();
            assert_eq!(blobs, 1, "what no tool needs is gone");
        }
        assert_eq!(
            seen,
            [
                "the blob is kept",
                "the declaration is kept",
                "the lock is not written yet",
                "the lock is written"
            ]
        );
    }

    #[tokio::test]
    async fn what_was_looked_at_is_what_is_changed() {
        let engine = ToolEngine::new(2).unwrap();
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path()).unwrap();
        let one = candidate(&store, &engine, toolgate_artifacts::ECHO.to_vec()).await;
        let other = candidate(&store, &engine, toolgate_artifacts::TRAPS.to_vec()).await;
        store.install(&[(one, Grants::Withhold)]).unwrap();
        let late = store.install(&[(other, Grants::Withhold)]);
        assert!(matches!(late, Err(StoreError::Changed)));
        assert_eq!(store.lock().unwrap().tools.len(), 1);
    }

    #[tokio::test]
    async fn grants_do_not_outlive_the_bytes() {
        let engine = ToolEngine::new(2).unwrap();
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path()).unwrap();
        let old = toolgate_artifacts::ECHO.to_vec();
        let (new, newer) = (other_bytes(&old), other_bytes(&other_bytes(&old)));
        let install = async |bytes: &[u8], grants| {
            let one = candidate(&store, &engine, bytes.to_vec()).await;
            store.install(&[(one, grants)]).unwrap();
            store.find("local/Echo").unwrap().1.grants_withheld
        };
        assert!(!install(&old, Grants::Withhold).await, "the first bytes");
        assert!(install(&new, Grants::Withhold).await, "other bytes");
        assert!(install(&new, Grants::Withhold).await, "the same once more");
        assert!(!install(&new, Grants::Keep).await, "the person said so");
        assert!(!install(&new, Grants::Withhold).await, "and it stays so");
        store.uninstall("local__Echo").unwrap();
        assert!(
            !install(&new, Grants::Withhold).await,
            "the same bytes come back"
        );
        store.uninstall("local/Echo").unwrap();
        assert!(
            install(&newer, Grants::Withhold).await,
            "other bytes come back"
        );
        store.uninstall("local/Echo").unwrap();
        assert!(
            install(&newer, Grants::Withhold).await,
            "they were withheld"
        );
    }

    #[test]
    fn a_key_takes_nobodys_name() {
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(state.path()).unwrap();
        let key = |seed: u8| {
            let signer = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
            PublicKey::Ed25519(signer.verifying_key())
        };
        let (acme, other) = (
            Publisher::chosen("acme").unwrap(),
            Publisher::chosen("other").unwrap(),
        );
        store.add_key(&acme, key(1)).unwrap();
        store.add_key(&acme, key(1)).unwrap();
        assert!(store.add_key(&acme, key(2)).is_err());
        assert!(store.add_key(&other, key(1)).is_err());
        assert_eq!(store.remove_key(&acme).unwrap().key, key(1));
        assert!(store.remove_key(&acme).is_err());
        store.add_key(&other, key(1)).unwrap();
    }
}
