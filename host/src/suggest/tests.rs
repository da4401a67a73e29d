use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Basis, LeftOut, PastCall, PastEnd, Suggestions};
use crate::model::{
    Claim, Concurrency, Evidence, FileScope, SideEffect, Subject, SubjectKind, ToolName, Traits,
    Trust,
};
use crate::policy::{
    Access, Decision, ExemptLine, Mode, Policy, PolicySettings, Question, Roots, Rule, ToolFacts,
};

fn name(name: &str) -> ToolName {
    ToolName::try_from(name).unwrap()
}

fn facts(of: &str, subject: Option<SubjectKind>, access: Option<Access>) -> ToolFacts {
    let level = match access {
        Some(Access::Read) => SideEffect::ReadOnly,
        Some(Access::Write) | None => SideEffect::Mutating,
    };
    ToolFacts {
        name: name(of),
        traits: Traits {
            level,
            destructive: false,
            idempotent: false,
            open_world: false,
            concurrency: Concurrency::Shared,
            reductions: Vec::new(),
            ..Traits::resolve(&Claim::default(), &Evidence::default(), Trust::Audited)
        },
        subject,
        computes_subjects: false,
        files: access.map(|access| (access, FileScope::Subject)),
        built_in: true,
    }
}

fn tools() -> Vec<ToolFacts> {
    let path = Some(SubjectKind::Path);
    vec![
        facts("Read", path, Some(Access::Read)),
        facts("Write", path, Some(Access::Write)),
        facts("Bash", Some(SubjectKind::Command), None),
        facts("Todo", None, None),
    ]
}

fn policy(mode: Mode, rules: &[(Decision, &str)]) -> Policy {
    let source = Path::new("toolgate.toml");
    let rules: Vec<Rule> = rules
        .iter()
        .map(|(effect, text)| Rule::parse(*effect, text, source, 1).unwrap())
        .collect();
    let ws = PathBuf::from("/ws");
    let settings = PolicySettings {
        mode,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
        home: None,
        protected: vec!["/ws/own".into()],
        coming: Vec::new(),
    };
    Policy::build(&rules, settings, &tools()).unwrap()
}

fn call(end: PastEnd, tool: &str, kind: SubjectKind, subjects: &[&str]) -> PastCall {
    PastCall {
        time: "2026-02-10T12:00:00Z".parse().unwrap(),
        tool: tool.to_owned(),
        subjects: subjects
            .iter()
            .map(|value| Subject {
                kind,
                value: (*value).to_owned(),
            })
            .collect(),
        end,
    }
}

fn write(end: PastEnd, path: &str) -> PastCall {
    call(end, "Write", SubjectKind::Path, &[path])
}

fn suggest(policy: &Policy, calls: &[PastCall]) -> Suggestions {
    let basis = Basis {
        policy,
        exempt: ExemptLine::ReadOnly,
        tools: &tools(),
    };
    Suggestions::least(calls, basis)
}

fn rules(suggestions: &Suggestions) -> Vec<&str> {
    let rules = suggestions.rules.iter();
    rules.map(|rule| rule.rule.as_str()).collect()
}

#[track_caller]
fn assert_left_out(policy: &Policy, calls: &[PastCall], why: LeftOut) {
    let suggestions = suggest(policy, calls);
    assert_eq!(rules(&suggestions), [""; 0]);
    let counted = calls.iter().filter(|call| call.end != PastEnd::Refused);
    let expected = BTreeMap::from([(why, counted.count())]);
    assert_eq!(suggestions.left_out, expected);
}

#[test]
fn what_was_approved_or_wanting_gets_one_exact_rule_with_its_count() {
    let mut later = write(PastEnd::Wanting, "/ws/a*.rs");
    later.time = "2026-03-01T00:00:00Z".parse().unwrap();
    let calls = [
        later,
        write(PastEnd::Approved, "/ws/a*.rs"),
        write(PastEnd::Approved, "/ws/b"),
    ];
    let suggestions = suggest(&policy(Mode::Default, &[]), &calls);
    assert_eq!(rules(&suggestions), ["Write(/ws/a\\*.rs)", "Write(/ws/b)"]);
    let first = suggestions.rules.first().unwrap();
    assert_eq!((first.approved, first.wanting), (1, 1));
    assert_eq!(first.last.to_string(), "2026-03-01T00:00:00Z");
    assert!(suggestions.left_out.is_empty());
}

/// With the rules in force the same calls run, and their neighbours do not.
#[test]
fn the_rules_let_run_exactly_the_calls_that_they_are_for() {
    let both = call(
        PastEnd::Approved,
        "Write",
        SubjectKind::Path,
        &["/ws/x y", "/ws/[z]"],
    );
    let calls = [write(PastEnd::Wanting, "/ws/{a,b}"), both];
    for mode in [Mode::Default, Mode::DontAsk] {
        let suggestions = suggest(&policy(mode, &[]), &calls);
        let allow: Vec<_> = rules(&suggestions)
            .into_iter()
            .map(|rule| (Decision::Allow, rule))
            .collect();
        let with = policy(mode, &allow);
        let decide = |call: &PastCall| {
            let tools = tools();
            let tool = tools
                .iter()
                .find(|tool| tool.name.as_str() == call.tool)
                .unwrap();
            with.evaluate(Question {
                tool,
                subjects: &call.subjects,
            })
            .decision
        };
        for call in &calls {
            assert_eq!(decide(call), Decision::Allow);
        }
        for near in [
            "/ws/a",
            "/ws/b",
            "/ws/z",
            "/ws/x",
            "/ws/{a,b}/c",
            "/ws/[z]x",
            "/ws",
        ] {
            assert_ne!(
                decide(&write(PastEnd::Wanting, near)),
                Decision::Allow,
                "{near}"
            );
        }
    }
}

#[test]
fn three_files_of_a_directory_show_the_directory_beside_the_list() {
    let calls: Vec<_> = ["/ws/d*/1", "/ws/d*/2", "/ws/d*/3", "/ws/e/1", "/ws/e/2"]
        .iter()
        .map(|path| write(PastEnd::Approved, path))
        .collect();
    let suggestions = suggest(&policy(Mode::Default, &[]), &calls);
    assert_eq!(suggestions.rules.len(), 5);
    let directories: Vec<_> = suggestions
        .directories
        .iter()
        .map(|found| found.rule.as_str())
        .collect();
    assert_eq!(directories, ["Write(/ws/d\\*/*)"]);
    assert!(!rules(&suggestions).contains(&"Write(/ws/d\\*/*)"));
}

#[test]
fn nothing_is_proposed_for_what_no_allow_rule_may_or_can_let_run() {
    let plain = policy(Mode::Default, &[]);
    let auto = policy(Mode::Auto, &[]);
    let deny = policy(Mode::Default, &[(Decision::Deny, "Write(secret/**)")]);
    let ask = policy(Mode::DontAsk, &[(Decision::Ask, "Write(/ws/a)")]);
    let allow = policy(Mode::Default, &[(Decision::Allow, "Write(/ws/**)")]);
    for (policy, path, why) in [
        (&deny, "/ws/secret/a", LeftOut::Denied),
        (&plain, "/ws/.git/hooks/post-commit", LeftOut::Denied),
        (&plain, "/ws/own/journal", LeftOut::Denied),
        (&plain, "/elsewhere", LeftOut::Denied),
        (&ask, "/ws/a", LeftOut::AskRule),
        (&allow, "/ws/a", LeftOut::Runs),
        (&plain, "/ws/.envrc", LeftOut::RunsCode),
        (&auto, "/ws/.envrc", LeftOut::RunsCode),
        (&plain, "/ws/token=[scrubbed]", LeftOut::NoExactRule),
        (&plain, "/ws/a\nb", LeftOut::NoExactRule),
    ] {
        assert_left_out(policy, &[write(PastEnd::Approved, path)], why);
    }
    let edits = policy(Mode::AcceptEdits, &[]);
    assert_left_out(&edits, &[write(PastEnd::Wanting, "/ws/a")], LeftOut::Runs);
}

#[test]
fn what_lies_in_the_protected_set_is_proposed_for_reading_neither() {
    let plain = policy(Mode::Default, &[]);
    let tools = tools();
    let basis = Basis {
        policy: &plain,
        exempt: ExemptLine::None,
        tools: &tools,
    };
    let read = |path| call(PastEnd::Approved, "Read", SubjectKind::Path, &[path]);
    let calls = [
        read("/ws/.bashrc"),
        read("/ws/own/journal.jsonl"),
        read("/ws/a"),
    ];
    let suggestions = Suggestions::least(&calls, basis);
    assert_eq!(rules(&suggestions), ["Read(/ws/a)"]);
    assert_eq!(
        suggestions.left_out,
        BTreeMap::from([(LeftOut::Protected, 2)])
    );
    // Where reading is exempt, the same calls run anyhow.
    assert_left_out(&plain, &[read("/ws/a")], LeftOut::Runs);
}

#[test]
fn what_was_refused_once_is_not_proposed_for_having_been_approved_too() {
    let plain = policy(Mode::Default, &[]);
    let calls = [
        write(PastEnd::Approved, "/ws/a"),
        write(PastEnd::Refused, "/ws/a"),
    ];
    assert_left_out(&plain, &calls, LeftOut::Refused);
    let other = [
        write(PastEnd::Approved, "/ws/a"),
        write(PastEnd::Refused, "/ws/b"),
    ];
    assert_eq!(rules(&suggest(&plain, &other)), ["Write(/ws/a)"]);
}

#[test]
fn a_bare_rule_is_only_for_a_tool_that_never_has_a_subject() {
    let plain = policy(Mode::Default, &[]);
    let bare = |tool| call(PastEnd::Approved, tool, SubjectKind::Path, &[]);
    assert_eq!(rules(&suggest(&plain, &[bare("Todo")])), ["Todo"]);
    assert_left_out(&plain, &[bare("Write")], LeftOut::NoSubject);
    assert_left_out(&plain, &[bare("Gone")], LeftOut::NoSuchTool);
}

#[test]
fn commands_are_proposed_whole_or_not_at_all() {
    let plain = policy(Mode::Default, &[]);
    let bash = |command| call(PastEnd::Approved, "Bash", SubjectKind::Command, &[command]);
    let calls = [bash("git status"), bash("git push; rm -rf x")];
    let suggestions = suggest(&plain, &calls);
    assert_eq!(rules(&suggestions), ["Bash(git status)"]);
    assert_eq!(
        suggestions.left_out,
        BTreeMap::from([(LeftOut::NoExactRule, 1)])
    );
}
