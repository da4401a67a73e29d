//! Declarations of installed tools, as they were when the person consented: kept, so that a start runs nothing.
//!
//! Each is bound to the digest of its component by the lock, and to the version of the contract by its own text. All of
//! them together stand in an index, which is bound to the lock it was made from; one that is not of this lock is made anew.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::StoreError;
use super::files::{self, sha256};
use super::lock::{Entry, Lock};
use super::name::QualifiedName;
use crate::model::{
    Claim, Declaration, DeclarationError, DeclarationParts, SubjectField, ToolName,
};
use crate::runtime::LoadedComponent;

/// The contract that declarations are of. Those of another one are asked for anew.
const CONTRACT: &str = "toolgate:tool@0.1";
/// The most bytes of one declaration.
const MAX_DECLARATION: u64 = 4 << 20;
/// The most bytes of the index.
const MAX_INDEX: u64 = 256 << 20;

/// A declaration as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declared {
    contract: String,
    name: String,
    description: String,
    input_schema: String,
    output_schema: Option<String>,
    claim: Claim,
    subject: Option<SubjectField>,
    capabilities: Vec<(String, String, String, bool)>,
    annotations: Vec<(String, String)>,
    pub(super) computes_subjects: bool,
    pub(super) needs_shell: bool,
    /// It is a function of a plain component, and its name that of the function.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) plain: bool,
}

impl Declared {
    /// What a component of our contract declared.
    pub(super) fn of(component: &LoadedComponent, declaration: &Declaration) -> Self {
        Self {
            computes_subjects: component.computes_subjects(),
            needs_shell: component.needs_shell(declaration),
            plain: false,
            ..Self::of_function(declaration)
        }
    }

    /// What a function of a plain component is made out to be.
    pub(super) fn of_function(declaration: &Declaration) -> Self {
        let parts = declaration.parts();
        Self {
            contract: CONTRACT.to_owned(),
            name: parts.name,
            description: parts.description,
            input_schema: parts.input_schema,
            output_schema: parts.output_schema,
            claim: parts.claim,
            subject: parts.subject,
            capabilities: parts.capabilities,
            annotations: parts.annotations,
            computes_subjects: false,
            needs_shell: false,
            plain: true,
        }
    }

    /// The declaration under the name that the tool is published by.
    pub(super) fn declaration(self, published: &ToolName) -> Result<Declaration, DeclarationError> {
        let mut declaration = Declaration::check(DeclarationParts {
            name: self.name,
            description: self.description,
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            claim: self.claim,
            subject: self.subject,
            capabilities: self.capabilities,
            annotations: self.annotations,
        })?;
        declaration.name = published.clone();
        Ok(declaration)
    }

    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a declaration that has this digest; none if it is another one, or of another contract.
    fn read(text: &str, digest: &str) -> Option<Self> {
        if sha256(text.as_bytes()) != digest {
            return None;
        }
        let declared: Self = serde_json::from_str(text).ok()?;
        (declared.contract == CONTRACT).then_some(declared)
    }
}

/// The file of a declaration of this digest.
pub(super) fn file(folder: &Path, digest: &str) -> PathBuf {
    folder.join("declarations").join(format!("{digest}.json"))
}

fn index_file(folder: &Path) -> PathBuf {
    folder.join("index.jsonl")
}

/// The kept declaration of a tool; none if it has to be asked for anew.
pub(super) fn one(folder: &Path, entry: &Entry) -> Result<Option<Declared>, StoreError> {
    let bytes = files::read(&file(folder, &entry.declaration), MAX_DECLARATION)?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.and_then(|text| Declared::read(&text, &entry.declaration)))
}

/// A tool of the lock, with its declaration where that is kept.
pub(super) type Listed = (QualifiedName, Entry, Option<Declared>);

/// The first line of the index.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    lock: String,
    contract: String,
}

/// All installed tools: from the index, if it is of this lock; else from the lock, and the index is made anew.
pub(super) fn all(folder: &Path) -> Result<Vec<Listed>, StoreError> {
    let path = Lock::file(folder);
    let Some(bytes) = Lock::bytes(&path)? else {
        return Ok(Vec::new());
    };
    if let Some(listed) = indexed(folder, &sha256(&bytes)) {
        return Ok(listed);
    }
    let lock = Lock::parse(&path, &bytes)?;
    let mut listed = Vec::new();
    for (name, entry) in lock.tools() {
        listed.push((name.clone(), entry.clone(), one(folder, entry)?));
    }
    if let Err(error) = write_index(folder, &lock, &listed) {
        tracing::warn!("the index of installed tools is not kept: {error}");
    }
    Ok(listed)
}

fn indexed(folder: &Path, lock: &str) -> Option<Vec<Listed>> {
    let bytes = match files::read(&index_file(folder), MAX_INDEX) {
        Ok(bytes) => bytes?,
        Err(error) => {
            tracing::warn!("{error}");
            return None;
        }
    };
    let text = String::from_utf8(bytes).ok()?;
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    if head.lock != lock || head.contract != CONTRACT {
        return None;
    }
    let mut listed = Vec::new();
    while let Some(line) = lines.next() {
        let entry: Entry = serde_json::from_str(line).ok()?;
        let declared = Declared::read(lines.next()?, &entry.declaration)?;
        listed.push((
            QualifiedName::read(&entry.name).ok()?,
            entry,
            Some(declared),
        ));
    }
    Some(listed)
}

/// Writes the index, if every declaration is there.
fn write_index(folder: &Path, lock: &Lock, listed: &[Listed]) -> Result<(), StoreError> {
    let Some(version) = &lock.version else {
        return Ok(());
    };
    let path = index_file(folder);
    let failed = |error: serde_json::Error| StoreError::file(&path, error.into());
    let head = Head {
        lock: version.clone(),
        contract: CONTRACT.to_owned(),
    };
    let mut text = serde_json::to_string(&head).map_err(failed)?;
    for (_, entry, declared) in listed {
        let Some(declared) = declared else {
            return Ok(());
        };
        text.push('\n');
        text.push_str(&serde_json::to_string(entry).map_err(failed)?);
        text.push('\n');
        text.push_str(&declared.text().map_err(failed)?);
    }
    text.push('\n');
    files::replace(&path, text.as_bytes())
}
