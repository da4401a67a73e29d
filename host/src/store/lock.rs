//! `toolgate.lock`: which tools are installed, exactly which bytes they are, and what the person consented to.
//!
//! It is the one truth of the store: blobs, declarations and the index beside it only serve it. A lock file can be handed
//! on: `toolgate install --frozen --lock FILE` installs exactly what it pins, after the person consented to that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::files::{self, line_of, sha256};
use super::name::QualifiedName;
use crate::model::ToolName;

/// The form of the file.
const VERSION: u32 = 1;
/// Its name.
pub(super) const NAME: &str = "toolgate.lock";
/// The most bytes of it.
const MAX_FILE: u64 = 32 << 20;
/// What stands at its beginning.
const HEAD: &str = "# What is installed. Written by `toolgate install` and `toolgate uninstall`.\n";

/// An installed tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// `PUBLISHER/Tool`.
    pub name: String,
    /// Where it came from: a path, or `oci://…`.
    pub source: String,
    /// SHA-256 of the component, hexadecimal.
    pub digest: String,
    /// Of one from a registry: the digest of its manifest, `sha256:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// SHA-256 of its declaration as it is kept in the store.
    pub declaration: String,
    /// What it may ask for, as the person consented to it.
    pub capabilities: Vec<String>,
    /// The id of the publisher's key that signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When these bytes were installed.
    pub installed: Timestamp,
    /// The bytes changed, and nobody said that what the settings grant to the tool holds for the new ones too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grants_withheld: bool,
}

/// A tool that was installed once: what its name stood for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    /// `PUBLISHER/Tool`.
    pub name: String,
    /// SHA-256 of the last component.
    pub digest: String,
    /// The settings' grants did not hold for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grants_withheld: bool,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    pub(super) tools: BTreeMap<QualifiedName, Entry>,
    pub(super) removed: BTreeMap<QualifiedName, Removed>,
    /// SHA-256 of the file as it was read; none where there is none.
    pub(super) version: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Removed>,
}

impl Lock {
    /// The installed tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = (&QualifiedName, &Entry)> {
        self.tools.iter()
    }

    /// The tool of this published or qualified name.
    pub fn find(&self, name: &str) -> Option<(&QualifiedName, &Entry)> {
        self.tools
            .iter()
            .find(|(known, _)| known.published().as_str() == name || known.to_string() == name)
    }

    /// Reads a lock file. One that is not there locks nothing.
    ///
    /// # Errors
    /// It cannot be read or understood.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        match files::read(path, MAX_FILE)? {
            Some(bytes) => Self::parse(path, &bytes),
            None => Ok(Self::default()),
        }
    }

    pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        files::read(path, MAX_FILE)
    }

    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, StoreError> {
        let wrong = |line: usize, what: String| StoreError::Malformed {
            path: path.to_owned(),
            line,
            what,
        };
        let text = std::str::from_utf8(bytes).map_err(|error| wrong(1, error.to_string()))?;
        let stored: Stored = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(line_of(text, at), error.message().to_owned())
        })?;
        if stored.version != VERSION {
            let what = format!(
                "the lock's version is {}, and this host has {VERSION}",
                stored.version
            );
            return Err(wrong(1, what));
        }
        let line = |name: &str| text.find(name).map_or(1, |at| line_of(text, at));
        let mut lock = Self {
            version: Some(sha256(bytes)),
            ..Self::default()
        };
        for entry in stored.tool {
            let name = QualifiedName::read(&entry.name)
                .map_err(|error| wrong(line(&entry.name), error.to_string()))?;
            if ![&entry.digest, &entry.declaration]
                .into_iter()
                .all(|text| is_digest(text))
            {
                return Err(wrong(line(&entry.name), "a digest is none".to_owned()));
            }
            if let Some(twice) = lock.tools.insert(name, entry) {
                let what = format!("'{}' stands here twice", twice.name);
                return Err(wrong(line(&twice.name), what));
            }
        }
        for removed in stored.removed {
            let name = QualifiedName::read(&removed.name)
                .map_err(|error| wrong(line(&removed.name), error.to_string()))?;
            lock.removed.insert(name, removed);
        }
        Ok(lock)
    }

    pub(super) fn text(&self) -> Result<String, toml::ser::Error> {
        let stored = Stored {
            version: VERSION,
            tool: self.tools.values().cloned().collect(),
            removed: self.removed.values().cloned().collect(),
        };
        Ok(format!("{HEAD}{}", toml::to_string(&stored)?))
    }

    /// What a name stood for last: its digest, and whether the settings' grants held for it.
    pub(super) fn last(&self, name: &QualifiedName) -> Option<(&str, bool)> {
        let installed = self.tools.get(name);
        let installed = installed.map(|entry| (entry.digest.as_str(), entry.grants_withheld));
        installed.or_else(|| {
            let removed = self.removed.get(name)?;
            Some((removed.digest.as_str(), removed.grants_withheld))
        })
    }

    pub(super) fn file(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }
}

/// Whether a text is a SHA-256 in small hexadecimal letters.
pub(super) fn is_digest(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 64 && text.bytes().all(digit)
}

/// The published names of a lock's tools, with where they come from.
pub(super) fn published(lock: &Lock) -> Vec<(ToolName, String)> {
    let tools = lock.tools.iter();
    tools
        .map(|(name, entry)| {
            (
                name.published().clone(),
                format!("{name}, {}", entry.source),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            source: "/tools/x.wasm".to_owned(),
            digest: "a".repeat(64),
            manifest: None,
            declaration: "b".repeat(64),
            capabilities: vec!["fs-read:subject".to_owned()],
            key: None,
            installed: Timestamp::UNIX_EPOCH,
            grants_withheld: false,
        }
    }

    fn said(text: &str) -> String {
        let read = Lock::parse(Path::new("toolgate.lock"), text.as_bytes());
        read.unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut lock = Lock::default();
        for name in ["acme/One", "local/Two"] {
            let qualified = QualifiedName::read(name).unwrap();
            lock.tools.insert(qualified, entry(name));
        }
        let gone = Removed {
            name: "acme/Gone".to_owned(),
            digest: "c".repeat(64),
            grants_withheld: true,
        };
        let name = QualifiedName::read("acme/Gone").unwrap();
        lock.removed.insert(name.clone(), gone);
        let text = lock.text().unwrap();
        let read = Lock::parse(Path::new("toolgate.lock"), text.as_bytes()).unwrap();
        assert_eq!((&read.tools, &read.removed), (&lock.tools, &lock.removed));
        assert_eq!(read.last(&name), Some(("c".repeat(64).as_str(), true)));
        assert!(read.find("acme__One").is_some() && read.find("acme/One").is_some());
        assert!(read.find("One").is_none());
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        assert!(said("version = 2").contains("version is 2"));
        assert!(said("version = 1\nextra = 1").starts_with("toolgate.lock:2: "));
        let tool = |change: fn(&mut Entry)| {
            let mut one = entry("acme/One");
            change(&mut one);
            let mut lock = Lock::default();
            let name = QualifiedName::read("acme/One").unwrap();
            lock.tools.insert(name, one);
            lock.text().unwrap()
        };
        assert!(said(&tool(|entry| entry.name = "One".to_owned())).contains("publisher"));
        assert!(said(&tool(|entry| entry.digest = "../x".to_owned())).contains("digest"));
        let twice = tool(|_| {}).replace("[[tool]]", "[[TOOL]]");
        assert!(said(&twice).contains("TOOL"));
        let whole = tool(|_| {});
        let again = format!(
            "{whole}\n{}",
            whole
                .split_once("[[tool]]")
                .map(|(_, rest)| format!("[[tool]]{rest}"))
                .unwrap()
        );
        assert!(said(&again).contains("stands here twice"));
    }
}
