//! The queue: questions that wait until somebody has time for them, in files.
//!
//! A call that asks here never waits: it is denied with the question's name, and the same call again takes the answer.
//! Guarantees that an answer is taken exactly once, by the call that the person saw and by no other; that a question
//! whose paths lead elsewhere by now, or whose file would be changed differently, is asked anew, in the old one's place and
//! with a word about it; that "always" is kept at once, and not only when the call comes again; that questions and answers survive a restart; and that a
//! file which cannot be understood is named and never read as a yes.
//!
//! What protects the answers are file permissions: the folder (0700) lies in Toolgate's state directory, which no tool
//! can reach. Nothing in it is secret, and whoever can write there as this user can also answer with the command line.
//! Processes take turns at the folder by a lock; an answer is taken by removing its file, which only one can.

mod entry;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

pub use self::entry::{Entry, State};
use super::private_file::{self, TEMPORARY, Turn};
use super::remembered::{StandingAnswer, StandingAnswers};
use super::render::Question;
use crate::gate::{Answer, ApprovalRequest, Approver, PortError};
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
    /// "Always" could not be kept.
    #[error("the answer to '{id}' cannot be kept, so the question still waits: {why}")]
    NotKept {
        /// Which.
        id: String,
        /// Why.
        why: String,
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
        let found = self
            .sweep(now, Entry::is_forgotten)
            .map_err(|error| self.failed(error))?;
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

    /// Answers yes: the same call takes it within ten minutes. `id` is the whole name, or the beginning of one only.
    ///
    /// # Errors
    /// There is no such question or more than one, it is over or answered, or the folder cannot be written.
    pub fn allow(&self, id: &str, by: &str) -> Result<Entry, QueueError> {
        let at = Timestamp::now();
        let by = cut(by);
        self.answer(id, State::Approved { by, at }, at)
    }

    /// Answers yes from now on: keeps the question's rule among the standing answers, and takes the question out of the
    /// queue, so that there is one answer to take back.
    ///
    /// # Errors
    /// As for [`Queue::allow`]; `always` is no answer to it; it cannot be kept, so that nothing was answered.
    pub fn allow_always(
        &self,
        id: &str,
        by: &str,
        answers: &StandingAnswers,
    ) -> Result<(Entry, StandingAnswer), QueueError> {
        let _turn = self.turn()?;
        let (path, entry) = self.named(id)?;
        is_open(&entry, Timestamp::now())?;
        let id = entry.id.clone();
        let Some(about) = &entry.standing else {
            return Err(QueueError::OnlyOnce { id });
        };
        let kept = answers
            .promise(about, &cut(by))
            .map_err(|PortError(why)| QueueError::NotKept { id, why })?;
        private_file::remove(&path).map_err(|error| self.failed(error))?;
        Ok((entry, kept))
    }

    /// Answers no: the same call hears it, with the message. A yes that was not taken yet is taken back so.
    ///
    /// # Errors
    /// As for [`Queue::allow`].
    pub fn deny(&self, id: &str, by: &str, message: Option<&str>) -> Result<Entry, QueueError> {
        let at = Timestamp::now();
        let (by, message) = (cut(by), message.map(cut));
        self.answer(id, State::Refused { by, at, message }, at)
    }

    fn answer(&self, id: &str, state: State, now: Timestamp) -> Result<Entry, QueueError> {
        let _turn = self.turn()?;
        let (path, entry) = self.named(id)?;
        match (is_open(&entry, now), &entry.state, &state) {
            // Whoever says no after a yes is believed.
            (Err(QueueError::Answered { .. }), State::Approved { .. }, State::Refused { .. })
            | (Ok(()), _, _) => {}
            (Err(error), _, _) => return Err(error),
        }
        let answered = entry.answered(state, now);
        self.write(&path, &answered)
            .map_err(|error| self.failed(error))?;
        Ok(answered)
    }

    /// The question with this name, or the only one whose name begins so, over or not. For who has the turn.
    fn named(&self, id: &str) -> Result<Found, QueueError> {
        let id = id.trim().to_lowercase();
        let mut all = self.read_all().map_err(|error| self.failed(error))?;
        let begins = |(_, entry): &Found| !id.is_empty() && entry.id.starts_with(&id);
        let mut found: Vec<usize> = (0..all.len())
            .filter(|at| all.get(*at).is_some_and(begins))
            .collect();
        // What is over stands in the way of nothing.
        if found.len() > 1 {
            let now = Timestamp::now();
            found.retain(|at| all.get(*at).is_some_and(|(_, entry)| !entry.is_over(now)));
        }
        match found.as_slice() {
            [] => Err(unknown(id, all.iter().map(|(_, entry)| entry))),
            [only] => Ok(all.swap_remove(*only)),
            several => {
                let name = |at: &usize| all.get(*at).map(|(_, entry)| entry.id.clone());
                let found = several.iter().filter_map(name).collect();
                Err(QueueError::Ambiguous { id, found })
            }
        }
    }

    /// Takes the answer to a request, or leaves the question here. Never waits for a person.
    fn take_or_put(&self, request: &ApprovalRequest, now: Timestamp) -> io::Result<Answer> {
        let question = Question::of(request);
        let _turn = Turn::take(&self.lock())?;
        let path = self.path_of(&request.about);
        let known = read_or_name(&path).filter(|entry| entry.about == request.about);
        let earlier = match known {
            // What somebody saw must be what would happen.
            Some(entry)
                if entry.ticket == request.ticket
                    && !entry.is_over(now)
                    && entry.question.asks_the_same(&question) =>
            {
                return take(&path, entry);
            }
            Some(entry) => Some(entry.void_because(now)),
            None => None,
        };
        let question = Question {
            earlier,
            ..question
        };
        self.put(&path, Entry::new(request, question, now))
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
            let waiting = self.sweep(entry.created, Entry::is_over)?;
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

    /// Removes what nobody needs any more and what a crash left behind; gives what is not over.
    fn sweep(
        &self,
        now: Timestamp,
        needless: impl Fn(&Entry, Timestamp) -> bool,
    ) -> io::Result<Vec<Found>> {
        for left in self.names(TEMPORARY)? {
            // Whoever writes has the turn, and it is ours.
            if let Err(error) = fs::remove_file(&left) {
                tracing::warn!("{} stays: {error}", left.display());
            }
        }
        let mut kept = Vec::new();
        for (path, entry) in self.read_all()? {
            if needless(&entry, now) {
                private_file::remove(&path)?;
            } else if !entry.is_over(now) {
                kept.push((path, entry));
            }
        }
        Ok(kept)
    }

    fn read_all(&self) -> io::Result<Vec<Found>> {
        let read = |path: PathBuf| {
            let entry = read_or_name(&path)?;
            if path == self.path_of(&entry.about) {
                return Some((path, entry));
            }
            name_once(&path, "it is the file of another question");
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

    /// One file for all that is asked about one call, so that it has one question.
    fn path_of(&self, about: &str) -> PathBuf {
        let name = hex(&Sha256::digest(about.as_bytes()));
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
        State::Approved { by, at } => Answer::Approved {
            by: format!("the approval queue ({by}, {})", seconds(at)),
            always: false,
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
        name_once(path, &error);
        None
    })
}

/// Warns of a foreign file, once in this process: the folder is read often.
fn name_once(path: &Path, why: &str) {
    static NAMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if named.len() < MAX_KEPT && named.insert(path.to_owned()) {
        tracing::warn!(
            "{} is no question of the approval queue ({why}); remove it if you do not know it",
            path.display()
        );
    }
}

/// Whether it can be answered.
fn is_open(entry: &Entry, now: Timestamp) -> Result<(), QueueError> {
    let id = entry.id.clone();
    if entry.is_over(now) {
        let since = entry.expires;
        return Err(QueueError::Over { id, since });
    }
    match &entry.state {
        State::Waiting => Ok(()),
        State::Approved { by, at } | State::Refused { by, at, .. } => Err(QueueError::Answered {
            id,
            state: entry.state.as_str(),
            by: by.clone(),
            at: *at,
        }),
    }
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
