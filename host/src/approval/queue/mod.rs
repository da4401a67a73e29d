//! The queue: questions that wait until somebody has time for them, in files.
//!
//! A call that asks here never waits: it is denied with the question's name, and the same call again takes the answer.
//! Guarantees that an answer is taken exactly once, by the call that the person saw and by no other; that a question
//! whose file would now be changed differently is asked anew; that questions and answers survive a restart; and that a
//! file which cannot be understood is named and never read as a yes.
//!
//! What protects the answers are file permissions: the folder (0700) lies in Toolgate's state directory, which no tool
//! can reach. Nothing in it is secret, and whoever can write there as this user can also answer with the command line.
//! Processes take turns at the folder by a lock; an answer is taken by removing its file, which only one can.

mod entry;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

pub use self::entry::{Entry, State};
use super::private_file::{self, TEMPORARY, Turn};
use super::render::Question;
use crate::gate::{Answer, ApprovalRequest, Approver};
use crate::model::{hex, suggestion};

/// The most questions that are kept, those whose answer waits to be taken included: nobody reads more, and an agent that
/// asks for ever must not fill the disk.
const MAX_KEPT: usize = 1_000;
/// The most bytes of a question with its input.
const MAX_ENTRY: usize = 256 << 10;
/// The most bytes of a file: a question and its answer.
const MAX_FILE: u64 = 2 * MAX_ENTRY as u64;
/// The most characters of the words that go with an answer.
const MAX_WORDS: usize = 2_000;
/// What questions' files end in.
const FILE: &str = ".json";

/// See the module.
#[derive(Clone, Debug)]
pub struct Queue {
    folder: PathBuf,
}

/// Why something could not be done with the queue.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The folder.
    #[error("the approval queue {folder} cannot be used: {error}")]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// No such question.
    #[error(
        "no question '{id}' waits: it was taken, it is over, or there was none.{suggestion} \
         'toolgate approvals list' shows all"
    )]
    Unknown {
        /// What was asked for.
        id: String,
        /// ` Did you mean '…'?`, or nothing.
        suggestion: String,
    },
    /// Several questions.
    #[error("'{id}' is the beginning of several questions: {}", .found.join(", "))]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Their names.
        found: Vec<String>,
    },
    /// Answered before.
    #[error("the question '{id}' was answered already: {state} by {by} at {}", seconds(*.at))]
    Answered {
        /// Which.
        id: String,
        /// `approved` or `refused`.
        state: &'static str,
        /// By whom.
        by: String,
        /// When.
        at: Timestamp,
    },
    /// Too late.
    #[error("the question '{id}' is over since {}: the same call again asks anew", seconds(*.since))]
    Over {
        /// Which.
        id: String,
        /// Since when.
        since: Timestamp,
    },
    /// "Always" is no answer to it.
    #[error(
        "the question '{id}' can only be answered for this once: there is no rule that says exactly this call"
    )]
    OnlyOnce {
        /// Which.
        id: String,
    },
}

/// A question as it was found, and where.
type Found = (PathBuf, Entry);

impl Queue {
    /// Opens the queue, making its folder (mode 0700) where it is missing, and removes what is over.
    ///
    /// # Errors
    /// The folder cannot be made or read, belongs to somebody else, or others may write into it.
    pub fn open(folder: &Path) -> Result<Self, QueueError> {
        let queue = Self {
            folder: folder.to_owned(),
        };
        private_file::folder(folder).map_err(|error| queue.failed(error))?;
        queue.list()?;
        Ok(queue)
    }

    /// All questions that are not over, oldest first. A file that is none is named in the log and left out.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, QueueError> {
        self.list_at(Timestamp::now())
    }

    fn list_at(&self, now: Timestamp) -> Result<Vec<Entry>, QueueError> {
        let _turn = self.turn()?;
        let found = self.sweep(now).map_err(|error| self.failed(error))?;
        let mut entries: Vec<Entry> = found.into_iter().map(|(_, entry)| entry).collect();
        entries.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(entries)
    }

    /// The question with this name, or the only one whose name begins so.
    ///
    /// # Errors
    /// There is none or more than one, or the folder cannot be read.
    pub fn find(&self, id: &str) -> Result<Entry, QueueError> {
        let id = id.trim().to_lowercase();
        let entries = self.list()?;
        let begins = |entry: &&Entry| !id.is_empty() && entry.id.starts_with(&id);
        let mut found: Vec<&Entry> = entries.iter().filter(begins).collect();
        if found.len() > 1 {
            let found = found.iter().map(|entry| entry.id.clone()).collect();
            return Err(QueueError::Ambiguous { id, found });
        }
        match found.pop() {
            Some(entry) => Ok(entry.clone()),
            None => Err(unknown(id, entries.iter())),
        }
    }

    /// Answers yes: the same call takes it within ten minutes. `id` is the whole name. `always`: the question's rule holds
    /// from now on.
    ///
    /// # Errors
    /// There is no such question, it is over or answered, `always` is no answer to it, or the folder cannot be written.
    pub fn allow(&self, id: &str, by: &str, always: bool) -> Result<Entry, QueueError> {
        let at = Timestamp::now();
        let by = cut(by);
        self.answer(id, State::Approved { by, at, always }, at)
    }

    /// Answers no: the same call hears it, with the message.
    ///
    /// # Errors
    /// As for [`Queue::allow`].
    pub fn deny(&self, id: &str, by: &str, message: Option<&str>) -> Result<Entry, QueueError> {
        let at = Timestamp::now();
        let (by, message) = (cut(by), message.map(cut));
        self.answer(id, State::Refused { by, at, message }, at)
    }

    fn answer(&self, id: &str, state: State, now: Timestamp) -> Result<Entry, QueueError> {
        let id = id.trim().to_lowercase();
        let _turn = self.turn()?;
        let found = self.read_all().map_err(|error| self.failed(error))?;
        let Some((path, entry)) = found.iter().find(|(_, entry)| entry.id == id) else {
            return Err(unknown(id, found.iter().map(|(_, entry)| entry)));
        };
        if entry.is_over(now) {
            let since = entry.expires;
            return Err(QueueError::Over { id, since });
        }
        match &entry.state {
            State::Waiting => {}
            State::Approved { by, at, .. } | State::Refused { by, at, .. } => {
                return Err(QueueError::Answered {
                    id,
                    state: entry.state.as_str(),
                    by: by.clone(),
                    at: *at,
                });
            }
        }
        if matches!(state, State::Approved { always: true, .. }) && entry.question.always.is_none()
        {
            return Err(QueueError::OnlyOnce { id });
        }
        let answered = entry.clone().answered(state, now);
        self.write(path, &answered)
            .map_err(|error| self.failed(error))?;
        Ok(answered)
    }

    /// Takes the answer to a request, or leaves the question here. Never waits for a person.
    fn take_or_put(&self, request: &ApprovalRequest, now: Timestamp) -> io::Result<Answer> {
        let question = Question::of(request);
        let _turn = Turn::take(&self.lock())?;
        let path = self.path_of(&request.ticket);
        let known = read_or_name(&path)
            .filter(|entry| entry.ticket == request.ticket && !entry.is_over(now));
        match known {
            // What somebody saw must be what would happen.
            Some(entry) if entry.question.asks_the_same(&question) => take(&path, entry),
            Some(_) | None => self.put(&path, Entry::new(request.ticket.clone(), question, now)),
        }
    }

    fn put(&self, path: &Path, entry: Entry) -> io::Result<Answer> {
        let text = serde_json::to_vec(&entry)?;
        if text.len() > MAX_ENTRY {
            tracing::warn!(
                "a call of {} is not put into the approval queue: with {} bytes it is longer than {MAX_ENTRY}",
                entry.question.tool,
                text.len()
            );
            return Ok(Answer::Nobody);
        }
        // Few files: no need to read them all.
        if self.files()?.len() >= MAX_KEPT {
            let waiting = self.sweep(entry.created)?;
            let others = waiting.iter().filter(|(place, _)| place != path);
            if others.count() >= MAX_KEPT {
                tracing::warn!(
                    "the approval queue {} is full: it holds {MAX_KEPT} questions",
                    self.folder.display()
                );
                return Ok(Answer::Nobody);
            }
        }
        private_file::replace(path, &text)?;
        Ok(Answer::Pending { id: entry.id })
    }

    /// Removes what is over and what a crash left behind; gives the rest.
    fn sweep(&self, now: Timestamp) -> io::Result<Vec<Found>> {
        for left in self.names(TEMPORARY)? {
            // Whoever writes has the turn, and it is ours.
            if let Err(error) = fs::remove_file(&left) {
                tracing::warn!("{} stays: {error}", left.display());
            }
        }
        let mut kept = Vec::new();
        for (path, entry) in self.read_all()? {
            if entry.is_over(now) {
                private_file::remove(&path)?;
            } else {
                kept.push((path, entry));
            }
        }
        Ok(kept)
    }

    fn read_all(&self) -> io::Result<Vec<Found>> {
        let read = |path: PathBuf| {
            let entry = read_or_name(&path)?;
            if path == self.path_of(&entry.ticket) {
                return Some((path, entry));
            }
            tracing::warn!("{} does not belong into the approval queue", path.display());
            None
        };
        Ok(self.files()?.into_iter().filter_map(read).collect())
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        self.names(FILE)
    }

    fn names(&self, ending: &str) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            if file
                .file_name()
                .as_encoded_bytes()
                .ends_with(ending.as_bytes())
            {
                found.push(file.path());
            }
        }
        Ok(found)
    }

    /// One file for each ticket, so that a call has one question.
    fn path_of(&self, ticket: &str) -> PathBuf {
        let name = hex(&Sha256::digest(ticket.as_bytes()));
        self.folder.join(format!("{name}{FILE}"))
    }

    fn write(&self, path: &Path, entry: &Entry) -> io::Result<()> {
        private_file::replace(path, &serde_json::to_vec(entry)?)
    }

    fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    fn turn(&self) -> Result<Turn, QueueError> {
        Turn::take(&self.lock()).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> QueueError {
        QueueError::Folder {
            folder: self.folder.clone(),
            error,
        }
    }
}

#[async_trait]
impl Approver for Queue {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let (queue, request) = (self.clone(), request.clone());
        let asked =
            tokio::task::spawn_blocking(move || queue.take_or_put(&request, Timestamp::now()));
        match asked.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                tracing::warn!("{}", self.failed(error));
                Answer::Nobody
            }
            Err(_) => Answer::Nobody,
        }
    }
}

/// An answer goes with its file: who removed it has it.
fn take(path: &Path, entry: Entry) -> io::Result<Answer> {
    let answer = match entry.state {
        State::Waiting => return Ok(Answer::Pending { id: entry.id }),
        State::Approved { by, at, always } => Answer::Approved {
            by: format!("the approval queue ({by}, {})", seconds(at)),
            always,
        },
        State::Refused { by, at, message } => Answer::Refused {
            by: format!("the approval queue ({by}, {})", seconds(at)),
            message,
        },
    };
    private_file::remove(path)?;
    Ok(answer)
}

/// A file that is no question is named, and is none.
fn read_or_name(path: &Path) -> Option<Entry> {
    let read = private_file::read(path, MAX_FILE)
        .map_err(|error| error.to_string())
        .and_then(|bytes| {
            bytes
                .map(|bytes| serde_json::from_slice(&bytes))
                .transpose()
                .map_err(|error| error.to_string())
        });
    read.unwrap_or_else(|error| {
        tracing::warn!("{} is no question of the queue: {error}", path.display());
        None
    })
}

fn unknown<'a>(id: String, entries: impl Iterator<Item = &'a Entry>) -> QueueError {
    let suggestion = suggestion(&id, entries.map(|entry| entry.id.as_str()));
    QueueError::Unknown { id, suggestion }
}

fn cut(words: &str) -> String {
    words.chars().take(MAX_WORDS).collect()
}

fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests;
