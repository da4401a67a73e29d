//! Gate 11: one record for every end of every call.
//!
//! Denied, failed, stopped, done, or dropped by the caller: each end is written before the caller sees it. A call whose
//! record cannot be written fails.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::g10_post_hooks::Finished;
use super::ports::{Journal, PortError};
use super::trail::{GateNote, Step, Trail, beginning};
use crate::model::{
    CallId, CallOrigin, CommandUse, Ending, FileUse, HostFailure, Outcome, RawCall, RequestUse,
    Stop, Subject, Usage, hex,
};

/// The longest name of a tool that was asked for, bytes.
const MAX_NAME: usize = 200;
/// The longest text that a record quotes, bytes.
const MAX_PREVIEW: usize = 2_048;

/// What is kept of a call.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// When it ended.
    pub time: jiff::Timestamp,
    /// The call.
    pub call: CallId,
    /// The session.
    pub session: String,
    /// Where it came from.
    pub origin: CallOrigin,
    /// What the client called itself, escaped: a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The tool that was asked for.
    pub tool: String,
    /// SHA-256 of the tool's component, if there is such a tool and it came that far.
    pub component: Option<String>,
    /// SHA-256 of the input as it arrived.
    pub input_sha256: String,
    /// The beginning of the input, for people. The journal scrubs it.
    pub input: String,
    /// The inputs that hooks put in its place, in order; the last one was executed. The journal scrubs them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrites: Vec<String>,
    /// What the rules were compared with: paths absolute, the rest as the input gave it. None where the call did not come
    /// that far, or where they are more than 64 KiB together. The journal scrubs them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Subject>,
    /// What each gate said.
    pub gates: Vec<Step>,
    /// Who approved it.
    pub approved_by: Option<String>,
    /// Files that it touched: as asked for, and what they were.
    pub files: Vec<FileUse>,
    /// Commands that it ran, or was refused to run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandUse>,
    /// Requests that it made, or was refused to make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestUse>,
    /// `done`, `failed`, `denied`, `stopped`, `trapped` or `host-error`.
    pub ending: &'static str,
    /// The denial, the bound, the failure's message; for `done` nothing.
    pub detail: Option<Value>,
    /// SHA-256 of the text that the model was given.
    pub output_sha256: String,
    /// What it used.
    pub usage: Usage,
}

/// A call on its way to its record. If the caller drops the call, dropping this writes the record.
pub(super) struct Recorder {
    journal: Arc<dyn Journal>,
    session: String,
    raw: RawCall,
    started: Instant,
    trail: Trail,
    written: bool,
}

impl Recorder {
    pub(super) fn begin(journal: Arc<dyn Journal>, session: &str, raw: RawCall) -> Self {
        Self {
            journal,
            session: session.to_owned(),
            raw,
            started: Instant::now(),
            trail: Trail::default(),
            written: false,
        }
    }

    pub(super) fn parts(&mut self) -> (&RawCall, &mut Trail) {
        (&self.raw, &mut self.trail)
    }

    /// Writes the record of a call that ended, and gives the outcome.
    pub(super) fn finish(mut self, end: Result<Finished, Ending>) -> Outcome {
        let (ran, ending) = match end {
            Ok(finished) => {
                let (ran, ending) = finished.into_parts();
                (Some(ran), ending)
            }
            Err(ending) => (None, ending),
        };
        if let Ending::Denied(denial) = &ending {
            self.trail.denied(denial);
        }
        let mut usage = ran.as_ref().map(|ran| ran.usage).unwrap_or_default();
        usage.wall = self.started.elapsed();
        let mut record = self.record(&ending, usage);
        let mut log = Vec::new();
        if let Some(ran) = ran {
            record.component = Some(ran.tool.digest().to_owned());
            record.approved_by = ran.approved_by;
            record.files = ran.files;
            record.commands = ran.commands;
            record.requests = ran.requests;
            log = ran.log;
        }
        self.written = true;
        let ending = match self.journal.append(&record) {
            Ok(()) => ending,
            Err(PortError(what)) => Ending::HostError(HostFailure {
                message: format!(
                    "the call ended as '{}', but its record could not be written: {what}",
                    ending.word()
                ),
            }),
        };
        Outcome {
            id: self.raw.id,
            tool: std::mem::take(&mut self.raw.name),
            ending,
            usage,
            log,
        }
    }

    fn record(&mut self, ending: &Ending, usage: Usage) -> Record {
        let detail = match ending {
            Ending::Done(_) => None,
            Ending::Failed(failure) => serde_json::to_value(failure).ok(),
            Ending::Denied(denial) => serde_json::to_value(denial).ok(),
            Ending::Stopped(stop) => serde_json::to_value(stop).ok(),
            Ending::Trapped(trap) => serde_json::to_value(trap).ok(),
            Ending::HostError(failure) => serde_json::to_value(failure).ok(),
        };
        // One byte more than is quoted, so that the cut is marked.
        let quoted = self
            .raw
            .input
            .get(..=MAX_PREVIEW)
            .unwrap_or(&self.raw.input);
        Record {
            time: jiff::Timestamp::now(),
            call: self.raw.id,
            session: std::mem::take(&mut self.session),
            origin: self.raw.origin,
            client: self.raw.client.take(),
            tool: beginning(&self.raw.name, MAX_NAME),
            component: None,
            input_sha256: sha256(&self.raw.input),
            input: beginning(&String::from_utf8_lossy(quoted), MAX_PREVIEW),
            rewrites: self.trail.take_rewrites(),
            subjects: self.trail.take_subjects(),
            gates: terse(self.trail.take()),
            approved_by: None,
            files: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            ending: ending.word(),
            detail: detail.map(bounded),
            output_sha256: sha256(ending.text().as_bytes()),
            usage,
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.written {
            return;
        }
        let usage = Usage {
            wall: self.started.elapsed(),
            ..Usage::default()
        };
        let mut record = self.record(&Ending::Stopped(Stop::Cancelled), usage);
        (record.files, record.commands) = self.trail.left().take();
        record.requests = self.trail.left().take_requests();
        if let Err(PortError(what)) = self.journal.append(&record) {
            tracing::error!(call = %record.call, "the record of a cancelled call could not be written: {what}");
        }
    }
}

/// Without the words of gates that passed as they always do: the gate's name says it.
fn terse(mut steps: Vec<Step>) -> Vec<Step> {
    for step in &mut steps {
        if step.note == GateNote::Passed && matches!(step.detail, Cow::Borrowed(_)) {
            step.detail = Cow::Borrowed("");
        }
    }
    steps
}

/// The value with every text in it cut where it is long.
fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_PREVIEW => beginning(&text, MAX_PREVIEW).into(),
        Value::Array(items) => items.into_iter().map(bounded).collect(),
        Value::Object(object) => object
            .into_iter()
            .map(|(key, value)| (key, bounded(value)))
            .collect(),
        short @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => short,
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
