//! Standing answers: what somebody said "always" to, in a file.
//!
//! Guarantees that an answer holds for the same tool, the same component, the same rule, the same workspace where it is
//! about a command, and the same content of every file that it is bound to, and for nothing wider: a file that changed, went or came into being since ends it until it
//! is as it was. Never contains a pattern.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::private_file::{self, Turn, flags};
use crate::gate::{BoundFiles, PortError, Remembered, Standing};
use crate::model::{hex, suggestion};

/// The most answers: each is looked at before somebody is asked.
const MAX_ANSWERS: usize = 1_000;
/// The most bytes of the file with the answers.
const MAX_FILE: u64 = 8 << 20;
/// The most files that an answer is bound to.
const MAX_BOUND: usize = 64;
/// The most bytes of a file that an answer is bound to: it is read whole before every call that the answer is for.
const MAX_BOUND_FILE: u64 = 64 << 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct StandingAnswers {
    file: PathBuf,
}

/// One answer that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandingAnswer {
    /// Its name, eight hexadecimal digits.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// SHA-256 of its component.
    pub component: String,
    /// The rule that the person saw.
    pub rule: String,
    /// The files that it is bound to: the SHA-256 of each, none where there was no such file.
    pub files: BoundFiles,
    /// The workspace in which it holds; none: in every one.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    /// Who answered.
    pub by: String,
    /// When.
    pub since: Timestamp,
}

/// Why something could not be done with standing answers.
#[derive(Debug, thiserror::Error)]
pub enum StandingError {
    /// The file.
    #[error("the standing answers in {file} cannot be used: {error}")]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It does not hold answers.
    #[error(
        "{file} does not hold standing answers: {error}. Mend it, or remove it to be asked again"
    )]
    Torn {
        /// Which.
        file: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
    /// No such answer.
    #[error(
        "there is no standing answer '{id}'.{suggestion} 'toolgate approvals standing' shows all"
    )]
    Unknown {
        /// What was asked for.
        id: String,
        /// ` Did you mean '…'?`, or nothing.
        suggestion: String,
    },
    /// Several answers.
    #[error("'{id}' is the beginning of several standing answers: {}", .found.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Their names.
        found: Vec<String>,
    },
}

impl StandingAnswers {
    /// Opens the answers; a missing file holds none, and its folder is made. The file has mode 0600.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else: what was said before is not thrown away on a guess.
    pub fn open(file: &Path) -> Result<Self, StandingError> {
        let answers = Self {
            file: file.to_owned(),
        };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(|error| answers.failed(error))?;
        }
        answers.list()?;
        Ok(answers)
    }

    /// All answers, oldest first.
    ///
    /// # Errors
    /// As for [`StandingAnswers::open`].
    pub fn list(&self) -> Result<Vec<StandingAnswer>, StandingError> {
        let bytes = private_file::read(&self.file, MAX_FILE).map_err(|error| self.failed(error))?;
        match bytes {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| StandingError::Torn {
                file: self.file.clone(),
                error,
            }),
            None => Ok(Vec::new()),
        }
    }

    /// Takes back the answer with this name, or the only one whose name begins so; gives it.
    ///
    /// # Errors
    /// There is no such answer or more than one, or the file cannot be read or written.
    pub fn forget(&self, id: &str) -> Result<StandingAnswer, StandingError> {
        let id = id.trim().to_lowercase();
        let _turn = self.turn()?;
        let mut answers = self.list()?;
        let begins = |answer: &StandingAnswer| !id.is_empty() && answer.id.starts_with(&id);
        let Some(at) = answers.iter().position(begins) else {
            let suggestion = suggestion(&id, answers.iter().map(|answer| answer.id.as_str()));
            return Err(StandingError::Unknown { id, suggestion });
        };
        let found: Vec<String> = answers
            .iter()
            .filter(|answer| begins(answer))
            .map(|answer| answer.id.clone())
            .collect();
        if found.len() > 1 {
            return Err(StandingError::Ambiguous { id, found });
        }
        let forgotten = answers.remove(at);
        self.write(&answers)?;
        Ok(forgotten)
    }

    /// Keeps an answer to what is described, if the files are still as they were when it was asked; gives it.
    ///
    /// # Errors
    /// A file changed, there are too many answers, or they cannot be read or written.
    pub(super) fn promise(&self, about: &About, by: &str) -> Result<StandingAnswer, PortError> {
        // The person saw the files as they were when it was asked.
        if bind(about.files.keys().cloned().collect())? != about.files {
            return Err(PortError(
                "a file that it is bound to changed while it was asked".to_owned(),
            ));
        }
        let random = uuid::Uuid::new_v4().simple().to_string();
        let answer = StandingAnswer {
            id: random.chars().take(8).collect(),
            tool: about.tool.clone(),
            component: about.component.clone(),
            rule: about.rule.clone(),
            files: about.files.clone(),
            workspace: about.workspace.clone(),
            by: by.chars().take(500).collect(),
            since: Timestamp::now(),
        };
        self.add(answer.clone())?;
        Ok(answer)
    }

    fn add(&self, answer: StandingAnswer) -> Result<(), PortError> {
        let broken = |error: StandingError| PortError(error.to_string());
        let _turn = self.turn().map_err(broken)?;
        let mut answers = self.list().map_err(broken)?;
        answers.retain(|known| !known.gives_way_to(&answer));
        if answers.len() >= MAX_ANSWERS {
            return Err(PortError(format!(
                "{} standing answers are kept already: take some back with 'toolgate approvals forget'",
                answers.len()
            )));
        }
        answers.push(answer);
        self.write(&answers).map_err(broken)
    }

    fn write(&self, answers: &[StandingAnswer]) -> Result<(), StandingError> {
        let failed = |error| self.failed(error);
        let text = serde_json::to_vec_pretty(answers).map_err(|error| failed(error.into()))?;
        if text.len() as u64 > MAX_FILE {
            return Err(failed(io::Error::other(format!(
                "they would be longer than {MAX_FILE} bytes"
            ))));
        }
        private_file::replace(&self.file, &text).map_err(failed)
    }

    fn turn(&self) -> Result<Turn, StandingError> {
        Turn::take(&self.file.with_extension("lock")).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> StandingError {
        StandingError::File {
            file: self.file.clone(),
            error,
        }
    }
}

/// What an answer would be about, as it waits in a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    pub(super) tool: String,
    pub(super) component: String,
    pub(super) rule: String,
    pub(super) files: BoundFiles,
    pub(super) workspace: Option<PathBuf>,
}

impl From<&Standing> for About {
    fn from(standing: &Standing) -> Self {
        Self {
            tool: standing.tool.as_str().to_owned(),
            component: standing.component.clone(),
            rule: standing.rule.clone(),
            files: standing.files.clone(),
            workspace: standing.workspace.clone(),
        }
    }
}

impl StandingAnswer {
    /// Whether a second answer takes this one's place.
    fn gives_way_to(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.component == other.component
            && self.rule == other.rule
            && self.workspace == other.workspace
            && self.files.keys().eq(other.files.keys())
    }

    /// Whether it is about exactly this, the content of every file too.
    fn is_about(&self, standing: &Standing) -> bool {
        self.tool == standing.tool.as_str()
            && self.component == standing.component
            && self.rule == standing.rule
            && self.workspace == standing.workspace
            && self.files == standing.files
    }
}

impl Remembered for StandingAnswers {
    fn bind(&self, files: Vec<PathBuf>) -> Result<BoundFiles, PortError> {
        bind(files)
    }

    fn recall(&self, standing: &Standing) -> Option<String> {
        let answers = self
            .list()
            .inspect_err(|error| tracing::warn!("{error}"))
            .ok()?;
        let answer = answers.iter().find(|answer| answer.is_about(standing))?;
        let since = answer.since.strftime("%Y-%m-%dT%H:%M:%SZ");
        Some(format!("{}, standing since {since}", answer.by))
    }

    fn keep(&self, standing: &Standing, by: &str) -> Result<(), PortError> {
        self.promise(&About::from(standing), by).map(|_| ())
    }
}

/// The files as they are now.
fn bind(files: Vec<PathBuf>) -> Result<BoundFiles, PortError> {
    if files.len() > MAX_BOUND {
        return Err(PortError(format!(
            "an answer is bound to at most {MAX_BOUND} files, not to {}",
            files.len()
        )));
    }
    let bound = files.into_iter().map(|file| match digest(&file) {
        Ok(digest) => Ok((file, digest)),
        Err(error) => Err(PortError(format!("{}: {error}", file.display()))),
    });
    bound.collect()
}

/// The SHA-256 of a regular file, wherever links lead to it: what a program would run. `None`: there is none. A directory
/// is bound to being one: a command that names it says nothing of what is in it.
fn digest(path: &Path) -> io::Result<Option<String>> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags(OFlags::NONBLOCK))
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Ok(Some("directory".to_owned()));
    }
    if !metadata.is_file() {
        return Err(io::Error::other(
            "an answer cannot be bound to what is no regular file",
        ));
    }
    if metadata.len() > MAX_BOUND_FILE {
        return Err(too_long());
    }
    let mut hasher = Sha256::new();
    let mut bytes = vec![0; 64 << 10];
    let mut file = file.take(MAX_BOUND_FILE + 1);
    loop {
        match file.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => hasher.update(bytes.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if file.limit() == 0 {
        return Err(too_long());
    }
    Ok(Some(hex(&hasher.finalize())))
}

fn too_long() -> io::Error {
    io::Error::other("an answer cannot be bound to a file of more than 64 MiB")
}

#[cfg(test)]
mod tests;
