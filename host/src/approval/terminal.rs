//! The terminal: shows the exact call and waits for an answer.
//!
//! Guarantees that only what is typed after the question was shown can answer it, and that one question is asked at a
//! time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetattr};

use super::private_file::flags;
use super::render::{Question, one_line};
use crate::gate::{Answer, ApprovalRequest, Approver};

/// How long a person has to answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often the terminal is looked at meanwhile.
const EVERY: Duration = Duration::from_millis(50);
/// The most bytes of an answer; what is longer is none.
const MAX_ANSWER: usize = 1_024;
/// Who answered.
const BY: &str = "the terminal";

/// Asks at the controlling terminal, whatever stdin and stdout are connected to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal;

impl Terminal {
    /// Whether there is a terminal to ask at.
    pub fn is_there() -> bool {
        open().is_ok()
    }

    /// Shows a text, which must be safe to print, and waits for a yes to the question below it. For command lines: it
    /// blocks, at most for five minutes.
    pub fn confirm(text: &str, question: &str) -> Confirmed {
        let confirmed = open().and_then(|mut terminal| {
            write(&mut terminal, &format!("\n{text}"))?;
            tcflush(&terminal, QueueSelector::IFlush)?;
            write(&mut terminal, question)?;
            read(&mut terminal, &AtomicBool::new(false))
        });
        match confirmed {
            Ok(Typed::Line(line)) if is_yes(&line) => Confirmed::Yes,
            Ok(Typed::Line(_) | Typed::End | Typed::Late(_)) => Confirmed::No,
            Ok(Typed::Gone) | Err(_) => Confirmed::Nobody,
        }
    }
}

/// What [`Terminal::confirm`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Yes.
    Yes,
    /// Anything else, or nothing in time.
    No,
    /// There is no terminal to ask at.
    Nobody,
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        // One question at a time: an answer must not reach another one.
        static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let turn = TURN.lock().await;
        // Whoever stops waiting must not leave a reader behind that takes the next question's answer.
        let given_up = GivenUp::default();
        let seen = Arc::clone(&given_up.0);
        let request = request.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            ask(&Question::of(&request), &seen)
        });
        match asked.await {
            Ok(Ok(answer)) => answer,
            // No terminal at all is what most programs have.
            Ok(Err(error)) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                tracing::debug!("there is no terminal to ask at");
                Answer::Nobody
            }
            Ok(Err(error)) => {
                tracing::warn!("nobody can be asked at the terminal: {error}");
                Answer::Nobody
            }
            Err(_) => Answer::Nobody,
        }
    }
}

/// Says when it is dropped that nobody waits for the answer any more.
#[derive(Debug, Default)]
struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Not blocking, so that a wait can end.
fn open() -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags(OFlags::NONBLOCK))
        .open("/dev/tty")
}

fn ask(question: &Question, given_up: &AtomicBool) -> io::Result<Answer> {
    let mut terminal = open()?;
    write(&mut terminal, &format!("\n{}", question.text()))?;
    // What was typed before is no answer to what was just shown.
    tcflush(&terminal, QueueSelector::IFlush)?;
    loop {
        write(&mut terminal, &choices(question))?;
        return Ok(match read(&mut terminal, given_up)? {
            Typed::Line(line) if line.trim() == "?" => continue,
            Typed::Line(line) => answer(question, &line),
            Typed::End => refused(),
            Typed::Gone => Answer::Nobody,
            Typed::Late(after) => Answer::TimedOut { after },
        });
    }
}

/// What came from the terminal.
enum Typed {
    /// A line, or more than an answer can be.
    Line(String),
    /// Its end, by the key for it.
    End,
    /// Nothing: the terminal went.
    Gone,
    /// Nothing for this long.
    Late(Duration),
}

fn read(terminal: &mut File, given_up: &AtomicBool) -> io::Result<Typed> {
    let begun = Instant::now();
    let mut typed = Vec::new();
    let mut bytes = [0; 256];
    while begun.elapsed() < PATIENCE && !given_up.load(Ordering::Relaxed) {
        match terminal.read(&mut bytes) {
            Ok(0) if tcgetattr(&*terminal).is_ok() => return Ok(Typed::End),
            Ok(0) => return Ok(Typed::Gone),
            Ok(read) => typed.extend(bytes.iter().take(read)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(EVERY),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if typed.contains(&b'\n') || typed.len() > MAX_ANSWER {
            return Ok(Typed::Line(String::from_utf8_lossy(&typed).into_owned()));
        }
    }
    Ok(Typed::Late(begun.elapsed()))
}

/// Writes all of it, waiting where the terminal cannot take more.
fn write(terminal: &mut File, text: &str) -> io::Result<()> {
    let begun = Instant::now();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match terminal.write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && begun.elapsed() < PATIENCE =>
            {
                std::thread::sleep(EVERY);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The last line: what may be typed, and the whole rule that "always" would make.
fn choices(question: &Question) -> String {
    match &question.always {
        Some(rule) => format!(
            "y = once, a = from now on: {}\nn = no, ? = these choices again. Run it? [y/a/N/?] ",
            one_line(rule)
        ),
        None => "y = once, n = no, ? = these choices again. Run it once? [y/N/?] ".to_owned(),
    }
}

/// Only these words are a yes.
fn answer(question: &Question, typed: &str) -> Answer {
    let approved = |always| Answer::Approved {
        by: BY.to_owned(),
        always,
    };
    match typed.trim().to_lowercase().as_str() {
        _ if is_yes(typed) => approved(false),
        "a" | "always" if question.always.is_some() => approved(true),
        _ => refused(),
    }
}

fn is_yes(typed: &str) -> bool {
    matches!(typed.trim().to_lowercase().as_str(), "y" | "yes")
}

fn refused() -> Answer {
    Answer::Refused {
        by: BY.to_owned(),
        message: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::render::tests::{request, standing};

    fn question(always: Option<&str>) -> Question {
        let mut request = request("Write", serde_json::json!({}));
        request.standing = always.map(standing);
        Question::of(&request)
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        let plain = question(None);
        for typed in ["y\n", "Y\n", " yes \r\n"] {
            assert!(matches!(
                answer(&plain, typed),
                Answer::Approved { always: false, .. }
            ));
        }
        for typed in [
            "\n",
            "n\n",
            "a\n",
            "always\n",
            "yy\n",
            "y n\n",
            "\u{1b}y\n",
            "y\ny\n",
        ] {
            let answer = answer(&plain, typed);
            assert!(matches!(answer, Answer::Refused { .. }), "{typed:?}");
        }
        let rule = question(Some("Write(/ws/a.txt)"));
        for typed in ["a\n", "Always\n"] {
            assert!(matches!(
                answer(&rule, typed),
                Answer::Approved { always: true, .. }
            ));
        }
        assert!(matches!(
            answer(&rule, "y\n"),
            Answer::Approved { always: false, .. }
        ));
    }

    #[test]
    fn always_is_offered_with_its_whole_rule_and_only_where_there_is_one() {
        assert!(!choices(&question(None)).contains("from now on"));
        let shown = choices(&question(Some("Write(/ws/a\nb\u{202e}.txt)")));
        assert!(
            shown.contains("a = from now on: Write(/ws/a\\nb\\u{202e}.txt)\n"),
            "{shown}"
        );
    }
}
