//! One past call beside the policy in force: which rules would have let it run, or why none may.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::past::{PastCall, PastEnd};
use crate::model::{DenialReason, Subject, SubjectKind, ToolName};
use crate::policy::{
    Access, Basis as VerdictBasis, Decision, ExemptLine, FileGuard, Policy, Question, Refusal,
    ToolFacts, Verdict, exact_rule,
};

/// What the journal puts in the place of a secret. A subject with a hole in it names nothing.
const SCRUBBED: &str = "[scrubbed]";

/// What the calls are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a> {
    /// The policy in force.
    pub policy: &'a Policy,
    /// Whom nobody has to ask.
    pub exempt: ExemptLine,
    /// All tools.
    pub tools: &'a [ToolFacts],
}

/// Why nothing is proposed for a call that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// There is no such tool.
    NoSuchTool,
    /// It runs now.
    Runs,
    /// It is denied, whatever is allowed.
    Denied,
    /// An ask rule speaks of it, or may, which no allow rule lifts.
    AskRule,
    /// Programs may run the file on their own, so somebody is always asked.
    RunsCode,
    /// Its subject is in the protected set.
    Protected,
    /// A deny rule, the protected set or a person refused the same.
    Refused,
    /// The record does not say what it was about.
    NoSubject,
    /// No rule covers its subject alone.
    NoExactRule,
}

impl LeftOut {
    /// The sentence for it, after `N calls`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchTool => "of tools that this host does not have",
            Self::Runs => "that run now without being asked",
            Self::Denied => "that are denied whatever is allowed",
            Self::AskRule => "that an ask rule speaks of, or may: no allow rule lifts that",
            Self::RunsCode => {
                "that write files which programs run on their own: somebody is always asked"
            }
            Self::Protected => "whose subject is in the protected set",
            Self::Refused => {
                "about what a deny rule, the protected set or a person refused at another time"
            }
            Self::NoSubject => "whose record does not say what they were about",
            Self::NoExactRule => "for whose subject there is no exact rule",
        }
    }
}

/// One rule for one call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) rule: String,
    pub(super) tool: ToolName,
    pub(super) path: Option<PathBuf>,
}

/// See the module.
pub(super) struct Judge<'a> {
    basis: Basis<'a>,
    /// Rules for what was refused at some time.
    refused: HashSet<String>,
    /// The built-in protected set alone.
    built_in: Option<FileGuard>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(calls: &[PastCall], basis: Basis<'a>) -> Self {
        let refused = calls
            .iter()
            .filter(|call| call.end == PastEnd::Refused)
            .filter_map(|call| Some((tool(basis, &call.tool)?, call)))
            .flat_map(|(tool, call)| {
                let rules = call.subjects.iter();
                rules.filter_map(|subject| exact_rule(&tool.name, subject))
            });
        Self {
            refused: refused.collect(),
            built_in: FileGuard::new(&[], &[], &[]).ok(),
            basis,
        }
    }

    /// The rules that together would have let the call run.
    pub(super) fn rules(&self, call: &PastCall) -> Result<Vec<Wanted>, LeftOut> {
        let tool = tool(self.basis, &call.tool).ok_or(LeftOut::NoSuchTool)?;
        let verdict = self.basis.policy.evaluate(Question {
            tool,
            subjects: &call.subjects,
        });
        self.would_help(tool, &verdict)?;
        if verdict
            .paths
            .iter()
            .any(|path| self.protects(tool, &verdict, path))
        {
            return Err(LeftOut::Protected);
        }
        let mut paths = verdict.paths.iter();
        let mut wanted = HashSet::new();
        for subject in &call.subjects {
            let path = match subject.kind {
                SubjectKind::Path => paths.next().cloned(),
                SubjectKind::Command | SubjectKind::Url => None,
            };
            wanted.insert(Wanted {
                rule: rule_for(tool, subject, path.as_deref()).ok_or(LeftOut::NoExactRule)?,
                tool: tool.name.clone(),
                path,
            });
        }
        if wanted.is_empty() {
            wanted.insert(whole(tool).ok_or(LeftOut::NoSubject)?);
        }
        if wanted.iter().any(|rule| self.refused.contains(&rule.rule)) {
            return Err(LeftOut::Refused);
        }
        Ok(wanted.into_iter().collect())
    }

    /// Whether an allow rule would change anything, by the same reading of a verdict as the approval gate's.
    fn would_help(&self, tool: &ToolFacts, verdict: &Verdict) -> Result<(), LeftOut> {
        let refused_only_by_mode = |reason: &DenialReason| {
            matches!(
                reason,
                DenialReason::NothingAllows { .. } | DenialReason::NotAsked { .. }
            )
        };
        if !verdict.denial.as_ref().is_none_or(refused_only_by_mode) {
            return Err(LeftOut::Denied);
        }
        match &verdict.basis {
            VerdictBasis::Rules if verdict.decision == Decision::Allow => Err(LeftOut::Runs),
            VerdictBasis::Rules | VerdictBasis::Unclear { .. } => Err(LeftOut::AskRule),
            VerdictBasis::RunsCode { .. } => Err(LeftOut::RunsCode),
            VerdictBasis::NamesUrl => Ok(()),
            VerdictBasis::AcceptEdits | VerdictBasis::Verified | VerdictBasis::Bypass => {
                Err(LeftOut::Runs)
            }
            VerdictBasis::Denial => Err(LeftOut::Denied),
            VerdictBasis::ReadOnly | VerdictBasis::Mode { .. } => {
                let exempt = self.basis.exempt.covers(&tool.traits);
                if exempt && verdict.decision != Decision::Deny {
                    Err(LeftOut::Runs)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// The protected set forbids writing; what lies in it is proposed to nobody, for reading neither.
    fn protects(&self, tool: &ToolFacts, verdict: &Verdict, path: &Path) -> bool {
        let grant = self.basis.policy.file_grant(tool, verdict, false);
        let own = grant.as_ref().map(|grant| grant.guard());
        // Without the built-in set nothing can be vouched for.
        let Some(built_in) = &self.built_in else {
            return true;
        };
        std::iter::once(built_in).chain(own).any(|guard| {
            matches!(
                guard.judge(Access::Write, path),
                Err(Refusal::Protected(_) | Refusal::SystemTree(_))
            )
        })
    }
}

fn tool<'a>(basis: Basis<'a>, name: &str) -> Option<&'a ToolFacts> {
    basis.tools.iter().find(|tool| tool.name.as_str() == name)
}

/// The rule for one subject; for a path on its resolved form, so that it means one file whatever the workspace.
fn rule_for(tool: &ToolFacts, subject: &Subject, path: Option<&Path>) -> Option<String> {
    if subject.value.contains(SCRUBBED) {
        return None;
    }
    match path {
        None => exact_rule(&tool.name, subject),
        Some(path) => exact_rule(
            &tool.name,
            &Subject {
                kind: SubjectKind::Path,
                value: path.to_str()?.to_owned(),
            },
        ),
    }
}

/// The rule without a pattern, for a tool that never has a subject.
fn whole(tool: &ToolFacts) -> Option<Wanted> {
    let never = tool.subject.is_none() && !tool.computes_subjects;
    never.then(|| Wanted {
        rule: tool.name.to_string(),
        tool: tool.name.clone(),
        path: None,
    })
}
