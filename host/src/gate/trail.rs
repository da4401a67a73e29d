//! The trail of a call: what each gate said, in order. It is what `explain` prints and what the journal keeps.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::{Denial, Gate, Left, RuleSource, Subject};

/// What a gate did with the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateNote {
    /// It passed.
    Passed,
    /// It passed, changed.
    Changed,
    /// It would be asked, or was asked and passed.
    Asked,
    /// It was refused.
    Denied,
    /// The gate found something that it does not enforce.
    Warned,
    /// The call never came here.
    NotReached,
}

/// One gate's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The gate.
    pub gate: Gate,
    /// What it did.
    pub note: GateNote,
    /// The rule or default that decided, or what was found.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub detail: Cow<'static, str>,
    /// The rules that matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSource>,
}

/// All words so far.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    steps: Vec<Step>,
    rewrites: Vec<String>,
    subjects: Vec<Subject>,
    left: Arc<Left>,
}

/// The longest detail, bytes.
const MAX_DETAIL: usize = 2_048;
/// The most bytes of all subjects together. A subject that is cut would name something else, so more are not kept at all.
const MAX_SUBJECTS: usize = 65_536;

impl Trail {
    pub(super) fn note(
        &mut self,
        gate: Gate,
        note: GateNote,
        detail: impl Into<Cow<'static, str>>,
    ) {
        self.note_rules(gate, note, detail, Vec::new());
    }

    pub(super) fn note_rules(
        &mut self,
        gate: Gate,
        note: GateNote,
        detail: impl Into<Cow<'static, str>>,
        rules: Vec<RuleSource>,
    ) {
        let detail = match detail.into() {
            Cow::Owned(long) if long.len() > MAX_DETAIL => Cow::Owned(beginning(&long, MAX_DETAIL)),
            detail @ (Cow::Borrowed(_) | Cow::Owned(_)) => detail,
        };
        self.steps.push(Step {
            gate,
            note,
            detail,
            rules,
        });
    }

    /// Leaves a denial.
    pub(super) fn denied(&mut self, denial: &Denial) {
        let rules = denial.sources().to_vec();
        self.note_rules(
            denial.gate,
            GateNote::Denied,
            denial.reason.to_string(),
            rules,
        );
    }

    /// Leaves the input that a hook put in the place of another.
    pub(super) fn rewritten(&mut self, input: &Map<String, Value>) {
        let text = serde_json::to_string(input).unwrap_or_default();
        self.rewrites.push(beginning(&text, MAX_DETAIL));
    }

    pub(super) fn take_rewrites(&mut self) -> Vec<String> {
        std::mem::take(&mut self.rewrites)
    }

    /// Leaves what the call is about; a rewritten call is about its last version.
    pub(super) fn about(&mut self, subjects: Vec<Subject>) {
        let bytes: usize = subjects.iter().map(|subject| subject.value.len()).sum();
        self.subjects = if bytes <= MAX_SUBJECTS {
            subjects
        } else {
            Vec::new()
        };
    }

    pub(super) fn take_subjects(&mut self) -> Vec<Subject> {
        std::mem::take(&mut self.subjects)
    }

    /// What the call leaves while it runs.
    pub(super) fn left(&self) -> &Arc<Left> {
        &self.left
    }

    /// Hands the steps over.
    pub(super) fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// The steps, in order. A rewritten call passes gates 3 to 6 once more for each rewrite.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// At most `most` bytes of a text, whole characters; a mark where something is missing.
pub(super) fn beginning(text: &str, most: usize) -> String {
    let end = (0..=text.len().min(most))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    let mut kept = text.get(..end.unwrap_or(0)).unwrap_or_default().to_owned();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}
