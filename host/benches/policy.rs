//! What rules cost: evaluation with 10, 10,000 and 100,000 of them.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "a bench prints figures, starts its references, and stops at the first surprise"
)]

mod measure;

use std::path::{Path, PathBuf};

use toolgate::model::{
    Claim, Evidence, FileScope, SideEffect, Subject, SubjectKind, ToolName, Traits,
};
use toolgate::policy::{
    Access, Decision, Mode, Policy, PolicySettings, Question, Roots, Rule, ToolFacts,
};

/// Evaluations that one measurement spans.
const EVALUATIONS: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    measure::head("Policy evaluation, 1,000 a run");
    let tool = tool()?;
    let few = policy(10, &tool)?;
    for (count, goal) in [(10_000, "3"), (100_000, "3")] {
        let many = policy(count, &tool)?;
        let times = measure::pair(50, || evaluate(&many, &tool), || evaluate(&few, &tool));
        measure::report(&format!("{count} rules"), "10 rules", times, goal);
    }
    Ok(())
}

fn evaluate(policy: &Policy, tool: &ToolFacts) {
    let subjects = [Subject {
        kind: SubjectKind::Path,
        value: "src/deep/down/main.rs".to_owned(),
    }];
    for _ in 0..EVALUATIONS {
        let question = Question {
            tool,
            subjects: &subjects,
        };
        std::hint::black_box(policy.evaluate(question));
    }
}

fn tool() -> Result<ToolFacts, Box<dyn std::error::Error>> {
    let claim = Claim {
        level: SideEffect::ReadOnly,
        destructive: false,
        idempotent: true,
        open_world: false,
        exclusive: false,
    };
    Ok(ToolFacts {
        name: ToolName::try_from("Read")?,
        traits: Traits::resolve(&claim, &Evidence::default()),
        subject: Some(SubjectKind::Path),
        computes_subjects: false,
        files: Some((Access::Read, FileScope::Subject)),
        built_in: true,
    })
}

fn policy(count: usize, tool: &ToolFacts) -> Result<Policy, Box<dyn std::error::Error>> {
    let mut rules = Vec::new();
    for index in 0..count {
        let (effect, text) = match index % 4 {
            0 => (Decision::Deny, format!("Read(secret{index}/**)")),
            1 => (Decision::Deny, format!("Read(**/key{index}.pem)")),
            2 => (Decision::Allow, format!("Read(src/mod{index}/*.rs)")),
            _ => (Decision::Ask, format!("Read(docs/page{index}.md)")),
        };
        rules.push(Rule::parse(effect, &text, Path::new("bench"), index + 1)?);
    }
    let ws = PathBuf::from("/ws");
    let settings = PolicySettings {
        mode: Mode::Default,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
        home: None,
        protected: Vec::new(),
    };
    Policy::build(&rules, settings, std::slice::from_ref(tool)).map_err(|errors| {
        errors
            .first()
            .map_or_else(String::new, ToString::to_string)
            .into()
    })
}
