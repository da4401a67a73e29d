//! A component that could be installed: looked at, named, and compared with what its name stood for.

use super::change;
use super::declared;
use super::fetch::{Fetched, pinned};
use super::files::sha256;
use super::lock::{Entry, Lock, published};
use super::name::{NameRefusal, Publisher, QualifiedName};
use super::signature::Signed;
use super::{Declared, Store, StoreError, asked};
use crate::model::{Declaration, ToolName, mixes_scripts, outline};
use crate::runtime::{self, ComponentError, ToolEngine};

/// What a person chose about a component.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The publisher of one that no known key signed (`--as`).
    pub publisher: Option<Publisher>,
    /// It may take the place of an unsigned tool that came from elsewhere (`--replace`).
    pub replace: bool,
    /// The digest that it must have, and who says so.
    pub pinned: Option<(String, String)>,
    /// The name that it must have, as a lock says.
    pub name: Option<QualifiedName>,
    /// Where it stands that a known key must have signed it.
    pub signature_required_by: Option<String>,
    /// Other tools of the host, with where they come from.
    pub others: Vec<(ToolName, String)>,
}

/// What installing a component would be.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A name that stood for nothing yet.
    New,
    /// The bytes that are installed already.
    Same,
    /// Other bytes under a name that stood for some.
    Changed {
        /// What was installed; none: it was uninstalled.
        from: Option<Box<Entry>>,
        /// What is different about what it declares, one sentence each.
        differences: Vec<String>,
    },
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(super) name: QualifiedName,
    pub(super) digest: String,
    pub(super) fetched: Fetched,
    pub(super) declared: Declared,
    declaration: Declaration,
    pub(super) step: Step,
    /// The lock that all this was compared with.
    pub(super) lock: Option<String>,
}

impl Candidate {
    /// The name that it would have.
    pub fn name(&self) -> &QualifiedName {
        &self.name
    }

    /// SHA-256 of the component, hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Where it comes from, and who signed it.
    pub fn fetched(&self) -> &Fetched {
        &self.fetched
    }

    /// What it says of itself.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Whether it is a function of a plain component, for which nobody vouches.
    pub fn is_plain(&self) -> bool {
        self.declared.plain
    }

    /// What installing it would be.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// What it asks for, in words.
    pub fn asks(&self) -> Vec<String> {
        change::asks(&self.declaration)
    }

    /// Whether the publisher's key is another one than that of the tool in whose place it comes.
    pub fn another_key(&self) -> bool {
        let Step::Changed {
            from: Some(from), ..
        } = &self.step
        else {
            return false;
        };
        from.key.as_deref() != key(&self.fetched.signed)
    }
}

/// The id of the key that signed.
pub(super) fn key(signed: &Signed) -> Option<&str> {
    match signed {
        Signed::By { key, .. } => Some(key),
        Signed::Unknown(_) | Signed::Nobody => None,
    }
}

impl Store {
    /// Looks at a component that was got: compiles it within bounds, asks it what it is in an empty sandbox, and compares
    /// that with what is installed. Changes nothing. Of a plain component, each function is a tool of its own.
    ///
    /// # Errors
    /// It cannot be installed, whatever anybody says.
    pub async fn examine(
        &self,
        engine: &ToolEngine,
        fetched: Fetched,
        choice: &Choice,
    ) -> Result<Vec<Candidate>, StoreError> {
        let digest = sha256(&fetched.bytes);
        if let Some((wanted, by)) = &choice.pinned
            && pinned(wanted) != Some(&digest)
        {
            return Err(StoreError::Pinned {
                origin: fetched.source,
                found: digest,
                pinned: wanted.trim_start_matches("sha256:").to_owned(),
                by: by.clone(),
            });
        }
        let publisher = publisher(&fetched, choice)?;
        let source = runtime::Source::Bytes(fetched.bytes.clone());
        let asked = asked(engine, source).await.map_err(|error| {
            mixed(&error).unwrap_or_else(|| StoreError::Component {
                origin: fetched.source.clone(),
                error,
            })
        })?;
        let mut named = Vec::new();
        for (declared, declaration) in asked {
            let name = QualifiedName::new(publisher.clone(), declaration.name.clone())?;
            named.push((name, declared, declaration));
        }
        if let Some(wanted) = &choice.name {
            let all: Vec<String> = named.iter().map(|(name, _, _)| name.to_string()).collect();
            named.retain(|(name, _, _)| name == wanted);
            if named.is_empty() {
                return Err(StoreError::Pinned {
                    origin: format!("{} ({})", fetched.source, all.join(", ")),
                    found: digest.clone(),
                    pinned: digest,
                    by: format!("the lock names it {wanted}, which"),
                });
            }
        }
        let lock = self.lock()?;
        let candidates = named.into_iter().map(|(name, declared, declaration)| {
            free(&name, &fetched, choice, &lock)?;
            let step = self.step(&name, &digest, (&declared, &declaration), &lock)?;
            Ok(Candidate {
                name,
                digest: digest.clone(),
                fetched: fetched.clone(),
                declared,
                declaration,
                step,
                lock: lock.version.clone(),
            })
        });
        candidates.collect()
    }

    fn step(
        &self,
        name: &QualifiedName,
        digest: &str,
        (declared, declaration): (&Declared, &Declaration),
        lock: &Lock,
    ) -> Result<Step, StoreError> {
        let Some(from) = lock.tools.get(name) else {
            let before = lock.removed.get(name);
            return Ok(match before {
                Some(removed) if removed.digest != digest => Step::Changed {
                    from: None,
                    differences: Vec::new(),
                },
                Some(_) | None => Step::New,
            });
        };
        if from.digest == digest {
            return Ok(Step::Same);
        }
        let differences = match declared::one(&self.folder, from)? {
            None => vec!["~ what it declared before is not known any more".to_owned()],
            Some(old) => {
                let computing = change::computing(&old, declared);
                match old.declaration(name.tool()) {
                    Ok(old) => change::differences(&old, declaration)
                        .into_iter()
                        .chain(computing)
                        .collect(),
                    Err(error) => vec![format!("~ what it declared before does not hold: {error}")],
                }
            }
        };
        Ok(Step::Changed {
            from: Some(Box::new(from.clone())),
            differences,
        })
    }
}

/// A declared name of several scripts looks like one that it is not: that is said rather than which letters a name has.
fn mixed(error: &ComponentError) -> Option<StoreError> {
    let ComponentError::Declaration(crate::model::DeclarationError::Name(name)) = error else {
        return None;
    };
    let text = name.text();
    mixes_scripts(text).then(|| NameRefusal::Mixed(text.to_owned()).into())
}

/// Whose tool it is.
fn publisher(fetched: &Fetched, choice: &Choice) -> Result<Publisher, StoreError> {
    let what = match &fetched.signed {
        Signed::By { publisher, .. } => return Ok(publisher.clone()),
        Signed::Unknown(keys) => format!(
            "it is signed by {}; 'toolgate keys add NAME KEY' makes a key known",
            keys.join(", ")
        ),
        Signed::Nobody => "nobody signed it".to_owned(),
    };
    if let Some(by) = &choice.signature_required_by {
        return Err(StoreError::Unsigned {
            name: fetched.source.clone(),
            by: by.clone(),
            what,
        });
    }
    Ok(match &choice.publisher {
        Some(publisher) => publisher.clone(),
        None if fetched.manifest.is_some() => Publisher::oci(),
        None => Publisher::local(),
    })
}

/// The name is nobody else's, and looks like nobody else's.
fn free(
    name: &QualifiedName,
    fetched: &Fetched,
    choice: &Choice,
    lock: &Lock,
) -> Result<(), NameRefusal> {
    let new = name.published().as_str();
    let taken = |known: &str, source: &str| NameRefusal::Taken {
        new: new.to_owned(),
        new_source: fetched.source.clone(),
        known: known.to_owned(),
        known_source: source.to_owned(),
    };
    let installed = lock.tools.get(name);
    let ours = published(lock);
    for (known, source) in choice.others.iter().chain(&ours) {
        let known = known.as_str();
        if known == new && installed.is_none() {
            return Err(taken(known, source));
        }
        if known != new && outline(known) == outline(new) {
            return Err(NameRefusal::LooksLike {
                new: new.to_owned(),
                known: known.to_owned(),
                known_source: source.clone(),
            });
        }
    }
    // A known key shows that it is the same publisher; without one, only that it comes from the same place.
    let same = |from: &Entry| {
        from.key.is_some() == key(&fetched.signed).is_some()
            && (from.key.is_some() || repository(&from.source) == repository(&fetched.source))
    };
    match installed {
        Some(from) if from.digest != sha256(&fetched.bytes) && !same(from) && !choice.replace => {
            Err(taken(
                &format!("{name}; --replace takes its place"),
                &from.source,
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// A source without the tag and the digest of a registry's reference.
fn repository(source: &str) -> &str {
    if !source.starts_with("oci://") {
        return source;
    }
    let name = source.split('@').next().unwrap_or(source);
    match name.rsplit_once(':') {
        Some((before, tag)) if !tag.contains('/') => before,
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_digests_do_not_make_another_place() {
        for source in [
            "oci://127.0.0.1:5000/a/b:1",
            "oci://127.0.0.1:5000/a/b",
            "oci://127.0.0.1:5000/a/b:2@sha256:00",
        ] {
            assert_eq!(repository(source), "oci://127.0.0.1:5000/a/b");
        }
        assert_eq!(repository("/a:1/b.wasm"), "/a:1/b.wasm");
    }
}
