//! The trail of a call: what each gate said, in order. It is what `explain` prints and what the journal keeps.

use std::borrow::Cow;

use serde::Serialize;

use crate::model::{Gate, RuleSource};

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
    pub detail: Cow<'static, str>,
    /// The rules that matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSource>,
}

/// All words so far.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Trail {
    steps: Vec<Step>,
}

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
        self.steps.push(Step {
            gate,
            note,
            detail: detail.into(),
            rules,
        });
    }

    /// The steps, in order. A rewritten call passes gates 3 to 6 once more for each rewrite.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}
