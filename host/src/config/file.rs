//! The shape of `toolgate.toml`. Its docstrings are the descriptions in the file's JSON Schema.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::egress::{Egress, Secret};
use super::limits::Limits;
use super::mcp::Mcp;
use super::plain::Plain;
use super::rule_entry::RuleEntry;
use super::serve::Serve;
use super::settings::ApproverKind;
use super::shell::Shell;
use super::store::Store;
use super::tools::Tool;
use super::web_search::WebSearch;
use crate::model::{HookFormat, SideEffect, SubjectKind};
use crate::policy::{ExemptLine, SchemaMode};

/// Toolgate's configuration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    /// What may run.
    pub(super) permissions: Permissions,
    /// Directories beside the workspace.
    pub(super) files: Files,
    /// Who is asked.
    pub(super) approval: Approval,
    /// How input schemas are enforced.
    pub(super) schema: Schema,
    /// Subjects of tools that declare none, by the tool's name: what the patterns of rules are compared with.
    #[schemars(with = "BTreeMap<String, Subject>")]
    pub(super) subjects: BTreeMap<String, Spanned<Subject>>,
    /// Bounds of every call; the tables below `tools` are for one tool each.
    pub(super) limits: Limits,
    /// Programs and components around a call and a session.
    pub(super) hooks: Hooks,
    /// Tools beside the built-in ones.
    pub(super) components: Components,
    /// Functions of components that were not made for Toolgate, by the tool's name.
    #[schemars(with = "BTreeMap<String, Plain>")]
    pub(super) plain: BTreeMap<String, Spanned<Plain>>,
    /// Commands.
    #[schemars(with = "Option<Shell>")]
    pub(super) shell: Option<Spanned<Shell>>,
    /// What single tools are told, by the tool's name.
    pub(super) tools: BTreeMap<String, Tool>,
    /// Whom questions to the web go to.
    #[schemars(with = "Option<WebSearch>")]
    pub(super) web_search: Option<Spanned<WebSearch>>,
    /// Serving over MCP.
    pub(super) serve: Serve,
    /// Installed components.
    pub(super) store: Store,
    /// What tools may reach of the network.
    pub(super) egress: Egress,
    /// Secrets that the host puts into requests, by name.
    #[schemars(with = "BTreeMap<String, Secret>")]
    pub(super) secrets: BTreeMap<String, Spanned<Secret>>,
    /// MCP servers.
    pub(super) mcp: Mcp,
    /// Where records go.
    pub(super) journal: Journal,
}

/// Rules are `Name` or `Name(pattern)`. Deny wins over ask, ask over allow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Permissions {
    /// What happens to a call that no rule decides. The mode `bypass` can only be given as a start flag.
    #[schemars(with = "Option<FileMode>")]
    pub(super) mode: Option<Spanned<String>>,
    /// No tool above this level runs or is listed.
    #[schemars(with = "Option<SideEffect>")]
    pub(super) ceiling: Option<Spanned<SideEffect>>,
    /// Calls that run without being asked.
    #[schemars(with = "Vec<RuleEntry>")]
    pub(super) allow: Vec<Spanned<RuleEntry>>,
    /// Calls that somebody is asked for.
    #[schemars(with = "Vec<RuleEntry>")]
    pub(super) ask: Vec<Spanned<RuleEntry>>,
    /// Calls that never run, and files that no tool touches.
    #[schemars(with = "Vec<RuleEntry>")]
    pub(super) deny: Vec<Spanned<RuleEntry>>,
}

/// The modes that a file may set.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[expect(
    dead_code,
    reason = "only its schema is used: the word itself is read with its line"
)]
enum FileMode {
    /// Read-only tools run, everything else is asked.
    Default,
    /// Like `default`, and the built-in file-writing tools run inside the workspace.
    AcceptEdits,
    /// Only read-only tools run or are listed.
    Plan,
    /// Like `default`, but what would be asked is denied.
    DontAsk,
    /// Like `dont-ask`, and mutating tools run that the host has verified to destroy nothing, inside the workspace.
    Auto,
}

/// The words of [`FileMode`].
pub(super) const FILE_MODES: [&str; 5] = ["default", "accept-edits", "plan", "dont-ask", "auto"];

/// Directories beside the workspace. Relative ones stand on the folder of the file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Files {
    /// Directories that tools may read.
    #[schemars(with = "Vec<PathBuf>")]
    pub(super) read: Vec<Spanned<PathBuf>>,
    /// Directories that tools may read and write.
    #[schemars(with = "Vec<PathBuf>")]
    pub(super) write: Vec<Spanned<PathBuf>>,
}

/// Who is asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    /// Tools at or below this level run without being asked where no rule speaks of them. Destructive tools are always
    /// asked.
    #[schemars(with = "Option<ExemptLine>")]
    pub(super) exempt_at_or_below: Option<Spanned<ExemptLine>>,
    /// Who is asked, in turn, until one gives an answer; each at most once. Default: the terminal. An empty list: nobody,
    /// so that what has to be asked is denied.
    #[schemars(with = "Option<Vec<ApproverKind>>")]
    pub(super) approvers: Option<Spanned<Vec<ApproverKind>>>,
    /// Program and arguments of the approver `program`. A program with a slash in its name stands on the folder of the
    /// file; another is looked up in the search path.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) program: Option<Spanned<Vec<String>>>,
    /// Milliseconds that the program may take, 1 to 600,000. Default 10,000.
    #[schemars(with = "Option<u64>")]
    pub(super) program_timeout_ms: Option<Spanned<u64>>,
}

/// How input schemas are enforced.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Schema {
    /// For every tool.
    #[schemars(with = "Option<SchemaMode>")]
    pub(super) mode: Option<Spanned<SchemaMode>>,
    /// For one tool, by its name.
    #[schemars(with = "BTreeMap<String, SchemaMode>")]
    pub(super) tools: BTreeMap<String, Spanned<SchemaMode>>,
}

/// The subject of a tool that declares none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Subject {
    /// What the field holds.
    pub(super) kind: SubjectKind,
    /// Name of a top-level input field that holds a text or a list of texts.
    #[schemars(with = "String")]
    pub(super) field: Spanned<String>,
}

/// Programs and components around a call and a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Hooks {
    /// Before a call: may deny, ask or rewrite.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) pre_tool_use: Vec<Spanned<HookEntry>>,
    /// After a call that did what it was asked.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) post_tool_use: Vec<Spanned<HookEntry>>,
    /// After a call that did not.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) post_tool_use_failure: Vec<Spanned<HookEntry>>,
    /// Before somebody is asked for approval: may deny.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) permission_request: Vec<Spanned<HookEntry>>,
    /// When a session begins.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) session_start: Vec<Spanned<HookEntry>>,
    /// When a session ends.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) session_end: Vec<Spanned<HookEntry>>,
    /// When the agent is about to stop.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) stop: Vec<Spanned<HookEntry>>,
    /// When a person sent a prompt.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) user_prompt_submit: Vec<Spanned<HookEntry>>,
    /// When the agent is about to start another one.
    #[schemars(with = "Vec<HookEntry>")]
    pub(super) subagent_start: Vec<Spanned<HookEntry>>,
}

/// One hook: a command or a component.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HookEntry {
    /// Program and arguments. A program with a slash in its name stands on the folder of the file; another is looked up in
    /// the search path.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// A component file, which stands on the folder of the file.
    #[schemars(with = "Option<PathBuf>")]
    pub(super) component: Option<Spanned<PathBuf>>,
    /// Names of the tools it is for, on events that have a tool. Default: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) tools: Option<Spanned<Vec<String>>>,
    /// Milliseconds it may take, 1 to 600,000. Default 10,000.
    #[schemars(with = "Option<u64>")]
    pub(super) timeout_ms: Option<Spanned<u64>>,
    /// How a command's reply is written. Default: toolgate.
    #[schemars(with = "Option<HookFormat>")]
    pub(super) format: Option<Spanned<HookFormat>>,
}

/// Tools beside the built-in ones.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Components {
    /// Component files. Relative ones stand on the folder of the file.
    #[schemars(with = "Vec<PathBuf>")]
    pub(super) files: Vec<Spanned<PathBuf>>,
    /// Names of built-in tools that are left out.
    #[schemars(with = "Vec<String>")]
    pub(super) without: Vec<Spanned<String>>,
    /// Names of tools whose claims are believed where nothing verifies them (idempotent, not destructive).
    #[schemars(with = "Vec<String>")]
    pub(super) trusted: Vec<Spanned<String>>,
}

/// Where records go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Journal {
    /// The journal file. Default: `journal.jsonl` in Toolgate's state directory.
    #[schemars(with = "Option<PathBuf>")]
    pub(super) file: Option<Spanned<PathBuf>>,
}
