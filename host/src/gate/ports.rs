//! The ports: what the chain needs from outside, declared where it is needed.

use std::collections::BTreeMap;
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
    CallId, CommandUse, Ending, FileUse, HookEventName, HostFailure, RequestUse, Stop, Subject,
    ToolFailure, ToolName, ToolOutput, Trap, Usage,
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
    /// Commands that were run or refused, at most 1,000.
    pub commands: Vec<CommandUse>,
    /// Requests that were made or refused, at most 1,000.
    pub requests: Vec<RequestUse>,
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
    /// The workspace root.
    pub workspace: PathBuf,
    /// The path subjects, with where they lead and what is there now.
    pub seen: Vec<SeenPath>,
    /// The tool is one of the host's own, so that its input has a known meaning.
    pub built_in: bool,
    /// What the person should look at twice, one sentence each.
    pub warnings: Vec<String>,
    /// What the answer "always" stands for. None: that answer cannot be given.
    pub standing: Option<Standing>,
    /// SHA-256 over what was asked for: workspace, tool, component digest, canonical input, subjects and the policy's
    /// version. It stays the same when what the call would do changes, so that a new question takes the old one's place.
    pub about: String,
    /// The ticket: SHA-256 over the same, the grants, and all that was seen. Good for one execution.
    pub ticket: String,
}

impl ApprovalRequest {
    /// The exact rule that the answer "always" stands for. None: that answer cannot be given.
    pub fn always(&self) -> Option<&str> {
        self.standing
            .as_ref()
            .map(|standing| standing.rule.as_str())
    }
}

/// A path of a call, and where it led when somebody looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenPath {
    /// The path that the call names, absolute and folded.
    pub named: PathBuf,
    /// The path behind all links. What is not there yet stands where it would be made.
    pub real: PathBuf,
    /// What is there.
    pub what: SeenFile,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum SeenFile {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// SHA-256 of its content; of a file that is too long to be read, its size, its time and its number. None where
        /// the content does not matter.
        state: Option<String>,
    },
    /// A directory.
    Directory,
    /// A device, a FIFO, a socket: no file tool opens it.
    Special,
    /// It cannot be known.
    Unknown {
        /// Why.
        why: String,
    },
}

/// Looks where paths lead. Never waits for what it finds there.
#[async_trait]
pub trait Sight: Debug + Send + Sync {
    /// Each of these absolute paths, in order. `content`: what files hold matters, because it would be changed.
    async fn look(&self, paths: Vec<PathBuf>, content: bool) -> Vec<SeenPath>;
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Approved {
        /// Who.
        by: String,
        /// Not only this once: the request's `always` rule holds from now on.
        always: bool,
    },
    /// No.
    Refused {
        /// Who.
        by: String,
        /// Their words.
        message: Option<String>,
    },
    /// The question waits in a queue; the same call takes the answer later.
    Pending {
        /// The question's name in the queue.
        id: String,
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

/// What "always" was said to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The tool.
    pub tool: ToolName,
    /// SHA-256 of its component.
    pub component: String,
    /// The rule that the person saw.
    pub rule: String,
    /// What the answer is bound to: the files that a command names inside the workspace, as they were when it was asked.
    pub files: BoundFiles,
    /// The workspace in which it holds. None: the rule means the same in every workspace.
    pub workspace: Option<PathBuf>,
}

/// Absolute path to the SHA-256 of the file's content; none where there was no such file.
pub type BoundFiles = BTreeMap<PathBuf, Option<String>>;

/// Keeps answers that hold for more than one call.
pub trait Remembered: Debug + Send + Sync {
    /// The files as they are now.
    ///
    /// # Errors
    /// An answer cannot be bound to one of them: "always" is not offered.
    fn bind(&self, files: Vec<PathBuf>) -> Result<BoundFiles, PortError>;

    /// Who said "always" to exactly this.
    fn recall(&self, standing: &Standing) -> Option<String>;

    /// Keeps an answer, if the files are still as they were when it was asked.
    ///
    /// # Errors
    /// It was not kept: the call runs this once.
    fn keep(&self, standing: &Standing, by: &str) -> Result<(), PortError>;
}

/// What a hook is told, in the field names that agents' users know.
#[derive(Clone, Debug, Serialize)]
pub struct HookEvent {
    /// What happened.
    pub hook_event_name: HookEventName,
    /// The session.
    pub session_id: String,
    /// The workspace root.
    pub cwd: PathBuf,
    /// The tool, for events of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// The call's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<CallId>,
    /// The input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Arc<Map<String, Value>>>,
    /// What the model is told, after the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<String>,
    /// What else belongs to the event: `prompt`, `reason`, `source`, `agent_type`.
    #[serde(flatten)]
    pub details: Map<String, Value>,
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
///
/// One that takes longer than its limit counts as broken. Only a hook that waits can be ended: work that blocks a thread
/// belongs on one of its own (`tokio::task::spawn_blocking`), as in every future.
#[async_trait]
pub trait PreHook: Debug + Send + Sync {
    /// Its name for people.
    fn name(&self) -> &str;

    /// Whether it wants to hear of this tool.
    fn wants(&self, tool: &ToolName) -> bool;

    /// The limit that it keeps to by itself. `None`: the host ends it after its own limit, 10 s by default.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

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

    /// The limit that it keeps to by itself. `None`: the host ends it after its own limit, 10 s by default.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Runs it.
    ///
    /// # Errors
    /// What broke: it is journalled.
    async fn run(&self, event: &HookEvent) -> Result<(), PortError>;
}

/// A hook on an event that is no tool use: a permission request, a session, a prompt. It may deny or say nothing.
#[async_trait]
pub trait EventHook: Debug + Send + Sync {
    /// Its name for people.
    fn name(&self) -> &str;

    /// Whether it wants to hear of this event, of this tool where there is one.
    fn wants(&self, event: HookEventName, tool: Option<&ToolName>) -> bool;

    /// The limit that it keeps to by itself. `None`: the host ends it after its own limit, 10 s by default.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Runs it.
    ///
    /// # Errors
    /// What broke: the event is denied with it.
    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError>;
}

/// Keeps the record of every end.
pub trait Journal: Debug + Send + Sync {
    /// Writes one record.
    ///
    /// # Errors
    /// The record was not written: the call fails.
    fn append(&self, record: &Record) -> Result<(), PortError>;
}

/// Hears how far calls are: which, how much is done, of how much, and the tool's words. Never blocks.
pub type CallProgress = Arc<dyn Fn(CallId, u32, Option<u32>, &str) + Send + Sync>;

/// Keeps what is too long for a model.
pub trait SpillStore: Debug + Send + Sync {
    /// Stores a text whole and gives the path where it can be read.
    ///
    /// # Errors
    /// It was not stored: the result says so.
    fn put(&self, call: CallId, tool: &ToolName, text: &str) -> Result<PathBuf, PortError>;
}
