//! What rules cost: one question with 10, 1,000 and 100,000 of them, for each kind of subject.
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
use std::time::Duration;

use toolgate::model::{
    Claim, Evidence, FileScope, SideEffect, Subject, SubjectKind, ToolName, Traits, Trust,
};
use toolgate::policy::{
    Access, Decision, Mode, Policy, PolicySettings, Question, Roots, Rule, ToolFacts,
};

/// Evaluations that one measurement spans.
const EVALUATIONS: usize = 1_000;

/// Rules and a call for one kind of subject.
struct Kind {
    kind: SubjectKind,
    tool: &'static str,
    subject: &'static str,
    files: Option<(Access, FileScope)>,
    rule: fn(usize) -> String,
}

const KINDS: [Kind; 4] = [
    Kind {
        kind: SubjectKind::Path,
        tool: "Read",
        subject: "src/deep/down/main.rs",
        files: Some((Access::Read, FileScope::Subject)),
        rule: path_rule,
    },
    // What rules for an ending speak of.
    Kind {
        kind: SubjectKind::Path,
        tool: "Read",
        subject: "src/deep/down/main.pem",
        files: Some((Access::Read, FileScope::Subject)),
        rule: path_rule,
    },
    Kind {
        kind: SubjectKind::Command,
        tool: "Bash",
        subject: "cd src && git status --short | head -5",
        files: None,
        rule: command_rule,
    },
    Kind {
        kind: SubjectKind::Url,
        tool: "WebFetch",
        subject: "https://docs.example.com/a/b/c.html?q=1",
        files: None,
        rule: url_rule,
    },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    measure::head("Policy evaluation, 1,000 questions a run");
    for kind in &KINDS {
        let tool = tool(kind)?;
        let few = policy(kind, 10, &tool)?;
        for count in [1_000, 100_000] {
            let many = policy(kind, count, &tool)?;
            let times = measure::pair(
                30,
                || evaluate(kind, &many, &tool),
                || evaluate(kind, &few, &tool),
            );
            let what = format!("{} {}, {count} rules", kind.kind, kind.subject);
            measure::report(&what, "10 rules", times, "3");
            let once = times.0.min / u32::try_from(EVALUATIONS)?;
            println!(
                "{what}: {once:.1?} a question (goal below {:.0?})",
                Duration::from_micros(10)
            );
        }
    }
    Ok(())
}

fn evaluate(kind: &Kind, policy: &Policy, tool: &ToolFacts) {
    let subjects = [Subject {
        kind: kind.kind,
        value: kind.subject.to_owned(),
    }];
    for _ in 0..EVALUATIONS {
        let question = Question {
            tool,
            subjects: &subjects,
        };
        std::hint::black_box(policy.evaluate(question));
    }
}

fn tool(kind: &Kind) -> Result<ToolFacts, Box<dyn std::error::Error>> {
    let claim = Claim {
        level: SideEffect::ReadOnly,
        destructive: false,
        idempotent: true,
        open_world: false,
        exclusive: false,
    };
    Ok(ToolFacts {
        name: ToolName::try_from(kind.tool)?,
        traits: Traits::resolve(&claim, &Evidence::default(), Trust::Audited),
        subject: Some(kind.kind),
        computes_subjects: false,
        files: kind.files,
        built_in: true,
    })
}

fn path_rule(index: usize) -> String {
    match index % 4 {
        0 => format!("Read(secret{index}/**)"),
        1 => format!("Read(**/key{index}.pem)"),
        2 => format!("Read(src/mod{index}/*.rs)"),
        _ => format!("Read(docs/page{index}.md)"),
    }
}

fn command_rule(index: usize) -> String {
    match index % 4 {
        0 => format!("Bash(tool{index}:*)"),
        1 => format!("Bash(git push origin branch{index}:*)"),
        2 => format!("Bash(npm run script{index})"),
        _ => format!("Bash(./bin/task{index} --dry-run)"),
    }
}

fn url_rule(index: usize) -> String {
    match index % 4 {
        0 => format!("WebFetch(https://*.site{index}.example/**)"),
        1 => format!("WebFetch(https://host{index}.example.com:8443/api/*)"),
        2 => format!("WebFetch(https://docs.example.com/book{index}/**)"),
        _ => format!("WebFetch(https://page{index}.example/)"),
    }
}

fn policy(
    kind: &Kind,
    count: usize,
    tool: &ToolFacts,
) -> Result<Policy, Box<dyn std::error::Error>> {
    let mut rules = Vec::new();
    for index in 0..count {
        let effect = match index % 4 {
            0 | 1 => Decision::Deny,
            2 => Decision::Allow,
            _ => Decision::Ask,
        };
        let text = (kind.rule)(index);
        rules.push(Rule::parse(effect, &text, Path::new("bench"), index + 1)?);
    }
    let ws = PathBuf::from("/ws");
    let settings = PolicySettings {
        mode: Mode::Default,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
        home: None,
        protected: Vec::new(),
        coming: Vec::new(),
    };
    Policy::build(&rules, settings, std::slice::from_ref(tool)).map_err(|errors| {
        errors
            .first()
            .map_or_else(String::new, ToString::to_string)
            .into()
    })
}
