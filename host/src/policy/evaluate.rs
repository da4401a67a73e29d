//! The one place that decides whether a call may run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::index::{self, ByTool, Names, ToolRules};
use super::rule_set::RuleSet;
use super::shell_grant::{Ground, Request};
use super::subjects::ReadSubject;
use super::{
    Access, Basis, Decision, EgressOpenings, FileGuard, Mode, PolicyError, Refusal, Roots, Rule,
    ShellGrant, ShellGrants, Verdict,
};
use crate::model::{
    DenialReason, FileScope, Ground as TraitGround, RuleSource, ShellTarget, SideEffect, Subject,
    SubjectKind, ToolName, Traits, hex,
};

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
    /// Beginnings of names of tools that come while the host runs: a rule may name one that is not there yet.
    pub coming: Vec<String>,
}

/// One question to the policy.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The tool.
    pub tool: &'a ToolFacts,
    /// The subjects of the call.
    pub subjects: &'a [Subject],
}

/// See the module.
#[derive(Debug)]
pub struct Policy {
    pub(super) rules: ByTool,
    commands: RuleSet,
    pub(super) roots: Arc<Roots>,
    pub(super) guard: Arc<FileGuard>,
    given: Arc<[Rule]>,
    pub(super) version: String,
    settings: PolicySettings,
    shell: Arc<ShellGrants>,
    pub(super) egress: Arc<EgressOpenings>,
}

impl Policy {
    /// Builds the policy for the registered tools.
    ///
    /// # Errors
    /// Every rule that names no tool, whose pattern does not fit its tool, or that its own examples contradict.
    pub fn build(
        rules: &[Rule],
        settings: PolicySettings,
        tools: &[ToolFacts],
    ) -> Result<Self, Vec<PolicyError>> {
        Self::of(rules.into(), settings, tools, Names::Checked)
    }

    fn of(
        given: Arc<[Rule]>,
        settings: PolicySettings,
        tools: &[ToolFacts],
        names: Names,
    ) -> Result<Self, Vec<PolicyError>> {
        let version = version(&given, &settings);
        let index = index::build(&given, &settings, tools, names)?;
        Ok(Self {
            rules: index.by_tool,
            commands: index.commands,
            given,
            roots: Arc::new(settings.roots.clone()),
            guard: Arc::new(index.guard),
            version,
            settings,
            shell: Arc::default(),
            egress: Arc::default(),
        })
    }

    /// The same settings with other rules.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn with_rules(
        &self,
        rules: &[Rule],
        tools: &[ToolFacts],
    ) -> Result<Self, Vec<PolicyError>> {
        let policy = Self::build(rules, self.settings.clone(), tools)?;
        let policy = policy.with_shell_grants(Arc::clone(&self.shell));
        Ok(policy.with_egress(Arc::clone(&self.egress)))
    }

    /// The same rules and settings for other tools. The rules' names were checked when they were put in force: one may be
    /// that of a tool that is gone.
    ///
    /// # Errors
    /// A rule does not fit one of the tools; all rules together are too many.
    pub fn with_tools(&self, tools: &[ToolFacts]) -> Result<Self, Vec<PolicyError>> {
        let (rules, settings) = (Arc::clone(&self.given), self.settings.clone());
        let policy = Self::of(rules, settings, tools, Names::AsTheyAre)?;
        let policy = policy.with_shell_grants(Arc::clone(&self.shell));
        Ok(policy.with_egress(Arc::clone(&self.egress)))
    }

    /// Whether every rule that names this tool fits it.
    ///
    /// # Errors
    /// The first that does not.
    pub fn fits(&self, tool: &ToolFacts) -> Result<(), PolicyError> {
        index::fits(&self.given, &self.settings, tool)
    }

    /// The same with commands that tools may run without naming them in their calls.
    #[must_use]
    pub fn with_shell_grants(mut self, grants: Arc<ShellGrants>) -> Self {
        if !grants.is_empty() {
            let both = format!("{}{grants:?}", self.version);
            self.version = hex(&Sha256::digest(both.as_bytes()));
        }
        self.shell = grants;
        self
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// SHA-256 over the rules and settings: two policies of one version decide alike.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The ceiling in force: mode `plan` is the ceiling at read-only.
    pub fn ceiling(&self) -> SideEffect {
        match self.settings.mode {
            Mode::Plan => SideEffect::ReadOnly,
            Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Auto | Mode::Bypass => {
                self.settings.ceiling
            }
        }
    }

    /// The granted directories.
    pub fn roots(&self) -> &Arc<Roots> {
        &self.roots
    }

    /// Which files no tool may touch.
    pub fn guard(&self) -> &Arc<FileGuard> {
        &self.guard
    }

    /// Whether a model may see the tool at all: it is not denied for every call and not above the ceiling.
    pub fn shows(&self, tool: &ToolFacts) -> bool {
        self.hidden_by(tool).is_none()
    }

    /// May the call run? The strictest of everything that matches.
    pub fn evaluate(&self, question: Question<'_>) -> Verdict {
        let tool = question.tool;
        let rules = self.rules.get(&tool.name).map(Arc::as_ref);
        let read = question
            .subjects
            .iter()
            .map(|subject| ReadSubject::read(subject, &self.roots))
            .collect::<Result<Vec<_>, _>>();
        let subjects = match read {
            Ok(subjects) => subjects,
            Err(reason) => {
                return denied(self.above_ceiling(tool).unwrap_or(reason), Vec::new(), &[]);
            }
        };
        let asked = rules
            .map(|rules| rules.ask.any(&subjects))
            .unwrap_or_default();
        let allowed = rules
            .map(|rules| rules.allow.every(&subjects))
            .unwrap_or_default();
        let empty = question
            .subjects
            .iter()
            .any(|subject| subject.value.is_empty());
        match self.denial(tool, rules, &subjects, empty) {
            Some(reason) => denied(
                reason,
                asked.into_iter().chain(allowed).collect(),
                &subjects,
            ),
            None => self.unless_denied(tool, rules, subjects, asked, allowed),
        }
    }

    /// What of the shell a call that may run gets: its own command lines, or what the operator's patterns for the tool
    /// allow. `target`: what the tool asks for.
    pub fn shell_grant(
        &self,
        tool: &ToolFacts,
        target: Option<ShellTarget>,
        subjects: &[Subject],
    ) -> Option<ShellGrant> {
        let target = target?;
        let denying = self.rules.values().map(Arc::clone).collect();
        ShellGrant::new(
            Request {
                tool,
                target,
                subjects,
            },
            Ground {
                denying,
                granted: Arc::clone(&self.shell),
                roots: Arc::clone(&self.roots),
                guard: Arc::clone(&self.guard),
                writes: self.ceiling().permits(SideEffect::Mutating),
            },
        )
    }

    fn above_ceiling(&self, tool: &ToolFacts) -> Option<DenialReason> {
        let (level, ceiling) = (tool.traits.level, self.ceiling());
        (!ceiling.permits(level)).then_some(DenialReason::AboveCeiling { level, ceiling })
    }

    /// Denials that no mode lifts.
    fn denial(
        &self,
        tool: &ToolFacts,
        rules: Option<&ToolRules>,
        subjects: &[ReadSubject],
        empty: bool,
    ) -> Option<DenialReason> {
        let mut denying = rules
            .map(|rules| rules.deny.any(subjects))
            .unwrap_or_default();
        for rule in self.commands.any(subjects) {
            if !denying.contains(&rule) {
                denying.push(rule);
            }
        }
        if !denying.is_empty() {
            return Some(DenialReason::Rule { rules: denying });
        }
        if let Some(reason) = self.above_ceiling(tool) {
            return Some(reason);
        }
        let unclear = rules.and_then(|rules| undecidable(rules, subjects, empty));
        if let Some(reason) = unclear.or_else(|| hiding(&self.commands, subjects)) {
            return Some(reason);
        }
        subjects
            .iter()
            .filter_map(ReadSubject::path)
            .find_map(|path| self.path_denial(tool, path))
    }

    pub(super) fn path_denial(&self, tool: &ToolFacts, path: &Path) -> Option<DenialReason> {
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

    fn unless_denied(
        &self,
        tool: &ToolFacts,
        rules: Option<&ToolRules>,
        subjects: Vec<ReadSubject>,
        asked: Vec<RuleSource>,
        allowed: Vec<RuleSource>,
    ) -> Verdict {
        let unclear = rules.and_then(|rules| rules.ask.undecided(&subjects));
        let unclear = unclear.map(|(rule, what)| (rule.clone(), what.to_owned()));
        let paths = paths(&subjects);
        let writes = matches!(tool.files, Some((Access::Write, _)));
        let runs_code = paths
            .iter()
            .filter(|_| writes)
            .find_map(|path| self.guard.runs_code(path));
        let in_workspace = |path: &PathBuf| path.starts_with(self.roots.workspace());
        let edits_files = tool.built_in && writes && paths.iter().all(in_workspace);
        let names_url = subjects
            .iter()
            .any(|subject| matches!(subject, ReadSubject::Url(_)));
        let (decision, basis) = match (self.settings.mode, runs_code, &unclear) {
            (Mode::Bypass, _, _) => (Decision::Allow, Basis::Bypass),
            (_, Some(pattern), _) => (self.ask(), Basis::RunsCode { pattern }),
            _ if !asked.is_empty() => (self.ask(), Basis::Rules),
            (_, None, Some((_, what))) => (self.ask(), Basis::Unclear { what: what.clone() }),
            _ if !allowed.is_empty() => (Decision::Allow, Basis::Rules),
            (Mode::AcceptEdits, None, None) if edits_files => (Decision::Allow, Basis::AcceptEdits),
            (Mode::Auto, None, None) if self.verified(tool) => (Decision::Allow, Basis::Verified),
            _ if tool.traits.level == SideEffect::ReadOnly && names_url => {
                (self.ask(), Basis::NamesUrl)
            }
            _ if tool.traits.level == SideEffect::ReadOnly => (Decision::Allow, Basis::ReadOnly),
            (mode, None, None) => (self.ask(), Basis::Mode { mode }),
        };
        let denial = (decision == Decision::Deny).then(|| self.unasked(&basis));
        let unclear = unclear.map(|(rule, _)| rule).filter(|_| asked.is_empty());
        Verdict {
            decision,
            basis,
            matched: asked.into_iter().chain(unclear).chain(allowed).collect(),
            denial,
            paths,
        }
    }

    /// A mutating tool that the host has verified to destroy nothing, and that can write nowhere but in the workspace: no
    /// root outside of it is writable, so that no link leads there either.
    fn verified(&self, tool: &ToolFacts) -> bool {
        let Traits {
            level,
            destructive,
            grounds,
            ..
        } = &tool.traits;
        let writes = matches!(tool.files, Some((Access::Write, _)));
        let mut writable = self.roots.all(Access::Write);
        *level == SideEffect::Mutating
            && !destructive
            && grounds.destructive == TraitGround::Verified
            && (!writes || writable.all(|root| root.starts_with(self.roots.workspace())))
    }

    /// Why a call is denied that this mode would have to ask for.
    fn unasked(&self, basis: &Basis) -> DenialReason {
        let mode = self.mode().as_str();
        match basis {
            Basis::Mode { .. } | Basis::NamesUrl => DenialReason::NothingAllows { mode },
            Basis::Rules
            | Basis::Unclear { .. }
            | Basis::RunsCode { .. }
            | Basis::ReadOnly
            | Basis::AcceptEdits
            | Basis::Verified
            | Basis::Bypass
            | Basis::Denial => DenialReason::NotAsked {
                mode,
                why: format!("asked {basis}"),
            },
        }
    }

    /// The rule or the ceiling that hides a tool from models; nothing: it is shown.
    pub fn hidden_by(&self, tool: &ToolFacts) -> Option<DenialReason> {
        let rules = self.rules.get(&tool.name).map(|rules| rules.deny.bare());
        match rules.filter(|bare| !bare.is_empty()) {
            Some(bare) => Some(DenialReason::Rule {
                rules: bare.to_vec(),
            }),
            None => self.above_ceiling(tool),
        }
    }

    /// What a question to a human becomes in this mode.
    fn ask(&self) -> Decision {
        match self.settings.mode {
            Mode::DontAsk | Mode::Auto => Decision::Deny,
            Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::Bypass => Decision::Ask,
        }
    }
}

/// A denial, with every rule that matched, strictest first.
fn denied(reason: DenialReason, others: Vec<RuleSource>, subjects: &[ReadSubject]) -> Verdict {
    let matched = reason.sources().iter().cloned().chain(others).collect();
    Verdict {
        decision: Decision::Deny,
        basis: Basis::Denial,
        matched,
        denial: Some(reason),
        paths: paths(subjects),
    }
}

fn paths(subjects: &[ReadSubject]) -> Vec<PathBuf> {
    let paths = subjects.iter().filter_map(ReadSubject::path);
    paths.map(Path::to_owned).collect()
}

/// A pattern that cannot be compared with the call, whatever it says; or a call in which a deny rule may be hidden.
fn undecidable(rules: &ToolRules, subjects: &[ReadSubject], empty: bool) -> Option<DenialReason> {
    let incomparable = [&rules.deny, &rules.ask, &rules.allow]
        .into_iter()
        // An empty subject names as little as none.
        .find_map(|rules| rules.incomparable(if empty { &[] } else { subjects }));
    let (rule, what) = match incomparable {
        Some((rule, None)) => {
            let what = "the call names nothing that it could be compared with".to_owned();
            (rule, what)
        }
        Some((rule, Some(kind))) => {
            let what =
                format!("the call's subject is a {kind}, which the pattern is not written for");
            (rule, what)
        }
        None => return hiding(&rules.deny, subjects),
    };
    Some(DenialReason::Undecidable {
        rule: Some(rule.clone()),
        what,
    })
}

/// A call in which a deny rule may be hidden.
fn hiding(denying: &RuleSet, subjects: &[ReadSubject]) -> Option<DenialReason> {
    let (rule, what) = denying.undecided(subjects)?;
    Some(DenialReason::Undecidable {
        rule: Some(rule.clone()),
        what: format!("the command holds {what}"),
    })
}

fn version(rules: &[Rule], settings: &PolicySettings) -> String {
    let mut digest = Sha256::new();
    for rule in rules {
        digest.update(rule.effect.as_str());
        digest.update([0]);
        digest.update(&rule.source.rule);
        digest.update([0]);
    }
    digest.update(format!("{settings:?}"));
    hex(&digest.finalize())
}
