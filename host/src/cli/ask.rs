//! A question at the terminal.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use anyhow::Context as _;
use toolgate::model::visible;

/// Asks at the controlling terminal, whatever stdin is: only `y` and `yes` are a yes.
pub(crate) fn yes(question: &str) -> anyhow::Result<bool> {
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .context("there is no terminal to ask at; --yes takes what is shown without asking")?;
    // What was typed before the question is no answer to it.
    rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush)?;
    write!(
        terminal,
        "{} [y/N] ",
        visible(question).replace('\n', "\\n")
    )?;
    terminal.flush()?;
    let mut line = String::new();
    BufReader::new(terminal).read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
