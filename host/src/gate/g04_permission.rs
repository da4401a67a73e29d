//! Gate 4: may this call run?
//!
//! Takes the subjects out of the normalised input (the declared field first, then the tool's own `subjects` export) and
//! asks the policy. Stands before the schema gate on purpose: the schema errors of a tool that may not be called would
//! tell that it exists. Refuses what the verdict denies, and what cannot be decided.

use super::g03_normalise::Normalised;
use super::ticket;
use super::trail::{GateNote, Trail, beginning};
use crate::model::{Denial, DenialReason, Gate, Subject, SubjectKind};
use crate::policy::{Decision, Policy, Question, Verdict};

/// The longest refusal of a tool that is repeated, bytes.
const MAX_REFUSAL: usize = 2_000;

/// A call that no rule forbids. It may still have to be asked.
#[derive(Debug)]
pub(super) struct Permitted {
    call: Normalised,
    subjects: Vec<Subject>,
    verdict: Verdict,
}

impl Permitted {
    pub(super) fn call(&self) -> &Normalised {
        &self.call
    }

    pub(super) fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    pub(super) fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}

/// Asks the policy.
pub(super) async fn check(
    policy: &Policy,
    call: Normalised,
    trail: &mut Trail,
) -> Result<Permitted, Denial> {
    let subjects = subjects(&call).await.map_err(|message| {
        Denial::new(
            Gate::Permission,
            DenialReason::ToolRefused {
                message: beginning(&message, MAX_REFUSAL),
            },
        )
    })?;
    let verdict = policy.evaluate(Question {
        tool: call.tool().facts(),
        subjects: &subjects,
    });
    trail.about(resolved(&subjects, &verdict));
    let matched = verdict.matched.clone();
    match (verdict.decision, verdict.denial.clone()) {
        (Decision::Allow, None) => {
            trail.note_rules(
                Gate::Permission,
                GateNote::Passed,
                format!("allow {}", verdict.basis),
                matched,
            );
        }
        (Decision::Ask, None) => {
            trail.note_rules(
                Gate::Permission,
                GateNote::Asked,
                format!("ask {}", verdict.basis),
                matched,
            );
        }
        (Decision::Deny, reason) | (Decision::Allow | Decision::Ask, reason @ Some(_)) => {
            let mode = policy.mode().as_str();
            let reason = reason.unwrap_or(DenialReason::NothingAllows { mode });
            let reason = named(reason, &call, &subjects);
            let denial = Denial::new(Gate::Permission, reason).with_matched(matched);
            return Err(hinted(denial, policy, &call, &subjects));
        }
    }
    Ok(Permitted {
        call,
        subjects,
        verdict,
    })
}

async fn subjects(call: &Normalised) -> Result<Vec<Subject>, String> {
    let declaration = call.tool().declaration();
    let mut subjects = match &declaration.subject {
        Some(field) => field.take(&declaration.input_schema, call.input()),
        None => Vec::new(),
    };
    if let Some(computed) = call.tool().provider().subjects(call.input()).await {
        subjects.extend(computed?);
    }
    Ok(subjects)
}

/// The subjects as a record keeps them: paths absolute, because a record does not say which workspace they stand on.
fn resolved(subjects: &[Subject], verdict: &Verdict) -> Vec<Subject> {
    let mut paths = verdict.paths.iter();
    let mut resolve = |subject: &Subject| match subject.kind {
        SubjectKind::Path => paths.next().map(|path| Subject {
            kind: SubjectKind::Path,
            value: path.to_string_lossy().into_owned(),
        }),
        SubjectKind::Command | SubjectKind::Url => Some(subject.clone()),
    };
    subjects.iter().filter_map(&mut resolve).collect()
}

/// A call without a subject is told which field it stands in.
fn named(reason: DenialReason, call: &Normalised, subjects: &[Subject]) -> DenialReason {
    match (reason, &call.tool().declaration().subject) {
        (DenialReason::Undecidable { rule, .. }, Some(field)) if subjects.is_empty() => {
            let what = format!("the call gives no '{}' to compare it with", field.field);
            DenialReason::Undecidable { rule, what }
        }
        (reason, _) => reason,
    }
}

/// What an operator can do about the denial.
fn hinted(denial: Denial, policy: &Policy, call: &Normalised, subjects: &[Subject]) -> Denial {
    let tool = call.tool().name();
    let hint = match &denial.reason {
        DenialReason::OutsideRoots { access, .. } => format!(
            "to grant it, start with '--{access} DIRECTORY' or list the directory as '{access}' under [files] in the \
             configuration"
        ),
        DenialReason::NothingAllows { .. } => match ticket::allow_rule(policy, tool, subjects) {
            Some(rule) => format!("to allow it, add the rule {rule} to 'allow'"),
            None => return denial,
        },
        DenialReason::NotAsked { .. } => {
            "an ask rule, or a file that programs run, is asked for in mode default only".into()
        }
        DenialReason::AboveCeiling { .. } => {
            "the ceiling, or mode plan, is set in [permissions] or by a start flag".into()
        }
        DenialReason::Malformed { .. }
        | DenialReason::UnknownTool { .. }
        | DenialReason::Rule { .. }
        | DenialReason::Protected { .. }
        | DenialReason::PathTooLong { .. }
        | DenialReason::Undecidable { .. }
        | DenialReason::ToolRefused { .. }
        | DenialReason::InvalidInput { .. }
        | DenialReason::HookDenied { .. }
        | DenialReason::HookBroken { .. }
        | DenialReason::TooManyRewrites { .. }
        | DenialReason::NotApproved { .. }
        | DenialReason::NoApprover
        | DenialReason::ApprovalPending { .. }
        | DenialReason::PolicyChanged
        | DenialReason::ApprovalTimeout { .. } => return denial,
    };
    denial.with_hint(hint)
}
