//! A command on a terminal of its own: it prompts, echoes, and is written to while it runs.
//!
//! The terminal comes from the sandbox's own `/dev`, and the tree is held as any other one: its end is the end of all of it,
//! never a hang-up that a process may ignore. Three things end a terminal by themselves: its command's end, a deadline, and
//! nobody using it. What is written is for the programs on the terminal and is read by no rule: whoever may write to a shell
//! may run anything that its sandbox allows.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::termios::{LocalModes, Winsize, tcgetattr, tcgetwinsize, tcsetwinsize};
use tokio::io::Interest;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::capture::{Piece, Spill, Stream};
use super::command::{CouldNotStart, Network};
use super::ended::{CommandEnd, Containment, Ended, InForce};
use super::running::{Output, Running, Shared};
use super::streams::Master;
use super::text;
use super::tree::Lifeline;
use super::wire::{Screen, Step};

/// The longest line that a terminal takes while it edits lines; the system drops the rest.
pub const LONGEST_LINE: usize = 4_095;
/// The longest wait of one call.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How much is written at once: a quarter of what a terminal holds.
const CHUNK: usize = 1_024;
/// The most bytes of one reading.
const READ_AT_ONCE: usize = 28_000;
/// How long nothing may come until what was printed counts as an answer.
const QUIET: Duration = Duration::from_millis(60);
/// The most lines, and the most characters of a line.
const LARGEST: u16 = 1_000;

/// What is asked for: a command on a terminal, with its bounds.
#[derive(Debug)]
pub struct Session {
    /// For bash; an interactive bash where there is none.
    pub command: Option<String>,
    /// Where it begins; the first writable root by default.
    pub cwd: Option<PathBuf>,
    /// Lines, 1 to 1,000; 24 by default.
    pub rows: u16,
    /// Characters of a line, 1 to 1,000; 80 by default.
    pub cols: u16,
    /// Whether bytes pass as they are both ways: no echo, no line editing, no signals from keys, and lines of any length. A
    /// program on the terminal may change that.
    pub raw: bool,
    /// What it may dial.
    pub network: Network,
    /// How long nobody may read, write or resize; 30 minutes by default, clamped to 1 s ..= 24 h.
    pub idle: Option<Duration>,
    /// The deadline; 24 h by default, clamped to 1 s ..= 24 h.
    pub timeout: Option<Duration>,
    /// Where all of the output goes, up to 64 MiB.
    pub spill: Option<Box<dyn Spill>>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            command: None,
            cwd: None,
            rows: 24,
            cols: 80,
            raw: false,
            network: Network::Off,
            idle: None,
            timeout: None,
            spill: None,
        }
    }
}

impl Session {
    /// A command with the defaults.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..Self::default()
        }
    }

    pub(super) fn screen(&self) -> Result<Screen, CouldNotStart> {
        sized(self.rows, self.cols).map_err(|hint| CouldNotStart::new(Step::Validate, hint))?;
        Ok(Screen {
            rows: self.rows,
            cols: self.cols,
            raw: self.raw,
        })
    }

    /// How long it may go without use, and a note where that is not what was asked for.
    pub(super) fn longest_idle(&self) -> (Duration, Option<String>) {
        let asked = self.idle.unwrap_or(Duration::from_secs(1_800));
        let taken = asked.clamp(Duration::from_secs(1), Duration::from_secs(86_400));
        let note = (taken != asked).then(|| {
            format!(
                "the idle time of {} ms is outside of 1000 to 86400000: {} ms was used",
                asked.as_millis(),
                taken.as_millis()
            )
        });
        (taken, note)
    }
}

fn sized(rows: u16, cols: u16) -> Result<Winsize, String> {
    let fits = |number: u16| (1..=LARGEST).contains(&number);
    if !fits(rows) || !fits(cols) {
        return Err(format!(
            "a terminal of {rows} rows and {cols} columns cannot be: both go from 1 to {LARGEST}"
        ));
    }
    Ok(Winsize {
        ws_row: rows,
        ws_col: cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    })
}

/// Why a terminal did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TerminalError {
    /// Its command has ended.
    #[error("the terminal has ended: read what it printed, and start a new one to go on")]
    Ended,
    /// A size that cannot be.
    #[error("{0}")]
    Size(String),
    /// The system refused.
    #[error("the terminal cannot be used: {0}")]
    System(String),
}

/// What was taken of what was to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// How many bytes. Fewer than were given where the programs on the terminal do not read.
    pub bytes: usize,
    /// What the writer should know.
    pub note: Option<String>,
}

/// What was printed from a place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// For a model: no control sequences, each line in its last state.
    pub text: String,
    /// As it was printed.
    pub raw: Vec<u8>,
    /// Where the next reading begins.
    pub next: u64,
    /// Bytes between the place that was asked for and the text that are no longer kept.
    pub missed: u64,
    /// Whether more is there already.
    pub more: bool,
    /// How the command ended, once all that it printed is read.
    pub end: Option<CommandEnd>,
}

/// A command on its terminal. Dropping it ends the whole tree.
#[derive(Debug)]
pub struct Terminal {
    pub(super) shared: Arc<Shared>,
    lifeline: Arc<dyn Lifeline>,
    output: Output,
    master: Master,
    held: Mutex<Held>,
    writing: Mutex<()>,
    containment: Containment,
    sandbox: InForce,
    line: String,
}

/// The tree, and its end once that is known.
#[derive(Debug)]
struct Held {
    running: Running,
    ended: Option<Ended>,
}

impl Terminal {
    pub(super) fn new(mut running: Running, line: String) -> Result<Self, CouldNotStart> {
        let master = running
            .terminal
            .take()
            .ok_or_else(|| CouldNotStart::new(Step::Terminal, "the command has no terminal"))?;
        running.shared.use_it();
        Ok(Self {
            shared: Arc::clone(&running.shared),
            lifeline: Arc::clone(&running.lifeline),
            output: running.output(),
            master,
            containment: running.containment(),
            sandbox: running.sandbox().clone(),
            held: Mutex::new(Held {
                running,
                ended: None,
            }),
            writing: Mutex::default(),
            line,
        })
    }

    /// Its command line; `bash` where it was given none.
    pub fn command(&self) -> &str {
        &self.line
    }

    /// Its rows and columns.
    ///
    /// # Errors
    /// The system does not say.
    pub fn size(&self) -> Result<(u16, u16), TerminalError> {
        let size = tcgetwinsize(&*self.master);
        let size = size.map_err(|error| TerminalError::System(error.to_string()))?;
        Ok((size.ws_row, size.ws_col))
    }

    /// What holds its tree together.
    pub fn containment(&self) -> Containment {
        self.containment
    }

    /// What is in force.
    pub fn sandbox(&self) -> &InForce {
        &self.sandbox
    }

    /// Whether its tree has ended.
    pub fn has_ended(&self) -> bool {
        self.output.has_ended()
    }

    /// Writes, as if it was typed: `\r` is the return key, `\x03` interrupts, `\x04` ends the input. Waits at most `wait`, up to
    /// [`LONGEST_WAIT`], where nobody reads.
    ///
    /// # Errors
    /// The terminal has ended, or the system refuses.
    pub async fn write(&self, bytes: &[u8], wait: Duration) -> Result<Written, TerminalError> {
        self.shared.use_it();
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let turn = timeout_at(deadline, self.writing.lock());
        let Ok(_turn) = turn.await else {
            return Ok(Written {
                bytes: 0,
                note: Some("another write is still waiting to be read".to_owned()),
            });
        };
        if self.has_ended() {
            return Err(TerminalError::Ended);
        }
        let note = self.cuts(bytes).then(|| {
            format!(
                "a line is longer than the {LONGEST_LINE} bytes that a terminal takes while it edits lines, and its rest was \
                 dropped: write shorter lines, or start the terminal with raw"
            )
        });
        let mut written = 0;
        for chunk in bytes.chunks(CHUNK) {
            let mut rest = chunk;
            while !rest.is_empty() {
                match timeout_at(deadline, self.write_some(rest)).await {
                    Ok(taken) => {
                        let taken = taken?;
                        written += taken;
                        rest = rest.get(taken..).unwrap_or_default();
                    }
                    Err(_) => return Ok(unread(written, bytes.len())),
                }
            }
        }
        Ok(Written {
            bytes: written,
            note,
        })
    }

    async fn write_some(&self, bytes: &[u8]) -> Result<usize, TerminalError> {
        let write = |master: &std::os::fd::OwnedFd| Ok(rustix::io::write(master, bytes)?);
        match self.master.async_io(Interest::WRITABLE, write).await {
            Ok(taken) => Ok(taken),
            Err(_) if self.has_ended() => Err(TerminalError::Ended),
            Err(error) => Err(TerminalError::System(error.to_string())),
        }
    }

    /// Whether the terminal edits lines at this moment, and one of these is longer than it takes.
    fn cuts(&self, bytes: &[u8]) -> bool {
        let edits = tcgetattr(&*self.master)
            .is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON));
        let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
        edits && lines.any(|line| line.len() > LONGEST_LINE)
    }

    /// Reads what was printed from a place on, 0 at first. Where nothing is there it waits for something and for the moment of
    /// quiet after it, at most `wait`, up to [`LONGEST_WAIT`]. The first 128 KiB and the last 1 MiB are kept.
    pub async fn read(&self, from: u64, wait: Duration) -> Reading {
        self.shared.use_it();
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let mut seen = from;
        loop {
            let news = timeout_at(deadline, self.output.more_than(seen)).await;
            tracing::trace!(?news, "a terminal");
            self.settle(from, deadline).await;
            seen = self.output.printed();
            let reading = self.printed_from(from).await;
            let nothing = reading.raw.is_empty() && reading.end.is_none();
            if !nothing || Instant::now() >= deadline {
                return reading;
            }
        }
    }

    /// Waits until nothing came for a moment, or there is enough for a reading.
    async fn settle(&self, from: u64, deadline: Instant) {
        loop {
            let printed = self.output.printed();
            let enough = printed.saturating_sub(from) >= READ_AT_ONCE as u64;
            if enough || self.has_ended() {
                return;
            }
            let quiet = deadline.min(Instant::now() + QUIET);
            if timeout_at(quiet, self.output.more_than(printed))
                .await
                .is_err()
            {
                return;
            }
        }
    }

    async fn printed_from(&self, from: u64) -> Reading {
        // Asked before: what was printed before the end is there then.
        let ended = self.has_ended();
        let piece = self.output.read(Stream::Out, from, READ_AT_ONCE);
        let is_last = piece.next() >= piece.total;
        let shown = if ended && is_last {
            piece.bytes.len()
        } else {
            text::whole_part(&piece.bytes)
        };
        let Piece {
            start,
            mut bytes,
            total,
        } = piece;
        bytes.truncate(shown);
        let next = start + bytes.len() as u64;
        let end = if ended && next >= total {
            Some(self.ended().await.outcome)
        } else {
            None
        };
        Reading {
            text: text::clean(&bytes),
            raw: bytes,
            next,
            missed: start.saturating_sub(from),
            more: !is_last,
            end,
        }
    }

    /// Gives it another size, which its programs are told.
    ///
    /// # Errors
    /// The size cannot be, or the terminal has ended.
    pub fn resize(&self, rows: u16, cols: u16) -> Result<(), TerminalError> {
        self.shared.use_it();
        let size = sized(rows, cols).map_err(TerminalError::Size)?;
        if self.has_ended() {
            return Err(TerminalError::Ended);
        }
        tcsetwinsize(&*self.master, size).map_err(|error| TerminalError::System(error.to_string()))
    }

    /// Ends the whole tree and gives how it ended; what had ended by itself stays as it was. When this returns, no process of
    /// the tree acts any more, unless the result says so.
    pub async fn close(&self) -> Ended {
        self.kill();
        self.ended().await
    }

    /// Asks for the end and does not wait.
    pub fn kill(&self) {
        self.shared.cancelled.send_replace(true);
    }

    /// Ends the tree at once, whether or not the runtime drives anything any more.
    pub(super) fn cut(&self) {
        self.lifeline.cut();
    }

    /// Waits for its end, as often as one likes.
    pub async fn ended(&self) -> Ended {
        let mut held = self.held.lock().await;
        if let Some(ended) = &held.ended {
            return ended.clone();
        }
        let ended = held.running.join().await;
        held.ended.insert(ended).clone()
    }
}

fn unread(written: usize, all: usize) -> Written {
    Written {
        bytes: written,
        note: Some(format!(
            "only {written} of {all} bytes were taken: the programs on the terminal do not read"
        )),
    }
}
