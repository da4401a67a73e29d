//! Stays with a command until its tree is gone: reads what it prints, hears of its shell's end, and ends it in time.
//!
//! A call ends with its shell, not with its pipe: what still holds the pipe open gets a moment to finish, then the tree is ended
//! and the rest of the pipe is read. The first reason to end counts, and there is exactly one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::beyond::Beyond;
use super::capture::{SPILLED, Spill, Stream};
use super::command::Kind;
use super::ended::{Captured, CommandEnd, Containment, Ended, InForce};
use super::plan::exists;
use super::running::Shared;
use super::streams::Streams;
use super::text;
use super::tree::Tree;

/// The most bytes that a command may print.
const LONGEST_OUTPUT: u64 = 1 << 30;
/// How long an open pipe is read after the shell's end, and again after the tree's.
const GRACE: Duration = Duration::from_millis(250);
/// How long what has closed its output may take to exit before it counts as left behind.
const SETTLING: Duration = Duration::from_millis(100);
/// A started command with all that belongs to it.
#[derive(Debug)]
pub(super) struct Drive {
    pub(super) shared: Arc<Shared>,
    pub(super) tree: Box<dyn Tree>,
    pub(super) streams: Streams,
    pub(super) spill: Option<Box<dyn Spill>>,
    /// What the tree is only a client of.
    pub(super) beyond: Option<Box<dyn Beyond>>,
    pub(super) begun: Instant,
    pub(super) facts: Facts,
}

/// What is known of a command before it ends.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) containment: Containment,
    pub(super) sandbox: InForce,
    pub(super) timeout: Duration,
    /// How long a terminal may go without use.
    pub(super) idle: Option<Duration>,
    pub(super) kind: Kind,
    pub(super) separate: bool,
    pub(super) cwd: PathBuf,
    pub(super) absent: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
}

/// Why the tree is ended.
struct Reason {
    outcome: CommandEnd,
    /// Others that lived when the shell ended.
    others: u32,
    note: Option<&'static str>,
}

impl Reason {
    fn host(outcome: CommandEnd) -> Self {
        Self {
            outcome,
            others: 0,
            note: None,
        }
    }
}

impl Facts {
    /// A result with nothing in it yet.
    pub(super) fn ended(&self, outcome: CommandEnd) -> Ended {
        Ended {
            outcome,
            output: Captured::default(),
            errors: None,
            spill: None,
            background_killed: 0,
            containment: self.containment,
            sandbox: self.sandbox.clone(),
            notes: self.notes.clone(),
            kill_incomplete: None,
            duration: Duration::ZERO,
            cwd: self.cwd.clone(),
        }
    }
}

impl Drive {
    /// Drives it to its end.
    pub(super) async fn run(mut self) -> Ended {
        let mut reason = self.reason().await;
        let mut background = 0;
        if matches!(
            reason.outcome,
            CommandEnd::Exit { .. } | CommandEnd::Signal { .. }
        ) {
            reason = self.told_beyond(reason).await;
            background = self.after_the_shell(reason.others).await;
        }
        let left = match &mut self.beyond {
            Some(beyond) => beyond.end().await,
            None => None,
        };
        let stuck = left.or(self.tree.end().await);
        let held = !self.drain().await;
        self.tree.bury().await;
        self.shared.end();
        let mut ended = self.facts.ended(reason.outcome);
        ended.kill_incomplete = stuck;
        ended.background_killed = background;
        ended.notes.extend(reason.note.map(str::to_owned));
        if background > 0 {
            ended.notes.push(self.background_note(background));
        }
        if held {
            ended.notes.push(
                "the output is still held open by a process outside of the command's tree; what it prints is not read"
                    .to_owned(),
            );
        }
        self.finish(ended)
    }

    /// Runs until there is a reason to end.
    async fn reason(&mut self) -> Reason {
        let deadline = self.begun + self.facts.timeout;
        let mut cancelled = self.shared.cancelled.subscribe();
        loop {
            tokio::select! {
                biased;
                ended = self.tree.ended() => return match ended {
                    Some((status, others)) => Reason {
                        outcome: CommandEnd::of_status(status),
                        others,
                        note: None,
                    },
                    None => lost(),
                },
                gave_up = cancelled.wait_for(|given| *given) => {
                    tracing::trace!(ok = gave_up.is_ok(), "a command is given up");
                    return Reason::host(CommandEnd::Cancelled);
                }
                () = tokio::time::sleep_until(deadline) => {
                    let after = self.facts.timeout;
                    return Reason::host(CommandEnd::TimedOut { after });
                }
                after = unused(&self.shared, self.facts.idle) => {
                    return Reason::host(CommandEnd::Idle { after });
                }
                Some(piece) = self.streams.next() => {
                    if self.take(piece) > LONGEST_OUTPUT && self.facts.kind != Kind::Service {
                        let limit = LONGEST_OUTPUT;
                        return Reason::host(CommandEnd::OutputLimit { limit });
                    }
                }
            }
        }
    }

    /// Why a command ended whose client did.
    async fn told_beyond(&mut self, client: Reason) -> Reason {
        if self.beyond.is_some() {
            // What was told last may still be in the stream.
            self.read_for(GRACE).await;
        }
        let Some(beyond) = &self.beyond else {
            return client;
        };
        let (outcome, others, note) = beyond.ended();
        Reason {
            outcome,
            others,
            note,
        }
    }

    /// Takes what was read. Gives how much there was until now.
    fn take(&mut self, (stream, length): (Stream, usize)) -> u64 {
        let bytes = self.streams.buffer(length);
        if let (Some(beyond), Stream::Err) = (&mut self.beyond, stream) {
            // A report is no output.
            beyond.hear(bytes);
            return 0;
        }
        self.shared.push(stream, bytes);
        let [out, err] = &*self.shared.captures();
        let total = out.total() + err.total();
        let before = total - length as u64;
        if before < SPILLED
            && let Some(spill) = &mut self.spill
        {
            let room = usize::try_from(SPILLED - before).unwrap_or(usize::MAX);
            let kept = bytes.get(..room).unwrap_or(bytes);
            if let Err(error) = spill.write(kept) {
                let note = format!("the whole output could not be kept: {error}");
                self.facts.notes.push(note);
                self.spill = None;
            }
        }
        total
    }

    /// Lets what the shell left behind finish its printing. Gives how many processes have to be stopped.
    async fn after_the_shell(&mut self, others: u32) -> u32 {
        // What runs beyond has ended with all of its own.
        if others == 0 || self.beyond.is_some() {
            return others;
        }
        self.read_for(GRACE).await;
        // Programs close their output a moment before they exit.
        let settled = Instant::now() + SETTLING;
        loop {
            let count = self.tree.count().await.unwrap_or(others);
            if count == 0 || Instant::now() > settled {
                return count;
            }
            tokio::time::sleep(SETTLING / 20).await;
        }
    }

    /// Reads what is left in the pipes. Whether all of them came to their end.
    async fn drain(&mut self) -> bool {
        self.read_for(GRACE).await
    }

    async fn read_for(&mut self, longest: Duration) -> bool {
        let deadline = Instant::now() + longest;
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(deadline) => return self.streams.have_ended(),
                piece = self.streams.next() => match piece {
                    Some(piece) => {
                        self.take(piece);
                    }
                    None => return true,
                },
            }
        }
    }

    fn finish(mut self, mut ended: Ended) -> Ended {
        if !self.shared.is_awaited() {
            self.spill = None;
        }
        match self.spill.take().map(Spill::finish) {
            Some(Ok(path)) => ended.spill = Some(path),
            Some(Err(error)) => {
                let note = format!("the whole output could not be kept: {error}");
                ended.notes.push(note);
            }
            None => {}
        }
        let [out, err] = &*self.shared.captures();
        let characters = if self.facts.separate {
            text::CHARACTERS / 2
        } else {
            text::CHARACTERS
        };
        let captured = |capture| {
            let (text, truncated) = text::of(capture, characters, ended.spill.as_deref());
            Captured {
                text,
                truncated,
                bytes: capture.total(),
                invalid: capture.invalid(),
                binary: capture.is_binary(),
            }
        };
        let (output, errors) = (captured(out), captured(err));
        ended.output = output;
        ended.errors = self.facts.separate.then_some(errors);
        ended.notes.extend(self.created());
        ended.notes.extend(denied(&ended, &self.facts));
        ended.duration = self.begun.elapsed();
        ended
    }

    fn background_note(&self, count: u32) -> String {
        let what = if count == 1 {
            "1 background process was".to_owned()
        } else {
            format!("{count} background processes were")
        };
        let hint = match self.facts.kind {
            Kind::Foreground => "; use run_in_background for servers",
            Kind::Background | Kind::Service => "",
        };
        format!("{what} still running and stopped with the command{hint}")
    }

    /// Says which protected names are there now that were not before.
    fn created(&self) -> Option<String> {
        let created = self.facts.absent.iter().filter(|path| exists(path));
        let names: Vec<_> = created.map(|path| path.display().to_string()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "the command made what programs outside of the sandbox obey: {}; look at it before you use them",
                names.join(", ")
            )
        })
    }
}

/// Waits until nobody has used it for so long. Gives how long that is.
async fn unused(shared: &Shared, idle: Option<Duration>) -> Duration {
    let Some(idle) = idle else {
        return std::future::pending().await;
    };
    loop {
        let due = shared.used() + idle;
        if Instant::now() >= due {
            return idle;
        }
        tokio::time::sleep_until(due).await;
    }
}

fn lost() -> Reason {
    Reason {
        outcome: CommandEnd::Signal {
            name: "KILL".to_owned(),
        },
        others: 0,
        note: Some("the command's first process was ended from outside of the sandbox"),
    }
}

/// A guess, never a verdict: the sandbox may be why it failed.
fn denied(ended: &Ended, facts: &Facts) -> Option<String> {
    let CommandEnd::Exit { code } = ended.outcome else {
        return None;
    };
    if code == 0 || code == 126 || code == 127 {
        return None;
    }
    let signs = [
        "Read-only file system",
        "Operation not permitted",
        "Network is unreachable",
    ];
    let printed = [Some(&ended.output), ended.errors.as_ref()];
    let mut printed = printed.into_iter().flatten();
    let shows = printed.any(|stream| signs.iter().any(|sign| stream.text.contains(sign)));
    let roots: Vec<_> = facts
        .writable
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    shows.then(|| {
        let network = if facts.sandbox.network {
            ""
        } else {
            " and network"
        };
        format!(
            "the sandbox may have caused this: writes outside of {}{network} are off",
            if roots.is_empty() {
                "/tmp".to_owned()
            } else {
                roots.join(", ")
            }
        )
    })
}
