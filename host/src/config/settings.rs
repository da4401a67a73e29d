//! Typed settings, each with where it comes from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::egress::{EgressSetting, SecretSetting};
use super::limits::LimitSetting;
use super::mcp::McpServer;
use super::plain::PlainSetting;
use super::serve::ServeSetting;
use super::shell::ShellSetting;
use super::source::{Source, Sourced, nearer};
use super::store::StoreSetting;
use super::web_search::WebSearchSetting;
use crate::model::{HookEventName, HookFormat, SideEffect, SubjectField};
use crate::policy::{ExemptLine, Mode, Rule, SchemaMode};

/// Milliseconds that a hook or an approval program may take, unless said otherwise.
pub const DEFAULT_PROGRAM_TIMEOUT_MS: u64 = 10_000;
/// The most milliseconds that it may be given.
pub const MAX_PROGRAM_TIMEOUT_MS: u64 = 600_000;

/// All settings, of all layers.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// All rules. They add up whatever their layer: the strictest that matches wins.
    pub rules: Vec<Rule>,
    /// The mode.
    pub mode: Option<Sourced<Mode>>,
    /// The ceiling.
    pub ceiling: Option<Sourced<SideEffect>>,
    /// Who runs without being asked.
    pub exempt: Option<Sourced<ExemptLine>>,
    /// Who is asked.
    pub approval: ApprovalSetting,
    /// Further directories for reading.
    pub read: Vec<Sourced<PathBuf>>,
    /// Further directories for writing.
    pub write: Vec<Sourced<PathBuf>>,
    /// How schemas are enforced.
    pub schema: Option<Sourced<SchemaMode>>,
    /// The same for one tool.
    pub schema_of: BTreeMap<String, Sourced<SchemaMode>>,
    /// What rules over a tool that declares no subject are compared with.
    pub subjects: BTreeMap<String, Sourced<SubjectField>>,
    /// Bounds.
    pub limits: LimitSetting,
    /// Bounds of one tool.
    pub limits_of: BTreeMap<String, LimitSetting>,
    /// Hooks, in the order in which they run.
    pub hooks: Vec<HookSetting>,
    /// Component files.
    pub components: Vec<Sourced<PathBuf>>,
    /// Built-in tools that are left out.
    pub without: Vec<Sourced<String>>,
    /// Tools whose claims are believed where nothing verifies them.
    pub trusted: Vec<Sourced<String>>,
    /// Functions of plain components, by the tool's name.
    pub plain: BTreeMap<String, PlainSetting>,
    /// Commands.
    pub shell: ShellSetting,
    /// What single tools are told: by the tool's name, texts by names of its own.
    pub tool_settings: BTreeMap<String, BTreeMap<String, Sourced<String>>>,
    /// Whom questions to the web go to.
    pub web_search: WebSearchSetting,
    /// Serving over MCP.
    pub serve: ServeSetting,
    /// Installed components.
    pub store: StoreSetting,
    /// What tools may reach of the network.
    pub egress: EgressSetting,
    /// Secrets that the host puts into requests, by name.
    pub secrets: BTreeMap<String, Sourced<SecretSetting>>,
    /// MCP servers, by the operator's names for them.
    pub mcp: BTreeMap<String, Sourced<McpServer>>,
    /// The journal file.
    pub journal: Option<Sourced<PathBuf>>,
    /// The files of all layers, which join the protected set: also those that are not there, or not in force.
    pub files: Vec<PathBuf>,
    /// What the workspace's trusted files name, and what it was when it was trusted: `sha256:…` of a file, `at …` of a
    /// directory, or `absent`.
    pub bound: BTreeMap<PathBuf, String>,
}

impl Config {
    /// How a tool's schema is enforced, if anybody said so.
    pub fn schema_mode(&self, tool: &str) -> Option<&Sourced<SchemaMode>> {
        nearer(self.schema_of.get(tool), self.schema.as_ref())
    }

    /// The bounds of a tool's calls, as far as anybody set them.
    pub fn limits(&self, tool: &str) -> LimitSetting {
        let none = LimitSetting::default();
        let own = self.limits_of.get(tool).unwrap_or(&none);
        LimitSetting::nearer(own, &self.limits)
    }
}

/// Who is asked, as far as it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ApprovalSetting {
    /// In turn, until one gives an answer. Default: the terminal. None: nobody.
    pub approvers: Option<Sourced<Vec<ApproverKind>>>,
    /// Program and arguments; set if and only if it is among the approvers, unless a higher layer chose others.
    pub program: Option<Sourced<Vec<String>>>,
    /// Milliseconds it may take, 1 to 600,000. Default 10,000.
    pub program_timeout_ms: Option<Sourced<u64>>,
    /// Of a program of a workspace's file: what it runs and what that was when it was trusted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<PathBuf, String>,
}

impl ApprovalSetting {
    /// Who is asked, in turn.
    pub fn approvers(&self) -> &[ApproverKind] {
        match &self.approvers {
            Some(approvers) => &approvers.value,
            None => &[ApproverKind::Terminal],
        }
    }

    /// Milliseconds that the program may take.
    pub fn program_timeout_ms(&self) -> u64 {
        self.program_timeout_ms
            .as_ref()
            .map_or(DEFAULT_PROGRAM_TIMEOUT_MS, |setting| setting.value)
    }
}

/// Somebody who can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApproverKind {
    /// The person at the terminal.
    Terminal,
    /// The program that `program` names.
    Program,
    /// The queue that `toolgate approvals` answers.
    Queue,
    /// The person at the MCP client that a call came from (`toolgate serve`), where the client can ask them. `terminal`
    /// means the same there.
    Client,
}

impl ApproverKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Program => "program",
            Self::Queue => "queue",
            Self::Client => "client",
        }
    }
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookSetting {
    /// When it is run.
    pub event: HookEventName,
    /// What is run.
    pub run: HookRun,
    /// Names of the tools it is for; none: all. Always none for an event without a tool.
    pub tools: Vec<String>,
    /// Milliseconds it may take, 1 to 600,000.
    pub timeout_ms: u64,
    /// Where it stands.
    pub source: Source,
    /// Of a hook of a workspace's file: what it runs and what that was when it was trusted. It is compared before each
    /// run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<PathBuf, String>,
}

impl HookSetting {
    /// A hook of the embedding program, for all tools, with the default time.
    pub fn new(event: HookEventName, run: HookRun) -> Self {
        Self {
            event,
            run,
            tools: Vec::new(),
            timeout_ms: DEFAULT_PROGRAM_TIMEOUT_MS,
            source: Source::library(),
            bound: BTreeMap::new(),
        }
    }
}

/// What a hook runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum HookRun {
    /// A program.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// How its reply is written.
        format: HookFormat,
    },
    /// A component, in a sandbox.
    Component {
        /// Its file.
        file: PathBuf,
    },
}

impl HookRun {
    /// A program that replies in Toolgate's own format.
    pub fn command(command: Vec<String>) -> Self {
        Self::Command {
            command,
            format: HookFormat::Toolgate,
        }
    }

    /// Its words for people: the program with its arguments, or the component's file.
    pub fn words(&self) -> String {
        match self {
            Self::Command { command, .. } => command.join(" "),
            Self::Component { file } => file.display().to_string(),
        }
    }
}
