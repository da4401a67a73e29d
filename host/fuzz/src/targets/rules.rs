//! Rules and their patterns, beside the subjects that they are compared with.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::first_line;
use crate::model::{
    Claim, Evidence, FileScope, SideEffect, Subject, SubjectKind, ToolName, Traits, Trust,
};
use crate::policy::{
    Access, CommandIndex, CommandLine, CommandPattern, Decision, Mode, PathPattern, Policy,
    PolicyError, PolicySettings, Question, Roots, Rule, ToolFacts, UrlIndex, UrlPattern,
    UrlReadings, UrlSubject, exact_rule, literal_path,
};

/// A tool for each kind of subject, and one that computes its subjects.
pub(super) static TOOLS: LazyLock<[ToolFacts; 4]> = LazyLock::new(|| {
    [
        facts("Read", Some(SubjectKind::Path)),
        facts("Bash", Some(SubjectKind::Command)),
        facts("Fetch", Some(SubjectKind::Url)),
        facts("Any", None),
    ]
});

fn facts(name: &str, subject: Option<SubjectKind>) -> ToolFacts {
    let files = subject.filter(|kind| *kind == SubjectKind::Path);
    ToolFacts {
        name: ToolName::try_from(name).expect("a name"),
        traits: Traits::resolve(&Claim::default(), &Evidence::default(), Trust::None),
        subject,
        computes_subjects: subject.is_none(),
        files: files.map(|_| (Access::Read, FileScope::Subject)),
        built_in: false,
    }
}

/// A policy with these rules alone, over [`TOOLS`].
pub(super) fn policy(rules: &[Rule]) -> Result<Policy, Vec<PolicyError>> {
    let workspace = PathBuf::from("/ws");
    let settings = PolicySettings {
        mode: Mode::Default,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(workspace.clone(), workspace, Vec::new(), Vec::new()),
        home: Some(PathBuf::from("/home/u")),
        protected: Vec::new(),
        coming: Vec::new(),
    };
    Policy::build(rules, settings, &*TOOLS)
}

fn rule_of(effect: Decision, text: &str) -> Option<Rule> {
    Rule::parse(effect, text, Path::new("fuzz"), 1).ok()
}

fn decision(rules: &[Rule], tool: &ToolFacts, subject: &Subject) -> Option<Decision> {
    let policy = policy(rules).ok()?;
    let subjects = std::slice::from_ref(subject);
    Some(policy.evaluate(Question { tool, subjects }).decision)
}

/// A rule on the first line, a subject behind it. What an allow rule lets run, a deny rule of the same text refuses, also
/// beside it; and the rule for exactly one subject is one.
pub fn rule(data: &[u8]) {
    let Some((text, subject)) = first_line(data) else {
        return;
    };
    for tool in TOOLS.iter() {
        let kind = tool.subject.unwrap_or(SubjectKind::Url);
        let subject = Subject {
            kind,
            value: subject.to_owned(),
        };
        judge_rule(text, tool, &subject);
        judge_exact(tool, &subject);
    }
}

fn judge_rule(text: &str, tool: &ToolFacts, subject: &Subject) {
    let (Some(allow), Some(deny)) = (
        rule_of(Decision::Allow, text),
        rule_of(Decision::Deny, text),
    ) else {
        return;
    };
    assert_eq!(allow.source.rule, text);
    let written = match &allow.pattern {
        Some(pattern) => format!("{}({pattern})", allow.name),
        None => allow.name.to_string(),
    };
    assert_eq!(written, text);
    if decision(std::slice::from_ref(&allow), tool, subject) == Some(Decision::Allow) {
        let denied = Some(Decision::Deny);
        assert_eq!(
            decision(std::slice::from_ref(&deny), tool, subject),
            denied,
            "{text}"
        );
        assert_eq!(decision(&[allow, deny], tool, subject), denied, "{text}");
    }
}

fn judge_exact(tool: &ToolFacts, subject: &Subject) {
    let Some(text) = exact_rule(&tool.name, subject) else {
        return;
    };
    let deny = rule_of(Decision::Deny, &text).expect("an exact rule is a rule");
    assert_eq!(
        decision(&[deny], tool, subject),
        Some(Decision::Deny),
        "{text}: {}",
        subject.value
    );
}

/// A path pattern on the first line, a path behind it. A path taken literally is itself.
pub fn path(data: &[u8]) {
    let Some((pattern, path)) = first_line(data) else {
        return;
    };
    let (workspace, home) = (Path::new("/ws"), Path::new("/home/u"));
    for ignore_case in [false, true] {
        if let Ok(pattern) = PathPattern::compile(pattern, workspace, Some(home), ignore_case) {
            let matched = pattern.glob().compile_matcher().is_match(path);
            if let Some(literal) = pattern.literal().filter(|_| !ignore_case && matched) {
                assert_eq!(literal, Path::new(path));
            }
        }
    }
    let names = path.split('/').skip(1);
    if path.starts_with('/') && names.clone().all(|name| !["", ".", ".."].contains(&name)) {
        let literal = PathPattern::compile(&literal_path(path), workspace, Some(home), false)
            .expect("a literal path is a pattern");
        assert!(literal.glob().compile_matcher().is_match(path), "{path:?}");
    }
}

/// A command pattern on the first line, a command line behind it. A line is understood or opaque, never both; what allows a
/// line is never blind to it as what denies.
pub fn command(data: &[u8]) {
    let Some((pattern, text)) = first_line(data) else {
        return;
    };
    let line = CommandLine::analyse(text);
    assert_eq!(line.commands().is_some(), line.opaque().is_none());
    assert!(line.opaque().is_none() || line.undecidable().is_some());
    let Ok(pattern) = CommandPattern::parse(pattern) else {
        return;
    };
    let index = CommandIndex::new([&pattern]);
    let allows = !index.allowing(&line).is_empty();
    match line.commands() {
        Some(commands) => {
            assert!(!commands.is_empty());
            assert!(
                commands
                    .iter()
                    .all(|command| command.words().next().is_some())
            );
        }
        None => assert!(!allows, "an opaque line is allowed by nothing"),
    }
    assert!(!allows || !index.touching(&line, true).is_empty());
}

/// A URL pattern on the first line, a URL behind it. What matches in every reading matches in some, and the one form of a
/// URL is a URL of the same form.
pub fn url(data: &[u8]) {
    let Some((pattern, text)) = first_line(data) else {
        return;
    };
    let pattern = UrlPattern::parse(pattern).ok();
    let Ok(subject) = UrlSubject::parse(text) else {
        return;
    };
    let again = UrlSubject::parse(subject.url().as_str()).expect("the one form is a URL");
    assert_eq!(
        (subject.host(), subject.port()),
        (again.host(), again.port())
    );
    assert_eq!(subject.path(), again.path());
    if let Some(pattern) = pattern {
        let index = |readings| UrlIndex::new([&pattern], readings).expect("one pattern fits");
        let every = !index(UrlReadings::Every).matching(&subject).is_empty();
        let any = !index(UrlReadings::Any).matching(&subject).is_empty();
        assert!(!every || any, "{pattern}: {text}");
    }
}
