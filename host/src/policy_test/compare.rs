//! A case beside what the gates would say.

use serde::Serialize;

use super::file::Case;
use crate::gate::{Explanation, GateNote, Step};
use crate::model::{DenialReason, Gate, RuleSource};
use crate::policy::{Decision, Policy, Question, ToolFacts};

/// What would become of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The decision.
    pub decision: Decision,
    /// The gate that refuses or asks.
    pub gate: Option<Gate>,
    /// Why.
    pub reason: String,
    /// The rules that decided, strictest first.
    pub decided: Vec<RuleSource>,
    /// Every rule that matched.
    pub matched: Vec<RuleSource>,
    /// There is no tool of that name, not even a hidden one.
    pub no_such_tool: bool,
}

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What: `decision`, `gate`, `rule` or `tool`.
    pub what: &'static str,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Found {
    /// Reads an explanation. `tool`: the tool of that name, if there is one: a model is told that a hidden tool is unknown,
    /// and whoever tests the policy is told what hides it.
    pub fn of(explanation: &Explanation, tool: Option<&ToolFacts>, policy: &Policy) -> Self {
        let decision = explanation.decision();
        let permission = last_step(explanation, Gate::Permission);
        let matched = permission
            .map(|step| step.rules.clone())
            .unwrap_or_default();
        let by_effect = |rule: &&RuleSource| rule.effect == decision.as_str();
        let mut found = Self {
            decision,
            gate: None,
            reason: permission
                .map(|step| step.detail.to_string())
                .unwrap_or_default(),
            decided: matched.iter().filter(by_effect).cloned().collect(),
            matched,
            no_such_tool: false,
        };
        if let Some(denial) = &explanation.denial {
            found.gate = Some(denial.gate);
            found.reason = denial.reason.to_string();
            found.decided = match &denial.reason {
                // The mode does not ask, and this is what would have had to be asked for.
                DenialReason::NothingAllows { .. } => {
                    let ask = |rule: &&RuleSource| rule.effect == Decision::Ask.as_str();
                    found.matched.iter().filter(ask).cloned().collect()
                }
                reason => reason.sources().to_vec(),
            };
            if let DenialReason::UnknownTool { .. } = denial.reason {
                found.look_behind(tool, policy);
            }
        } else if decision == Decision::Ask {
            found.gate = Some(Gate::Approval);
            let step = last_step(explanation, Gate::Approval);
            found.reason = step.map(|step| step.detail.to_string()).unwrap_or_default();
        }
        let unseen = |rule: &&RuleSource| !found.matched.contains(rule);
        let unseen: Vec<RuleSource> = found.decided.iter().filter(unseen).cloned().collect();
        found.matched.splice(0..0, unseen);
        found
    }

    /// What stands behind the word "unknown".
    fn look_behind(&mut self, tool: Option<&ToolFacts>, policy: &Policy) {
        let Some(tool) = tool else {
            self.no_such_tool = true;
            return;
        };
        let verdict = policy.evaluate(Question {
            tool,
            subjects: &[],
        });
        if let Some(reason) = verdict.denial {
            self.reason = format!("the tool is hidden: {reason}");
            self.decided = reason.sources().to_vec();
        }
    }
}

fn last_step(explanation: &Explanation, gate: Gate) -> Option<&Step> {
    let mut steps = explanation.steps.iter().rev();
    steps.find(|step| step.gate == gate && step.note != GateNote::NotReached)
}

impl Case {
    /// What is not as this case expects; nothing: it passes.
    ///
    /// A tool that does not exist is denied like any call that nobody may make, so a typing error in a case would pass as a
    /// denial: it only does where the case expects the gate `resolve`.
    pub fn differences(&self, found: &Found) -> Vec<Difference> {
        let expected = &self.expected;
        let mut differences = Vec::new();
        if found.decision != expected.decision {
            differences.push(Difference {
                what: "decision",
                expected: expected.decision.to_string(),
                found: found.decision.to_string(),
            });
        }
        if let Some(gate) = expected.gate
            && found.gate != Some(gate)
        {
            differences.push(Difference {
                what: "gate",
                expected: gate.to_string(),
                found: found
                    .gate
                    .map_or_else(|| "none".to_owned(), |gate| gate.to_string()),
            });
        }
        if let Some(rule) = &expected.rule
            && !found.decided.iter().any(|decided| decided.rule == *rule)
        {
            let decided: Vec<String> = found.decided.iter().map(ToString::to_string).collect();
            differences.push(Difference {
                what: "rule",
                expected: rule.clone(),
                found: match decided.as_slice() {
                    [] => "no rule decided".to_owned(),
                    decided => decided.join(", "),
                },
            });
        }
        if found.no_such_tool && expected.gate != Some(Gate::Resolve) {
            differences.push(Difference {
                what: "tool",
                expected: self.call.clone(),
                found: found.reason.clone(),
            });
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::file::parse;
    use super::*;
    use crate::model::{Denial, SideEffect};
    use crate::policy::{Mode, PolicySettings, Roots};

    fn source(effect: &'static str, rule: &str) -> RuleSource {
        RuleSource {
            rule: rule.to_owned(),
            effect,
            file: "toolgate.toml".into(),
            line: 4,
        }
    }

    fn found(decision: Decision, gate: Option<Gate>, decided: &[RuleSource]) -> Found {
        Found {
            decision,
            gate,
            reason: "because".to_owned(),
            decided: decided.to_vec(),
            matched: decided.to_vec(),
            no_such_tool: false,
        }
    }

    /// What differs for a case with these lines.
    fn differing(lines: &str, found: &Found) -> Vec<&'static str> {
        let text = format!("[[case]]\ncall = \"Write\"\n{lines}");
        let cases = parse(Path::new("cases.toml"), &text).unwrap();
        let differences = cases.first().unwrap().differences(found);
        differences.iter().map(|found| found.what).collect()
    }

    #[test]
    fn each_expectation_is_compared() {
        let allow = source("allow", "Write(src/**)");
        let allowed = found(Decision::Allow, None, std::slice::from_ref(&allow));
        let denied = found(
            Decision::Deny,
            Some(Gate::Permission),
            &[source("deny", "Write(a)")],
        );
        for (lines, found, expected) in [
            ("expect = \"allow\"", &allowed, &[][..]),
            (
                "expect = \"allow\"\nrule = \"Write(src/**)\"",
                &allowed,
                &[],
            ),
            (
                "expect = \"allow\"\nrule = \"Write(src/*)\"",
                &allowed,
                &["rule"],
            ),
            ("expect = \"ask\"", &allowed, &["decision"]),
            (
                "expect = \"deny\"\ngate = \"permission\"",
                &allowed,
                &["decision", "gate"],
            ),
            ("expect = \"deny\"", &denied, &[]),
            (
                "expect = \"deny\"\ngate = \"permission\"\nrule = \"Write(a)\"",
                &denied,
                &[],
            ),
            ("expect = \"deny\"\ngate = \"schema\"", &denied, &["gate"]),
            (
                "expect = \"allow\"\nrule = \"Write(a)\"",
                &denied,
                &["decision"],
            ),
        ] {
            assert_eq!(differing(lines, found), expected, "{lines}");
        }
    }

    /// What is found where the permission gate denies and these rules speak of the call.
    fn denied(reason: DenialReason, rules: &[RuleSource]) -> Found {
        let workspace = Path::new("/ws").to_owned();
        let settings = PolicySettings {
            mode: Mode::DontAsk,
            ceiling: SideEffect::Mutating,
            roots: Roots::new(workspace.clone(), workspace, Vec::new(), Vec::new()),
            home: None,
            protected: Vec::new(),
            coming: Vec::new(),
        };
        let policy = Policy::build(&[], settings, &[]).unwrap();
        let step = Step {
            gate: Gate::Permission,
            note: GateNote::Denied,
            detail: "denied".into(),
            rules: rules.to_vec(),
        };
        let explanation = Explanation {
            tool: "Write".to_owned(),
            steps: vec![step],
            denial: Some(Denial::new(Gate::Permission, reason).with_matched(rules.to_vec())),
        };
        Found::of(&explanation, None, &policy)
    }

    #[test]
    fn a_rule_that_only_matched_did_not_decide() {
        let (deny, ask) = (source("deny", "Write(a)"), source("ask", "Write(*)"));
        let all = [deny.clone(), ask.clone(), source("allow", "Write")];
        let reason = DenialReason::Rule {
            rules: vec![deny.clone()],
        };
        let found = denied(reason, &all);
        assert_eq!((found.decided, found.matched), (vec![deny], all.to_vec()));
        let unasked = denied(DenialReason::NothingAllows { mode: "dont-ask" }, &all);
        assert_eq!(unasked.decided, [ask]);
        let outside = DenialReason::PathTooLong { length: 9_000 };
        assert_eq!(denied(outside, &all).decided, []);
    }

    #[test]
    fn a_tool_that_does_not_exist_passes_only_where_that_is_expected() {
        let mut unknown = found(Decision::Deny, Some(Gate::Resolve), &[]);
        assert_eq!(differing("expect = \"deny\"", &unknown), [""; 0]);
        unknown.no_such_tool = true;
        assert_eq!(differing("expect = \"deny\"", &unknown), ["tool"]);
        assert_eq!(
            differing("expect = \"deny\"\ngate = \"resolve\"", &unknown),
            [""; 0]
        );
        assert_eq!(
            differing("expect = \"allow\"", &unknown),
            ["decision", "tool"]
        );
    }
}
