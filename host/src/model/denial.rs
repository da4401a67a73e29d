//! Denials: which gate refused, why, and by which rule.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::SideEffect;

/// The most characters of a denial that the model is told.
const MAX_FOR_MODEL: usize = 8_000;

/// The eleven gates, in the order of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Bytes to one JSON object.
    Parse,
    /// Name to tool.
    Resolve,
    /// Lossless conversions.
    Normalise,
    /// Rules, ceiling, mode.
    Permission,
    /// The input against the schema.
    Schema,
    /// Hooks before the call.
    PreHooks,
    /// The human.
    Approval,
    /// The tool itself.
    Execute,
    /// The cap on what comes back.
    Output,
    /// Hooks after the call.
    PostHooks,
    /// The record.
    Journal,
}

impl Gate {
    /// All of them, in order.
    pub const ALL: [Self; 11] = [
        Self::Parse,
        Self::Resolve,
        Self::Normalise,
        Self::Permission,
        Self::Schema,
        Self::PreHooks,
        Self::Approval,
        Self::Execute,
        Self::Output,
        Self::PostHooks,
        Self::Journal,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Resolve => "resolve",
            Self::Normalise => "normalise",
            Self::Permission => "permission",
            Self::Schema => "schema",
            Self::PreHooks => "pre-hooks",
            Self::Approval => "approval",
            Self::Execute => "execute",
            Self::Output => "output",
            Self::PostHooks => "post-hooks",
            Self::Journal => "journal",
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RuleSource {
    /// The rule's text.
    pub rule: String,
    /// `allow`, `ask` or `deny`.
    pub effect: &'static str,
    /// The file, or what stands for one (`command line`, `library`).
    pub file: PathBuf,
    /// Line in the file, from 1; 0 where there is no file.
    pub line: usize,
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}", self.effect, self.rule, self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        f.write_str(")")
    }
}

/// Why a gate refused. Closed: whoever adds a reason decides what everybody says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum DenialReason {
    /// The input is not one JSON object within the limits.
    Malformed {
        /// What is wrong, with the position where there is one.
        what: String,
    },
    /// There is no such tool, or it may not be seen.
    UnknownTool {
        /// What was asked for.
        name: String,
        /// The nearest visible name.
        nearest: Option<String>,
    },
    /// A deny rule matched.
    Rule {
        /// All rules that matched, strictest first.
        rules: Vec<RuleSource>,
    },
    /// The tool's level is above the ceiling.
    AboveCeiling {
        /// The tool's level.
        level: SideEffect,
        /// The ceiling.
        ceiling: SideEffect,
    },
    /// No rule allows it, and the mode does not ask.
    NothingAllows {
        /// The mode.
        mode: &'static str,
    },
    /// Somebody would have to be asked, and the mode does not ask.
    NotAsked {
        /// The mode.
        mode: &'static str,
        /// Why it would be asked.
        why: String,
    },
    /// The path is never writable by a tool.
    Protected {
        /// The pattern of the built-in set.
        pattern: String,
    },
    /// The path lies outside of every granted root.
    OutsideRoots {
        /// As the input gave it.
        path: String,
        /// `read` or `write`.
        access: &'static str,
    },
    /// The path is longer than any file's.
    PathTooLong {
        /// Bytes.
        length: usize,
    },
    /// Rules cannot be compared with this call.
    Undecidable {
        /// The rule that cannot; none: no rule could be.
        rule: Option<RuleSource>,
        /// Why.
        what: String,
    },
    /// The tool's own refusal.
    ToolRefused {
        /// The tool's words.
        message: String,
    },
    /// The input does not fit the schema.
    InvalidInput {
        /// One sentence each.
        violations: Vec<String>,
    },
    /// A hook refused.
    HookDenied {
        /// The hook.
        hook: String,
        /// Its words.
        message: String,
    },
    /// A hook did not work, which counts as a refusal.
    HookBroken {
        /// The hook.
        hook: String,
        /// What went wrong.
        what: String,
    },
    /// Hooks rewrote the input too often.
    TooManyRewrites {
        /// The most rounds.
        limit: usize,
    },
    /// A person or program was asked and said no.
    NotApproved {
        /// Who.
        by: String,
        /// Their words.
        message: Option<String>,
    },
    /// Approval was needed and nobody can give it.
    NoApprover,
    /// The question waits in the approval queue.
    ApprovalPending {
        /// Its name there.
        #[serde(rename = "approval")]
        id: String,
    },
    /// While somebody was asked, the policy changed again and again.
    PolicyChanged,
    /// Nobody answered in time.
    ApprovalTimeout {
        /// How long was waited.
        after: Duration,
    },
}

impl DenialReason {
    /// The rules that decided.
    pub fn sources(&self) -> &[RuleSource] {
        match self {
            Self::Rule { rules } => rules,
            Self::Undecidable { rule, .. } => rule.as_slice(),
            _ => &[],
        }
    }
}

impl fmt::Display for DenialReason {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each reason; splitting hides the table"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { what } => write!(f, "the input is malformed: {what}"),
            Self::UnknownTool { name, nearest } => {
                let meant = nearest
                    .as_ref()
                    .map(|near| format!("; did you mean '{near}'?"));
                write!(
                    f,
                    "unknown tool '{}'{}",
                    shown(name),
                    meant.unwrap_or_default()
                )
            }
            Self::Rule { rules } => match rules.first() {
                Some(rule) => write!(f, "denied by the rule {}({})", rule.effect, rule.rule),
                None => f.write_str("denied by a rule"),
            },
            Self::AboveCeiling { level, ceiling } => {
                write!(f, "the tool is {level}, and the ceiling is {ceiling}")
            }
            Self::NothingAllows { mode } => {
                write!(f, "no rule allows it, and mode {mode} does not ask")
            }
            Self::NotAsked { mode, why } => {
                write!(
                    f,
                    "it would be {why}, and mode {mode} denies what would be asked"
                )
            }
            Self::Protected { pattern } => {
                write!(f, "files matching '{pattern}' are never writable by a tool")
            }
            Self::OutsideRoots { path, access } => write!(
                f,
                "'{}' is outside the workspace and every other directory granted for {access}",
                shown(path)
            ),
            Self::PathTooLong { length } => write!(f, "a path of {length} bytes is too long"),
            Self::Undecidable { rule: None, what } => f.write_str(what),
            Self::Undecidable {
                rule: Some(rule),
                what,
            } => {
                write!(
                    f,
                    "the rule {}({}) cannot be decided: {what}",
                    rule.effect, rule.rule
                )
            }
            Self::ToolRefused { message } => write!(f, "the tool refused: {message}"),
            Self::InvalidInput { violations } => f.write_str(&violations.join("\n")),
            Self::HookDenied { hook, message } => write!(f, "the hook '{hook}' refused: {message}"),
            Self::HookBroken { hook, what } => write!(f, "hook broken: {hook}, {what}"),
            Self::TooManyRewrites { limit } => {
                write!(f, "hooks rewrote the input more than {limit} times")
            }
            Self::NotApproved { by, message } => {
                let words = message.as_ref().map(|words| format!(": {words}"));
                write!(f, "not approved by {by}{}", words.unwrap_or_default())
            }
            Self::NoApprover => {
                f.write_str("approval is needed, and nobody is attached who can give it")
            }
            Self::ApprovalPending { id } => write!(
                f,
                "approval pending, {id}: once it is approved, the same call again runs"
            ),
            Self::PolicyChanged => f.write_str("the policy changed while somebody was asked"),
            Self::ApprovalTimeout { after } => {
                write!(
                    f,
                    "nobody answered the approval request within {} s",
                    after.as_secs()
                )
            }
        }
    }
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(200).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

/// A gate refused the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// Which.
    pub gate: Gate,
    /// Why.
    #[serde(flatten)]
    pub reason: DenialReason,
    /// What the operator, or the model, can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Every rule that speaks of the call, strictest first; those that decided are among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matched: Vec<RuleSource>,
}

impl Denial {
    /// A denial without a hint.
    pub fn new(gate: Gate, reason: DenialReason) -> Self {
        Self {
            gate,
            reason,
            hint: None,
            matched: Vec::new(),
        }
    }

    /// The same with every rule that speaks of the call.
    #[must_use]
    pub fn with_matched(mut self, matched: Vec<RuleSource>) -> Self {
        self.matched = matched;
        self
    }

    /// The same with a hint for the operator.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Where the rules that speak of the call stand, those that decided first.
    pub fn sources(&self) -> &[RuleSource] {
        match self.matched.as_slice() {
            [] => self.reason.sources(),
            matched => matched,
        }
    }

    /// What the model is told: parameter names, types and rule texts, never where a rule stands.
    pub fn for_model(&self) -> String {
        let text = match &self.reason {
            DenialReason::InvalidInput { violations } => violations.join("\n"),
            // The operator's command line is not the model's business.
            DenialReason::HookDenied { message, .. } => {
                format!("Denied by a hook: {message}. The tool was not executed.")
            }
            DenialReason::HookBroken { .. } => {
                "Denied: a hook does not work. The tool was not executed.".to_owned()
            }
            // Nor is who was asked.
            DenialReason::NotApproved { message, .. } => {
                let words = message.as_ref().map(|words| format!(": {words}"));
                let words = words.unwrap_or_default();
                format!("Not approved{words}. The tool was not executed.")
            }
            reason @ (DenialReason::Malformed { .. }
            | DenialReason::UnknownTool { .. }
            | DenialReason::Rule { .. }
            | DenialReason::AboveCeiling { .. }
            | DenialReason::NothingAllows { .. }
            | DenialReason::NotAsked { .. }
            | DenialReason::Protected { .. }
            | DenialReason::OutsideRoots { .. }
            | DenialReason::PathTooLong { .. }
            | DenialReason::Undecidable { .. }
            | DenialReason::ToolRefused { .. }
            | DenialReason::TooManyRewrites { .. }
            | DenialReason::NoApprover
            | DenialReason::ApprovalPending { .. }
            | DenialReason::PolicyChanged
            | DenialReason::ApprovalTimeout { .. }) => format!(
                "Denied at the {} gate: {reason}. The tool was not executed.",
                self.gate
            ),
        };
        match text.char_indices().nth(MAX_FOR_MODEL) {
            Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
            None => text,
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied at the {} gate: {}", self.gate, self.reason)
    }
}
