//! What is kept of a server between two runs: the definitions that were accepted, and its last good list.
//!
//! A definition is accepted when it is first seen, and from then on only by a person. What cannot be read accepts nothing.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::definition::Definition;
use super::launch::fingerprint;
use crate::model::ServerAlias;
use crate::state;

/// The longest file of either kind, bytes.
const MAX_FILE: u64 = 32 << 20;
/// The most tools whose definitions are remembered for one server.
const MAX_PINS: usize = 10_000;
/// How long another process's turn may last.
const PATIENCE: Duration = Duration::from_secs(2);

/// The files of one server.
#[derive(Clone, Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// What the names of its files begin with: the alias, and a digest of how it is reached.
    name: String,
}

/// A definition that was accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pin {
    sha256: String,
    definition: Value,
}

type Pins = BTreeMap<String, Pin>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptList {
    key: String,
    tools: Vec<Value>,
}

/// How a definition stands to what was accepted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    /// It is what was accepted, or was accepted now.
    Accepted,
    /// Another one was accepted.
    Changed {
        /// That one.
        was: Value,
    },
}

impl Store {
    /// The files of a server below the state directory.
    pub(super) fn new(state: &Path, alias: &ServerAlias, identity: &str) -> Self {
        let beginning: String = identity.chars().take(12).collect();
        Self {
            folder: state.join("mcp"),
            name: format!("{alias}-{beginning}"),
        }
    }

    /// How each definition stands, in order. What was never seen before is accepted.
    ///
    /// # Errors
    /// For people: what was accepted cannot be read or kept, so that nothing is.
    pub(super) fn stand(&self, definitions: &[Definition]) -> Result<Vec<Standing>, String> {
        let turn = self.turn()?;
        let mut pins = self.pins()?;
        let mut is_new = false;
        let mut standings = Vec::new();
        for definition in definitions {
            standings.push(match pins.get(&definition.raw) {
                Some(pin) if pin.sha256 == definition.digest => Standing::Accepted,
                Some(pin) => Standing::Changed {
                    was: pin.definition.clone(),
                },
                None => {
                    is_new = true;
                    pins.insert(definition.raw.clone(), pin(definition));
                    Standing::Accepted
                }
            });
        }
        if is_new {
            self.keep(&pins)?;
        }
        drop(turn);
        Ok(standings)
    }

    /// Accepts these definitions.
    ///
    /// # Errors
    /// For people: nothing was accepted.
    pub(super) fn accept(&self, definitions: &[&Definition]) -> Result<(), String> {
        let turn = self.turn()?;
        let mut pins = self.pins()?;
        for definition in definitions {
            pins.insert(definition.raw.clone(), pin(definition));
        }
        let kept = self.keep(&pins);
        drop(turn);
        kept
    }

    /// Which file what is accepted stands in: another one after each change.
    pub(super) fn fingerprint(&self) -> String {
        fingerprint(&self.path("pins"))
    }

    /// The last good list, if it is of exactly this server.
    pub(super) fn list(&self, key: &str) -> Option<Vec<Value>> {
        let bytes = state::read(&self.path("list"), MAX_FILE).ok()??;
        let kept: KeptList = serde_json::from_slice(&bytes).ok()?;
        (kept.key == key).then_some(kept.tools)
    }

    /// Keeps a list. That it could not be kept costs time at the next start, and nothing else.
    pub(super) fn keep_list(&self, key: &str, tools: &[Value]) {
        let kept = KeptList {
            key: key.to_owned(),
            tools: tools.to_vec(),
        };
        let written = serde_json::to_vec(&kept)
            .map_err(io::Error::other)
            .and_then(|bytes| self.replace("list", &bytes));
        if let Err(error) = written {
            tracing::warn!("the list of tools of a server is not kept: {error}");
        }
    }

    fn pins(&self) -> Result<Pins, String> {
        let path = self.path("pins");
        let wrong = |what: String| {
            format!(
                "what was accepted of the server's tools cannot be read, so that none is offered: {}: {what}",
                path.display()
            )
        };
        match state::read(&path, MAX_FILE).map_err(|error| wrong(error.to_string()))? {
            None => Ok(Pins::new()),
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string())),
        }
    }

    fn keep(&self, pins: &Pins) -> Result<(), String> {
        if pins.len() > MAX_PINS {
            return Err(format!(
                "the server has shown more than {MAX_PINS} different tools, so that no more are accepted"
            ));
        }
        let written = serde_json::to_vec(pins)
            .map_err(io::Error::other)
            .and_then(|bytes| self.replace("pins", &bytes));
        written.map_err(|error| {
            let path = self.path("pins");
            format!(
                "what is accepted of the server's tools cannot be kept, so that none is offered: {}: {error}",
                path.display()
            )
        })
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}.json", self.name))
    }

    fn folder(&self) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
    }

    /// A file in the place of the old one, whole.
    fn replace(&self, kind: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder()?;
        let path = self.path(kind);
        let name = format!(".{}.tmp", uuid::Uuid::new_v4().simple());
        let temporary = self.folder.join(name);
        let written = state::create(&temporary, true)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err()
            && let Err(error) = fs::remove_file(&temporary)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("{} stays: {error}", temporary.display());
        }
        written
    }

    /// One's turn among processes; ends with the value.
    fn turn(&self) -> Result<File, String> {
        let failed = |error: io::Error| {
            format!("what was accepted of the server's tools cannot be looked up: {error}")
        };
        self.folder().map_err(failed)?;
        let lock = self.folder.join(format!("{}.lock", self.name));
        let file = state::create(&lock, false).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(failed(io::ErrorKind::TimedOut.into()));
                }
            }
        }
    }
}

fn pin(definition: &Definition) -> Pin {
    Pin {
        sha256: definition.digest.clone(),
        definition: definition.pinned.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::upstream::definition::read_all;

    fn definitions(description: &str) -> Vec<Definition> {
        let alias = ServerAlias::try_from("s").unwrap();
        let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
        read_all(&alias, &[tool("a", description), tool("b", "same")]).0
    }

    #[test]
    fn what_was_accepted_is_what_is_accepted() {
        let state = tempfile::tempdir().unwrap();
        let alias = ServerAlias::try_from("s").unwrap();
        let store = Store::new(state.path(), &alias, &"0".repeat(64));
        let first = definitions("one");
        assert_eq!(
            store.stand(&first).unwrap(),
            [Standing::Accepted, Standing::Accepted]
        );
        let second = definitions("two");
        let [Standing::Changed { was }, Standing::Accepted] = &store.stand(&second).unwrap()[..]
        else {
            panic!("a change was not seen");
        };
        assert_eq!(was["description"], "one");
        // Seeing it again does not accept it; another way to the server is another server.
        assert_ne!(store.stand(&second).unwrap()[0], Standing::Accepted);
        let other = Store::new(state.path(), &alias, &"1".repeat(64));
        assert_eq!(other.stand(&second).unwrap()[0], Standing::Accepted);
        store.accept(&[&second[0]]).unwrap();
        assert_eq!(store.stand(&second).unwrap()[0], Standing::Accepted);
        assert_ne!(store.stand(&first).unwrap()[0], Standing::Accepted);
        fs::write(store.path("pins"), "{").unwrap();
        assert!(store.stand(&first).unwrap_err().contains("none is offered"));
    }

    #[test]
    fn a_list_is_of_the_server_that_it_was_kept_for() {
        let state = tempfile::tempdir().unwrap();
        let alias = ServerAlias::try_from("s").unwrap();
        let store = Store::new(state.path(), &alias, "x");
        assert_eq!(store.list("k"), None);
        store.keep_list("k", &[json!({"name": "a"})]);
        assert_eq!(store.list("k"), Some(vec![json!({"name": "a"})]));
        assert_eq!(store.list("another"), None);
    }
}
