//! Gate 8: the tool itself.
//!
//! The only caller of [`Provider::execute`](super::Provider::execute), and the only one that has a `Cleared` to give. A
//! provider that panics ends its own call and nothing else.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::{Map, Value};

use super::g01_parse::Header;
use super::g07_approval::Cleared;
use super::ports::{ProviderEnd, ProviderReport};
use super::registry::RegisteredTool;
use super::trail::{GateNote, Trail};
use crate::model::{CommandUse, Ending, FileUse, Gate, HostFailure, RequestUse, Usage};

/// A call that ran, however it ended.
#[derive(Debug)]
pub(super) struct Executed {
    pub(super) ran: Ran,
    ending: Ending,
}

/// What the later gates need of a call that ran.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) header: Header,
    pub(super) tool: Arc<RegisteredTool>,
    pub(super) input: Arc<Map<String, Value>>,
    pub(super) approved_by: Option<String>,
    pub(super) usage: Usage,
    pub(super) files: Vec<FileUse>,
    pub(super) commands: Vec<CommandUse>,
    pub(super) requests: Vec<RequestUse>,
    pub(super) log: Vec<String>,
    /// The longest text that the host's own shell told in it, characters.
    pub(super) told: usize,
}

impl Executed {
    pub(super) fn into_parts(self) -> (Ran, Ending) {
        (self.ran, self.ending)
    }
}

/// Runs the call.
pub(super) async fn run(call: Cleared, trail: &mut Trail) -> Executed {
    let header = call.header().clone();
    let tool = Arc::clone(call.tool());
    let input = Arc::clone(call.input());
    let approved_by = call.approved_by().map(str::to_owned);
    let left = Arc::clone(call.left());
    let turn = tool.turn().await;
    let ran = AssertUnwindSafe(tool.provider().execute(call))
        .catch_unwind()
        .await;
    drop(turn);
    let ProviderReport {
        end,
        usage,
        mut files,
        mut commands,
        mut requests,
        log,
    } = ran.unwrap_or_else(|_| ProviderReport {
        end: ProviderEnd::HostError(HostFailure {
            message: "the provider panicked".to_owned(),
        }),
        usage: Usage::default(),
        files: Vec::new(),
        commands: Vec::new(),
        requests: Vec::new(),
        log: Vec::new(),
    });
    // Of a provider that panicked; of others there is nothing left.
    let (mut left_files, mut left_commands) = left.take();
    files.append(&mut left_files);
    commands.append(&mut left_commands);
    requests.append(&mut left.take_requests());
    let ending = Ending::from(end);
    trail.note(Gate::Execute, GateNote::Passed, ending.word());
    Executed {
        ran: Ran {
            header,
            tool,
            input,
            approved_by,
            usage,
            files,
            commands,
            requests,
            log,
            told: left.longest_told(),
        },
        ending,
    }
}
