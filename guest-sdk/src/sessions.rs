//! Commands on a terminal, for tools that declare the capability `shell`: with the target `run` to start and to type, with
//! `tasks` to read, resize and close.
//!
//! A session outlives the call that starts it. What is typed is judged by no rule. The functions need a host: natively they
//! panic.

use crate::shell::{Command, Ending, Error};
use crate::shell_bindings::toolgate::shell::sessions as wit;

/// A session as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Never used twice.
    pub id: String,
    /// Its command line.
    pub line: String,
    /// Lines of its terminal.
    pub rows: u32,
    /// Characters of a line.
    pub columns: u32,
    /// None while it runs, or while a page has not shown all of its output.
    pub ending: Option<Ending>,
}

/// A part of what was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The session.
    pub session: Session,
    /// Without control sequences.
    pub text: String,
    /// Where the next page begins.
    pub next: u64,
    /// Bytes between the asked and the given beginning that are no longer kept.
    pub dropped: u64,
    /// More is there already.
    pub more: bool,
}

/// What was taken of what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Bytes.
    pub bytes: u64,
    /// What the model should know.
    pub note: Option<String>,
}

/// Starts a command on a terminal of 1 to 1,000 rows and columns; the line `bash` is an interactive shell. `raw`: without
/// the terminal's line editing.
///
/// # Errors
/// The line is not granted, or nothing was executed.
pub fn start(command: &Command, rows: u32, columns: u32, raw: bool) -> Result<Session, Error> {
    Ok(wit::start_session(&command.into(), rows, columns, raw)?.into())
}

/// Types.
///
/// # Errors
/// There is no such session, it has ended, or the tool may not type.
pub fn write(id: &str, data: &[u8]) -> Result<Typed, Error> {
    let typed = wit::write(id, data)?;
    Ok(Typed {
        bytes: typed.bytes as u64,
        note: typed.note,
    })
}

/// What was shown from an offset on, at most 28,000 bytes. Waits at most so many milliseconds, up to 60,000, until there is
/// some and it comes to rest, or the session has ended.
///
/// # Errors
/// There is no such session, or the tool may not see it.
pub fn read(id: &str, from: u64, wait_ms: u32) -> Result<Page, Error> {
    let page = wit::read(id, from as f64, wait_ms)?;
    Ok(Page {
        session: page.session.into(),
        text: page.text,
        next: page.next as u64,
        dropped: page.dropped as u64,
        more: page.more,
    })
}

/// Gives a session another size.
///
/// # Errors
/// There is no such session, it has ended, the size cannot be, or the tool is read-only.
pub fn resize(id: &str, rows: u32, columns: u32) -> Result<Session, Error> {
    Ok(wit::resize(id, rows, columns)?.into())
}

/// Ends a session with its whole process tree. One that has ended stays as it is.
///
/// # Errors
/// There is no such session, or the tool is read-only.
pub fn close(id: &str) -> Result<Session, Error> {
    Ok(wit::close(id)?.into())
}

impl From<wit::Session> for Session {
    fn from(session: wit::Session) -> Self {
        Self {
            id: session.id,
            line: session.line,
            rows: session.rows,
            columns: session.columns,
            ending: session.ending.map(Into::into),
        }
    }
}
