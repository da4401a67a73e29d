//! The one place that decides whether a call may run.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::grant::Strays;
use super::index::{self, ByTool, ToolRules};
use super::rule_set::RuleSet;
use super::{Access, Decision, FileGrant, FileGuard, Mode, Refusal, Roots, Rule};
use crate::model::{
    DenialReason, FileScope, RuleSource, SideEffect, Subject, SubjectKind, ToolName, Traits,
};

/// The longest path that is judged, bytes: twice what Linux takes. The judge's work grows with the number of components.
const MAX_PATH: usize = 8_192;
/// The most characters of a path that a denial quotes.
const MAX_QUOTED: usize = 1_000;

/// What the policy must know of a registered tool.
#[derive(Clone, Debug)]
pub struct ToolFacts {
    /// Its name.
    pub name: ToolName,
    /// The resolved traits.
    pub traits: Traits,
    /// The kind of its permission subject, if it yields one.
    pub subject: Option<SubjectKind>,
    /// It computes subjects of its own, of whatever kind.
    pub computes_subjects: bool,
    /// What it may do with files, and how much of the view it asks for.
    pub files: Option<(Access, FileScope)>,
    /// It is one of the host's own tools.
    pub built_in: bool,
}

/// Everything of a policy that is not a rule.
#[derive(Clone, Debug)]
pub struct PolicySettings {
    /// The mode.
    pub mode: Mode,
    /// No tool above it runs or is listed.
    pub ceiling: SideEffect,
    /// The granted directories.
    pub roots: Roots,
    /// Where `~/` stands in patterns.
    pub home: Option<PathBuf>,
    /// Files of the operator that join the protected set.
    pub protected: Vec<PathBuf>,
}

/// Why a policy cannot be built: each stops the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The rule.
    pub rule: RuleSource,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleSource {
            rule,
            effect,
            file,
            line,
        } = &self.rule;
        write!(f, "{}:", file.display())?;
        if *line > 0 {
            write!(f, "{line}:")?;
        }
        write!(f, " the {effect} rule '{rule}' {}", self.what)
    }
}

impl std::error::Error for PolicyError {}

/// One question to the policy.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The tool.
    pub tool: &'a ToolFacts,
    /// The subjects of the call.
    pub subjects: &'a [Subject],
}

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "basis", rename_all = "kebab-case")]
pub enum Basis {
    /// Rules.
    Rules,
    /// The tool is effectively read-only.
    ReadOnly,
    /// Mode `accept-edits`.
    AcceptEdits,
    /// Mode `bypass`.
    Bypass,
    /// The mode's default.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// Programs run the file on their own.
    RunsCode {
        /// The built-in pattern.
        pattern: &'static str,
    },
    /// A denial: see there.
    Denial,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules => f.write_str("by rule"),
            Self::ReadOnly => f.write_str("by default: effectively read-only tools run"),
            Self::AcceptEdits => f.write_str("by mode accept-edits"),
            Self::Bypass => f.write_str("by mode bypass"),
            Self::Mode { mode } => write!(f, "by default of mode {mode}: no rule matches"),
            Self::RunsCode { pattern } => {
                write!(
                    f,
                    "because programs may run files matching '{pattern}' later"
                )
            }
            Self::Denial => f.write_str("by denial"),
        }
    }
}

/// The answer: the decision, what decided, and every rule that matched.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// What decided.
    #[serde(flatten)]
    pub basis: Basis,
    /// Every rule that matched, strictest first.
    pub matched: Vec<RuleSource>,
    /// Why not, where the decision is `Deny`.
    pub denial: Option<DenialReason>,
    /// The path subjects, absolute and folded.
    pub paths: Vec<PathBuf>,
}

/// See the module.
#[derive(Debug)]
pub struct Policy {
    rules: ByTool,
    mode: Mode,
    ceiling: SideEffect,
    roots: Arc<Roots>,
    guard: Arc<FileGuard>,
}

impl Policy {
    /// Builds the policy for the registered tools.
    ///
    /// # Errors
    /// Every rule that names no tool, or whose pattern does not fit its tool.
    pub fn build(
        rules: &[Rule],
        settings: PolicySettings,
        tools: &[ToolFacts],
    ) -> Result<Self, Vec<PolicyError>> {
        let (rules, guard) = index::build(rules, &settings, tools)?;
        Ok(Self {
            rules,
            mode: settings.mode,
            ceiling: settings.ceiling,
            roots: Arc::new(settings.roots),
            guard: Arc::new(guard),
        })
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The ceiling in force: mode `plan` is the ceiling at read-only.
    pub fn ceiling(&self) -> SideEffect {
        match self.mode {
            Mode::Plan => SideEffect::ReadOnly,
            Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Auto | Mode::Bypass => {
                self.ceiling
            }
        }
    }

    /// The granted directories.
    pub fn roots(&self) -> &Arc<Roots> {
        &self.roots
    }

    /// Whether a model may see the tool at all: it is not denied for every call and not above the ceiling.
    pub fn shows(&self, tool: &ToolFacts) -> bool {
        let denied = self
            .rules
            .get(&tool.name)
            .is_some_and(|rules| !rules.deny.bare().is_empty());
        !denied && self.ceiling().permits(tool.traits.level)
    }

    /// May the call run? The strictest of everything that matches.
    pub fn evaluate(&self, question: Question<'_>) -> Verdict {
        let paths = self.paths(question.subjects);
        match self.denial(question, &paths) {
            Some(reason) => Verdict {
                decision: Decision::Deny,
                basis: Basis::Denial,
                matched: reason.sources().to_vec(),
                denial: Some(reason),
                paths,
            },
            None => self.unless_denied(question, paths),
        }
    }

    /// The file view of a call that may run. `accepted`: a human, or mode `bypass`, accepted what the call names.
    pub fn file_grant(
        &self,
        tool: &ToolFacts,
        verdict: &Verdict,
        accepted: bool,
    ) -> Option<FileGrant> {
        let (access, scope) = tool.files?;
        Some(FileGrant {
            access,
            roots: Arc::clone(&self.roots),
            guard: Arc::clone(&self.guard),
            scope: match scope {
                FileScope::Subject => Some(verdict.paths.clone()),
                FileScope::Workspace => None,
            },
            may_run_code: if accepted {
                verdict.paths.clone()
            } else {
                Vec::new()
            },
            strays: self
                .rules
                .get(&tool.name)
                .filter(|_| !accepted)
                .map(|rules| Strays {
                    rules: Arc::clone(rules),
                    need_allow: verdict.basis == Basis::Rules,
                }),
        })
    }

    fn paths(&self, subjects: &[Subject]) -> Vec<PathBuf> {
        subjects
            .iter()
            .filter(|subject| subject.kind == SubjectKind::Path)
            .map(|subject| self.roots.absolute(&subject.value))
            .collect()
    }

    /// Denials that no mode lifts.
    fn denial(
        &self,
        Question { tool, subjects }: Question<'_>,
        paths: &[PathBuf],
    ) -> Option<DenialReason> {
        let rules = self.rules.get(&tool.name).map(Arc::as_ref);
        if let Some(bare) = rules
            .map(|rules| rules.deny.bare())
            .filter(|bare| !bare.is_empty())
        {
            return Some(DenialReason::Rule {
                rules: bare.to_vec(),
            });
        }
        let ceiling = self.ceiling();
        if !ceiling.permits(tool.traits.level) {
            return Some(DenialReason::AboveCeiling {
                level: tool.traits.level,
                ceiling,
            });
        }
        if let Some(rules) = rules
            && let Some(reason) = undecidable(rules, subjects)
        {
            return Some(reason);
        }
        for path in paths {
            if let Some(reason) = self.path_denial(tool, rules, path) {
                return Some(reason);
            }
        }
        None
    }

    fn path_denial(
        &self,
        tool: &ToolFacts,
        rules: Option<&ToolRules>,
        path: &std::path::Path,
    ) -> Option<DenialReason> {
        let length = path.as_os_str().len();
        if length > MAX_PATH {
            return Some(DenialReason::PathTooLong { length });
        }
        let denying = rules
            .map(|rules| rules.deny.matching(path))
            .unwrap_or_default();
        if !denying.is_empty() {
            return Some(DenialReason::Rule { rules: denying });
        }
        let (access, _) = tool.files?;
        let outside = || DenialReason::OutsideRoots {
            path: path.to_string_lossy().chars().take(MAX_QUOTED).collect(),
            access: access.as_str(),
        };
        let mut judged = self.guard.judge(Access::Read, path);
        // A writing view reads too.
        if access == Access::Write {
            judged = judged.and_then(|()| self.guard.judge(Access::Write, path));
        }
        match judged {
            Err(Refusal::Rules(rules)) => Some(DenialReason::Rule { rules }),
            Err(Refusal::Protected(pattern)) => Some(DenialReason::Protected { pattern }),
            Err(Refusal::SystemTree(_)) => Some(outside()),
            Ok(()) => self.roots.covering(access, path).is_none().then(outside),
        }
    }

    fn unless_denied(&self, question: Question<'_>, paths: Vec<PathBuf>) -> Verdict {
        let tool = question.tool;
        let (asked, allowed) = match self.rules.get(&tool.name) {
            Some(rules) => (any(&rules.ask, &paths), every(&rules.allow, &paths)),
            None => (Vec::new(), Vec::new()),
        };
        let runs_code = match tool.files {
            Some((Access::Write, _)) => paths.iter().find_map(|path| self.guard.runs_code(path)),
            _ => None,
        };
        let in_workspace = |path: &PathBuf| path.starts_with(self.roots.workspace());
        let edits_files = tool.built_in
            && matches!(tool.files, Some((Access::Write, _)))
            && paths.iter().all(in_workspace);
        let (decision, basis) = match (self.mode, runs_code) {
            (Mode::Bypass, _) => (Decision::Allow, Basis::Bypass),
            (_, Some(pattern)) => (self.ask(), Basis::RunsCode { pattern }),
            _ if !asked.is_empty() => (self.ask(), Basis::Rules),
            _ if !allowed.is_empty() => (Decision::Allow, Basis::Rules),
            (Mode::AcceptEdits, _) if edits_files => (Decision::Allow, Basis::AcceptEdits),
            _ if tool.traits.level == SideEffect::ReadOnly => (Decision::Allow, Basis::ReadOnly),
            (mode, _) => (self.ask(), Basis::Mode { mode }),
        };
        let denial = (decision == Decision::Deny).then(|| DenialReason::NothingAllows {
            mode: self.mode.as_str(),
        });
        Verdict {
            decision,
            basis,
            matched: asked.into_iter().chain(allowed).collect(),
            denial,
            paths,
        }
    }

    /// What a question to a human becomes in this mode.
    fn ask(&self) -> Decision {
        match self.mode {
            Mode::DontAsk | Mode::Auto => Decision::Deny,
            Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::Bypass => Decision::Ask,
        }
    }
}

/// A pattern on a call without a subject of its kind cannot be compared with anything.
fn undecidable(rules: &ToolRules, subjects: &[Subject]) -> Option<DenialReason> {
    let rule = [&rules.deny, &rules.ask, &rules.allow]
        .into_iter()
        .find_map(RuleSet::first_patterned)?;
    let what = match subjects {
        [] => "the call names no path that it could be compared with".to_owned(),
        _ if subjects.iter().any(|subject| subject.value.is_empty()) => {
            "the call names an empty path".to_owned()
        }
        _ => {
            let other = subjects
                .iter()
                .find(|subject| subject.kind != SubjectKind::Path)?;
            format!("the call's subject is a {}, not a path", other.kind)
        }
    };
    Some(DenialReason::Undecidable {
        rule: rule.clone(),
        what,
    })
}

/// Rules that speak of the call through any of its paths.
fn any(rules: &RuleSet, paths: &[PathBuf]) -> Vec<RuleSource> {
    let patterned = paths.iter().flat_map(|path| rules.matching(path));
    rules.bare().iter().cloned().chain(patterned).collect()
}

/// Rules that speak of the call through all of its paths: an allowed path does not carry another one.
fn every(rules: &RuleSet, paths: &[PathBuf]) -> Vec<RuleSource> {
    let matching: Vec<Vec<RuleSource>> = paths.iter().map(|path| rules.matching(path)).collect();
    let mut sources = rules.bare().to_vec();
    if !matching.is_empty() && matching.iter().all(|matched| !matched.is_empty()) {
        sources.extend(matching.into_iter().flatten());
    }
    sources
}
