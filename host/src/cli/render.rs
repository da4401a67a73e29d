//! Output: the one place that prints.

use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use toolgate::HostError;
use toolgate::model::{Content, Denial, Ending, Outcome, ToolOutput, visible};

use super::exit::Exit;

/// Diagnostics go to stderr; `TOOLGATE_LOG` says from which level on (error, warn, info, debug, trace; default warn).
pub(crate) fn log_to_stderr() {
    let level = std::env::var("TOOLGATE_LOG")
        .ok()
        .and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_max_level(level.unwrap_or(tracing::Level::WARN))
        .with_writer(std::io::stderr)
        .init();
}

/// The first write to stdout that failed, for the exit code.
static FAILED: OnceLock<String> = OnceLock::new();

/// Writes words for people to stdout: what cannot be seen is shown, also through a pipe, since a pager may be behind it.
pub(crate) fn out(text: &str) {
    write(&shown(text));
}

/// Writes data to stdout, byte for byte where no terminal shows it.
pub(crate) fn data(text: &str) {
    match std::io::stdout().is_terminal() {
        true => write(&shown(text)),
        false => write(text),
    }
}

/// A text that does not move the cursor of whoever reads it.
fn shown(text: &str) -> String {
    let parts = text.split('\t').map(|part| visible(part).into_owned());
    parts.collect::<Vec<_>>().join("\t")
}

fn write(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(end.as_bytes()))
        .and_then(|()| stdout.flush());
    remember(written);
}

/// A reader that went away is no failure of ours; everything else is, since what was written is not whole.
fn remember(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let first = FAILED.set(error.to_string());
        tracing::trace!(?first, "stdout");
    }
}

/// How the process ends, with whether all of its output was written.
pub(crate) fn ended(exit: Exit) -> Exit {
    match FAILED.get() {
        Some(error) => {
            note(&format!(
                "toolgate: the output could not be written: {error}"
            ));
            Exit::HostError
        }
        None => exit,
    }
}

/// Writes to stderr, escaped.
pub(crate) fn note(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let written = writeln!(stderr, "{}", visible(text));
    tracing::trace!(?written, "stderr");
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<Exit> {
    data(&serde_json::to_string_pretty(value)?);
    Ok(Exit::Done)
}

/// A table without lines.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.iter().copied());
    table
}

/// Prints the end of a call.
pub(crate) fn outcome(outcome: &Outcome) -> Exit {
    match &outcome.ending {
        Ending::Done(output) => output_parts(output),
        Ending::Denied(denial) => self::denial(denial),
        Ending::HostError(failure) => note(&format!("host error: {}", failure.message)),
        Ending::Failed(_) => note(&outcome.ending.text()),
        Ending::Stopped(_) | Ending::Trapped(_) => {
            for line in &outcome.log {
                note(&format!("log: {line}"));
            }
            note(&outcome.ending.text());
        }
    }
    Exit::from(&outcome.ending)
}

fn output_parts(output: &ToolOutput) {
    for part in &output.content {
        match part {
            Content::Text { text } => data(text),
            Content::Blob { mime, data, .. } => out(&format!(
                "[{mime}, {} bytes; --json prints them]",
                data.len()
            )),
            Content::Link { uri, name, .. } => out(&format!("[{name}: {uri}]")),
        }
    }
}

/// Prints a denial: what, which rule, what next.
pub(crate) fn denial(denial: &Denial) {
    note(&denial.to_string());
    for rule in denial.sources() {
        note(&format!("  rule: {rule}"));
    }
    if let Some(hint) = &denial.hint {
        note(&format!("  hint: {hint}"));
    }
}

/// Prints why there is no host, or what else went wrong; as JSON on stdout where JSON was asked for.
pub(crate) fn failure(error: &anyhow::Error, as_json: bool) -> Exit {
    said(&format!("{error:#}"), as_json);
    exit_of(error)
}

fn said(what: &str, as_json: bool) {
    let printed = as_json.then(|| json(&serde_json::json!({ "error": what })));
    if !matches!(printed, Some(Ok(_))) {
        note(&format!("toolgate: {what}"));
    }
}

/// How a failure ends the process: what a person can put right in the configuration or the command line is 2.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    match error.downcast_ref::<HostError>() {
        Some(HostError::Engine(_) | HostError::Journal(_) | HostError::Spill { .. }) => {
            Exit::HostError
        }
        Some(_) | None => Exit::Usage,
    }
}

/// Prints clap's own words: help is data, the rest is not.
pub(crate) fn usage(error: &clap::Error, as_json: bool) -> Exit {
    if !error.use_stderr() {
        remember(error.print().and_then(|()| std::io::stdout().flush()));
        return Exit::Done;
    }
    if as_json {
        said(error.to_string().trim(), true);
    } else {
        let printed = error.print();
        tracing::trace!(?printed, "usage");
    }
    Exit::Usage
}
