//! The journal as lines of JSON in one file.
//!
//! A record is one `write` to a file that is only appended to, so that records of several processes do not mix, before the
//! result is released. What was written survives the process; a thread of its own brings it to the disk within 50 ms, many
//! records at once, so that a call never waits for the disk.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::scrub;
use crate::gate::{Journal, PortError, Record};

/// Bytes of most records.
const USUAL_LINE: usize = 2_048;
/// How long records gather before they are brought to the disk.
const GATHER: Duration = Duration::from_millis(50);

/// See the module.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: Arc<File>,
    written: Sender<()>,
}

/// Why there is no journal.
#[derive(Debug, thiserror::Error)]
#[error("the journal {path} cannot be written: {error}")]
pub struct JournalError {
    path: PathBuf,
    error: std::io::Error,
}

impl JsonLines {
    /// Opens a journal, mode 0600, making its folder where it is missing.
    ///
    /// # Errors
    /// It cannot be opened for appending.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let failed = |error| JournalError {
            path: path.to_owned(),
            error,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let file = Arc::new(file);
        let (written, gathered) = channel::<()>();
        let synced = Arc::clone(&file);
        thread::Builder::new()
            .name("toolgate-journal".to_owned())
            .spawn(move || {
                while gathered.recv().is_ok() {
                    thread::sleep(GATHER);
                    while gathered.try_recv().is_ok() {}
                    if let Err(error) = synced.sync_data() {
                        tracing::error!("the journal could not be brought to the disk: {error}");
                    }
                }
            })
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            written,
        })
    }
}

impl Journal for JsonLines {
    fn append(&self, record: &Record) -> Result<(), PortError> {
        let line = line(record)?;
        let failed = |error: std::io::Error| PortError(format!("{}: {error}", self.path.display()));
        let mut file: &File = &self.file;
        let written = file.write(&line).map_err(failed)?;
        if written != line.len() {
            let error = std::io::Error::from(std::io::ErrorKind::WriteZero);
            return Err(failed(error));
        }
        self.written
            .send(())
            .map_err(|error| PortError(error.to_string()))
    }
}

impl Drop for JsonLines {
    fn drop(&mut self) {
        if let Err(error) = self.file.sync_data() {
            tracing::error!("the journal could not be brought to the disk: {error}");
        }
    }
}

/// A journal in memory, for tests and for hosts that keep their own.
#[derive(Debug, Default)]
pub struct Memory {
    lines: Mutex<Vec<serde_json::Value>>,
}

impl Memory {
    /// The records so far, as they would stand in a file.
    pub fn records(&self) -> Vec<serde_json::Value> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Journal for Memory {
    fn append(&self, record: &Record) -> Result<(), PortError> {
        let value =
            serde_json::from_slice(&line(record)?).map_err(|error| PortError(error.to_string()))?;
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(value);
        Ok(())
    }
}

fn line(record: &Record) -> Result<Vec<u8>, PortError> {
    let failed = |error: serde_json::Error| PortError(error.to_string());
    let mut line = Vec::with_capacity(USUAL_LINE);
    serde_json::to_writer(&mut line, record).map_err(failed)?;
    if scrub::may_hold_secrets(&line) {
        let mut value = serde_json::to_value(record).map_err(failed)?;
        scrub_value(&mut value);
        line = serde_json::to_vec(&value).map_err(failed)?;
    }
    line.push(b'\n');
    Ok(line)
}

/// Scrubs every text of a record, whoever put it there.
fn scrub_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(scrubbed) = scrub::scrub(text) {
                *text = scrubbed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(scrub_value),
        Value::Object(object) => object.values_mut().for_each(scrub_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
