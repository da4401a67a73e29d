//! The ports: what the chain needs from outside, declared where it is needed.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

use super::g07_approval::Cleared;
use super::g11_journal::Record;
use crate::model::{
    CallId, Ending, FileUse, HostFailure, Stop, Subject, ToolFailure, ToolName, ToolOutput, Trap,
    Usage,
};

/// What an adapter reports when it could not do its part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PortError(pub String);

/// What running a call came to.
#[derive(Debug)]
pub struct ProviderReport {
    /// How it ended.
    pub end: ProviderEnd,
    /// What it used; the wall clock is the chain's.
    pub usage: Usage,
    /// Files that were opened or written, at most 1,000.
    pub files: Vec<FileUse>,
    /// Lines that the tool logged.
    pub log: Vec<String>,
}

/// The ends that a provider can know of: a denial is not among them.
#[derive(Debug)]
pub enum ProviderEnd {
    /// The tool did what it was asked.
    Done(ToolOutput),
    /// The tool said no.
    Failed(ToolFailure),
    /// A bound ended the call.
    Stopped(Stop),
    /// The guest died.
    Trapped(Trap),
    /// The host failed.
    HostError(HostFailure),
}

impl From<ProviderEnd> for Ending {
    fn from(end: ProviderEnd) -> Self {
        match end {
            ProviderEnd::Done(output) => Self::Done(output),
            ProviderEnd::Failed(failure) => Self::Failed(failure),
            ProviderEnd::Stopped(stop) => Self::Stopped(stop),
            ProviderEnd::Trapped(trap) => Self::Trapped(trap),
            ProviderEnd::HostError(failure) => Self::HostError(failure),
        }
    }
}

/// Runs calls of a tool.
#[async_trait]
pub trait Provider: Debug + Send + Sync {
    /// Subjects that the tool itself computes, in an empty sandbox. `None`: it computes none.
    ///
    /// # Errors
    /// The tool's own refusal, in its words.
    async fn subjects(&self, _input: &Map<String, Value>) -> Option<Result<Vec<Subject>, String>> {
        None
    }

    /// Runs a call that every gate has cleared. Dropping the future ends the call.
    async fn execute(&self, call: Cleared) -> ProviderReport;
}

/// What somebody is asked to approve. Everything in it that others chose is shown escaped by the approver.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalRequest {
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: ToolName,
    /// The final input.
    pub input: Arc<Map<String, Value>>,
    /// The resolved subjects.
    pub subjects: Vec<Subject>,
    /// Why it is asked.
    pub reason: String,
    /// What the call could reach.
    pub grants: Vec<String>,
    /// The ticket: a hash over tool, digest, input, subjects and grants. Good for this one call.
    pub ticket: String,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Approved {
        /// Who.
        by: String,
    },
    /// No.
    Refused {
        /// Who.
        by: String,
        /// Their words.
        message: Option<String>,
    },
    /// Nobody answered.
    TimedOut {
        /// How long was waited.
        after: Duration,
    },
    /// Nobody is there.
    Nobody,
}

/// Asks somebody.
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Asks and waits.
    async fn ask(&self, request: &ApprovalRequest) -> Answer;
}

/// What a hook is told, in the field names that agents' users know.
#[derive(Clone, Debug, Serialize)]
pub struct HookEvent {
    /// `PreToolUse`, `PostToolUse` or `PostToolUseFailure`.
    pub hook_event_name: &'static str,
    /// The session.
    pub session_id: String,
    /// The workspace root.
    pub cwd: PathBuf,
    /// The tool.
    pub tool_name: ToolName,
    /// The input.
    pub tool_input: Arc<Map<String, Value>>,
    /// What the model is told, after the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<String>,
}

/// What a hook can say before a call. There is no allow.
#[derive(Clone, Debug, PartialEq)]
pub enum HookReply {
    /// Nothing.
    Nothing,
    /// Do not run it.
    Deny {
        /// Why.
        message: String,
    },
    /// Ask somebody, with an input that takes the place of the old one or without.
    Ask {
        /// Why.
        message: String,
        /// The new input.
        input: Option<Map<String, Value>>,
    },
    /// Run it with another input.
    Rewrite {
        /// The new input.
        input: Map<String, Value>,
    },
}

/// A hook before the call.
#[async_trait]
pub trait PreHook: Debug + Send + Sync {
    /// Its name for people.
    fn name(&self) -> &str;

    /// Whether it wants to hear of this tool.
    fn wants(&self, tool: &ToolName) -> bool;

    /// Runs it.
    ///
    /// # Errors
    /// What broke: the call is denied with it.
    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError>;
}

/// A hook after the call. It cannot change anything.
#[async_trait]
pub trait PostHook: Debug + Send + Sync {
    /// Its name for people.
    fn name(&self) -> &str;

    /// Whether it wants to hear of this tool, and of failures rather than of successes.
    fn wants(&self, tool: &ToolName, failed: bool) -> bool;

    /// Runs it.
    ///
    /// # Errors
    /// What broke: it is journalled.
    async fn run(&self, event: &HookEvent) -> Result<(), PortError>;
}

/// Keeps the record of every end.
pub trait Journal: Debug + Send + Sync {
    /// Writes one record.
    ///
    /// # Errors
    /// The record was not written: the call fails.
    fn append(&self, record: &Record) -> Result<(), PortError>;
}

/// Keeps what is too long for a model.
pub trait SpillStore: Debug + Send + Sync {
    /// Stores a text whole and gives the path where it can be read.
    ///
    /// # Errors
    /// It was not stored: the result says so.
    fn put(&self, call: CallId, tool: &ToolName, text: &str) -> Result<PathBuf, PortError>;
}
