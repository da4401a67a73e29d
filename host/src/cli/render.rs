//! Output: the one place that prints.

use std::io::{IsTerminal as _, Write as _};

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

/// Writes to stdout. A reader that went away is no failure of ours.
pub(crate) fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let written = if stdout.is_terminal() {
        // What a file holds must not move the cursor of whoever reads it.
        let shown = text
            .split('\t')
            .map(|part| visible(part).into_owned())
            .collect::<Vec<_>>()
            .join("\t");
        stdout.write_all(shown.as_bytes())
    } else {
        stdout.write_all(text.as_bytes())
    };
    let ended = written.and_then(|()| {
        if text.ends_with('\n') {
            Ok(())
        } else {
            stdout.write_all(b"\n")
        }
    });
    tracing::trace!(?ended, "stdout");
}

/// Writes to stderr, escaped.
pub(crate) fn note(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let written = writeln!(stderr, "{}", visible(text));
    tracing::trace!(?written, "stderr");
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<Exit> {
    out(&serde_json::to_string_pretty(value)?);
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
            Content::Text { text } => out(text),
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

/// Prints why there is no host, or what else went wrong.
pub(crate) fn failure(error: &anyhow::Error) -> Exit {
    note(&format!("toolgate: {error:#}"));
    match error.downcast_ref::<HostError>() {
        Some(HostError::Engine(_) | HostError::Journal(_) | HostError::Spill { .. }) => {
            Exit::HostError
        }
        _ => Exit::Usage,
    }
}

/// Prints clap's own words: help is data, the rest is not.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let printed = error.print();
    tracing::trace!(?printed, "usage");
    if error.use_stderr() {
        Exit::Usage
    } else {
        Exit::Done
    }
}
