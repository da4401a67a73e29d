//! The shape of `toolgate.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::model::SideEffect;
use crate::policy::{ExemptLine, Mode, Rule, SchemaMode};

/// A rule with its position in the file.
type RuleText = Spanned<String>;

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
    /// Bounds of every call; the tables below `tools` are for one tool each.
    pub(super) limits: Limits,
    /// Programs around a call.
    pub(super) hooks: Hooks,
    /// Tools beside the built-in ones.
    pub(super) components: Components,
    /// Where records go.
    pub(super) journal: Journal,
}

/// Rules are `Name` or `Name(pattern)`. Deny wins over ask, ask over allow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Permissions {
    /// What happens to a call that no rule decides. `bypass` can only be given as a start flag.
    #[schemars(with = "Option<Mode>")]
    pub(super) mode: Option<Spanned<Mode>>,
    /// No tool above this level runs or is listed.
    pub(super) ceiling: Option<SideEffect>,
    /// Calls that run without being asked.
    #[schemars(with = "Vec<String>")]
    pub(super) allow: Vec<RuleText>,
    /// Calls that somebody is asked for.
    #[schemars(with = "Vec<String>")]
    pub(super) ask: Vec<RuleText>,
    /// Calls that never run, and files that no tool touches.
    #[schemars(with = "Vec<String>")]
    pub(super) deny: Vec<RuleText>,
}

/// Directories beside the workspace.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Files {
    /// Directories that tools may read.
    pub(super) read: Vec<PathBuf>,
    /// Directories that tools may read and write.
    pub(super) write: Vec<PathBuf>,
}

/// Who is asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    /// Tools at or below this level run without being asked where no rule speaks of them. Destructive tools are always
    /// asked.
    pub(super) exempt_at_or_below: Option<ExemptLine>,
}

/// How input schemas are enforced.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Schema {
    /// For every tool.
    pub(super) mode: Option<SchemaMode>,
    /// For one tool, by its name.
    pub(super) tools: BTreeMap<String, SchemaMode>,
}

/// Bounds of a call.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Limits {
    /// Wall clock, milliseconds, 1,000 to 600,000. Default 120,000.
    pub(super) timeout_ms: Option<u64>,
    /// Wasm instructions, 10^6 to 10^15. Default 10^11.
    pub(super) fuel: Option<u64>,
    /// Memory and tables together, MiB, 1 to 1,024. Default 256.
    pub(super) memory_mib: Option<u64>,
    /// For one tool, by its name.
    pub(super) tools: BTreeMap<String, LimitSetting>,
}

/// Bounds of the calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSetting {
    /// Wall clock, milliseconds.
    pub timeout_ms: Option<u64>,
    /// Wasm instructions.
    pub fuel: Option<u64>,
    /// Memory and tables together, MiB.
    pub memory_mib: Option<u64>,
}

/// Programs around a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Hooks {
    /// Before the call: may deny, ask or rewrite.
    pub(super) pre_tool_use: Vec<HookSetting>,
    /// After a call that did what it was asked.
    pub(super) post_tool_use: Vec<HookSetting>,
    /// After a call that did not.
    pub(super) post_tool_use_failure: Vec<HookSetting>,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookSetting {
    /// Program and arguments. A program with a slash in its name stands on the folder of the file; another is looked up in
    /// the search path.
    pub command: Vec<String>,
    /// Names of the tools it is for. Default: all.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Milliseconds it may take, 1 to 600,000. Default 10,000.
    #[serde(default = "default_hook_timeout")]
    pub timeout_ms: u64,
}

impl HookSetting {
    /// The same with its program on a folder, where it has a slash in its name.
    pub(super) fn on(mut self, folder: &std::path::Path) -> Self {
        if let Some(program) = self.command.first_mut()
            && program.contains('/')
        {
            *program = folder.join(&*program).to_string_lossy().into_owned();
        }
        self
    }
}

fn default_hook_timeout() -> u64 {
    10_000
}

/// Tools beside the built-in ones.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Components {
    /// Component files.
    pub(super) files: Vec<PathBuf>,
    /// Names of built-in tools that are left out.
    pub(super) without: Vec<String>,
}

/// Where records go.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Journal {
    /// The journal file. Default: `journal.jsonl` in Toolgate's state directory.
    pub(super) file: Option<PathBuf>,
}

/// All settings, from all files.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// All rules, in the order of the files.
    pub rules: Vec<Rule>,
    /// The mode.
    pub mode: Option<Mode>,
    /// The ceiling.
    pub ceiling: Option<SideEffect>,
    /// Who runs without being asked.
    pub exempt: Option<ExemptLine>,
    /// Further directories for reading.
    pub read: Vec<PathBuf>,
    /// Further directories for writing.
    pub write: Vec<PathBuf>,
    /// How schemas are enforced.
    pub schema: Option<SchemaMode>,
    /// The same for one tool.
    pub schema_of: BTreeMap<String, SchemaMode>,
    /// Bounds.
    pub limits: LimitSetting,
    /// Bounds of one tool.
    pub limits_of: BTreeMap<String, LimitSetting>,
    /// Hooks before the call.
    pub pre_hooks: Vec<HookSetting>,
    /// Hooks after a success.
    pub post_hooks: Vec<HookSetting>,
    /// Hooks after a failure.
    pub failure_hooks: Vec<HookSetting>,
    /// Component files.
    pub components: Vec<PathBuf>,
    /// Built-in tools that are left out.
    pub without: Vec<String>,
    /// The journal file.
    pub journal: Option<PathBuf>,
    /// The files that were read, which join the protected set.
    pub files: Vec<PathBuf>,
}
