//! Grants of the network: who has to agree, and where redirects lead.

use std::path::{Path, PathBuf};

use super::*;
use crate::model::{Claim, DeclarationParts, SubjectField, ToolName, Traits, Trust};
use crate::policy::{Decision, EgressRefusal, Mode, PolicySettings, Question, Roots, Rule};

/// A tool of this name that asks for these networks and secrets; with `subject` its calls name a URL.
fn declared(name: &str, level: SideEffect, asks: &[(&str, &str)]) -> (ToolFacts, NetworkAsk) {
    let by_subject = asks.contains(&("net", "subject"));
    let declaration = Declaration::check(DeclarationParts {
        name: name.to_owned(),
        description: "Asks.".to_owned(),
        input_schema:
            r#"{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}"#
                .to_owned(),
        output_schema: None,
        claim: Claim {
            level,
            ..Claim::default()
        },
        subject: by_subject.then(|| SubjectField {
            kind: SubjectKind::Url,
            field: "url".to_owned(),
        }),
        capabilities: asks
            .iter()
            .map(|(kind, target)| ((*kind).into(), (*target).into(), "asks".into(), false))
            .collect(),
        annotations: Vec::new(),
    })
    .unwrap();
    let facts = ToolFacts {
        name: ToolName::try_from(name).unwrap(),
        traits: Traits::resolve(&declaration.claim, &declaration.evidence(), Trust::None),
        subject: declaration.subject.as_ref().map(|subject| subject.kind),
        computes_subjects: false,
        files: None,
        built_in: false,
    };
    let ask = NetworkAsk::read(&declaration).unwrap().unwrap();
    (facts, ask)
}

fn list(entries: &[&str]) -> Arc<EgressPatterns> {
    let entries = entries.iter().map(|entry| match *entry {
        "public" => EgressAllow::Public,
        pattern => EgressAllow::Pattern(EgressPattern::parse(pattern).unwrap()),
    });
    Arc::new(EgressPatterns::new(entries).unwrap())
}

/// The grant of a call of the first of these tools for this URL.
fn granted(
    tools: &[(ToolFacts, NetworkAsk)],
    rules: &[(Decision, &str)],
    openings: EgressOpenings,
    mode: Mode,
    url: &str,
) -> EgressGrant {
    let ws = PathBuf::from("/ws");
    let settings = PolicySettings {
        mode,
        ceiling: SideEffect::Mutating,
        roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
        home: None,
        protected: Vec::new(),
        coming: Vec::new(),
    };
    let rules: Vec<Rule> = rules
        .iter()
        .map(|(effect, rule)| Rule::parse(*effect, rule, Path::new("t"), 1).unwrap())
        .collect();
    let facts: Vec<ToolFacts> = tools.iter().map(|(facts, _)| facts.clone()).collect();
    let policy = Policy::build(&rules, settings, &facts).unwrap();
    let policy = policy.with_egress(Arc::new(openings));
    let subjects = [Subject {
        kind: SubjectKind::Url,
        value: url.to_owned(),
    }];
    let (tool, ask) = &tools[0];
    let verdict = policy.evaluate(Question {
        tool,
        subjects: &subjects,
    });
    policy
        .egress_grant(tool, Some(ask), &verdict, &subjects)
        .unwrap()
}

fn said(judged: Result<crate::policy::JudgedUrl, EgressRefusal>) -> &'static str {
    match judged {
        Ok(_) => "yes",
        Err(EgressRefusal::NotOfThisCall) => "not of this call",
        Err(EgressRefusal::RedirectNotAllowed) => "not allowed",
        Err(EgressRefusal::Downgrade) => "downgrade",
        Err(EgressRefusal::Asked(_)) => "asked",
        Err(EgressRefusal::Denied(_)) => "denied",
        Err(EgressRefusal::NotOpened) => "not opened",
        Err(EgressRefusal::NotDeclared) => "not declared",
        Err(EgressRefusal::ReadsOnly) => "reads only",
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn three_must_agree_and_nobody_of_them_is_the_guest() {
    let stranger = |level| {
        let asks = [("net", "https://*.test/**"), ("secret", "one")];
        declared("Stranger", level, &asks)
    };
    let tools = [
        stranger(SideEffect::Mutating),
        declared("Other", SideEffect::Mutating, &[("net", "subject")]),
    ];
    let opened = |all: Option<&[&str]>, own: Option<&[&str]>| EgressOpenings {
        all: all.map(list),
        by_tool: own
            .map(|own| ("Stranger".to_owned(), list(own)))
            .into_iter()
            .collect(),
        ..EgressOpenings::default()
    };
    let deny = [(Decision::Deny, "Other(https://bad.test/**)")];
    for (openings, url, expected) in [
        (opened(None, None), "https://a.test/", "not opened"),
        (opened(Some(&["public"]), None), "https://a.test/", "yes"),
        (
            opened(Some(&["public"]), None),
            "https://b.example/",
            "not declared",
        ),
        (
            opened(Some(&["public"]), None),
            "https://bad.test/x",
            "denied",
        ),
        (
            opened(Some(&["https://a.test"]), None),
            "https://b.test/",
            "not opened",
        ),
        (
            opened(Some(&["public"]), Some(&["https://a.test"])),
            "https://b.test/",
            "not opened",
        ),
        (
            opened(Some(&[]), Some(&["https://a.test"])),
            "https://a.test/",
            "yes",
        ),
    ] {
        let grant = granted(&tools, &deny, openings, Mode::Bypass, "https://x.test/");
        assert_eq!(said(grant.judge("GET", url, false)), expected, "{url}");
        // A stranger whose calls name nothing has no redirects either.
        assert_eq!(said(grant.judge("GET", url, true)), expected, "{url}");
    }
    let reader = [stranger(SideEffect::ReadOnly), tools[1].clone()];
    let openings = opened(Some(&["public"]), None);
    let grant = granted(&reader, &[], openings, Mode::Bypass, "https://x.test/");
    assert_eq!(
        said(grant.judge("POST", "https://a.test/", false)),
        "reads only"
    );
    assert_eq!(said(grant.judge("HEAD", "https://a.test/", false)), "yes");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of redirects")]
fn a_redirect_leads_where_a_call_could() {
    let allow = (Decision::Allow, "Get(https://ok.test/**)");
    let plain = (Decision::Allow, "Get(http://ok.test/**)");
    let everything = (Decision::Allow, "Get");
    let ask = (Decision::Ask, "Get(https://ask.test/**)");
    let deny = (Decision::Deny, "Get(https://bad.test/**)");
    let tools = [declared("Get", SideEffect::Mutating, &[("net", "subject")])];
    for (rules, mode, from, to, expected) in [
        (
            &[allow][..],
            Mode::Default,
            "https://ok.test/a",
            "https://ok.test/b",
            "yes",
        ),
        (
            &[allow],
            Mode::Default,
            "https://ok.test/a",
            "https://other.test/",
            "not allowed",
        ),
        (
            &[allow],
            Mode::Default,
            "https://ok.test/a",
            "http://ok.test/",
            "downgrade",
        ),
        (
            &[allow, plain],
            Mode::Default,
            "https://ok.test/a",
            "http://ok.test/",
            "yes",
        ),
        (
            &[everything],
            Mode::Default,
            "https://ok.test/a",
            "https://other.test/",
            "yes",
        ),
        (
            &[everything],
            Mode::Default,
            "https://ok.test/a",
            "http://ok.test/",
            "downgrade",
        ),
        (
            &[everything, ask],
            Mode::Default,
            "https://ok.test/",
            "https://ask.test/",
            "asked",
        ),
        (
            &[everything, deny],
            Mode::Default,
            "https://ok.test/",
            "https://bad.test/",
            "denied",
        ),
        // Somebody was asked: for this place, also by https, and for no other.
        (
            &[],
            Mode::Default,
            "https://ok.test/a",
            "https://ok.test/b",
            "yes",
        ),
        (
            &[],
            Mode::Default,
            "http://ok.test/a",
            "https://ok.test/a",
            "yes",
        ),
        (
            &[],
            Mode::Default,
            "https://ok.test/a",
            "https://other.test/",
            "not allowed",
        ),
        (
            &[ask],
            Mode::Default,
            "https://ask.test/a",
            "https://ask.test/b",
            "yes",
        ),
        (
            &[],
            Mode::Bypass,
            "https://ok.test/a",
            "https://other.test/",
            "yes",
        ),
        (
            &[ask],
            Mode::Bypass,
            "https://ok.test/a",
            "https://ask.test/",
            "yes",
        ),
        (
            &[deny],
            Mode::Bypass,
            "https://ok.test/a",
            "https://bad.test/",
            "denied",
        ),
    ] {
        let grant = granted(&tools, rules, EgressOpenings::default(), mode, from);
        assert_eq!(said(grant.judge("GET", from, false)), "yes", "{from}");
        assert_eq!(
            said(grant.judge("GET", to, true)),
            expected,
            "{from} to {to} {rules:?}"
        );
        let unled = said(grant.judge("GET", to, false));
        assert!(
            ["not of this call", "denied"].contains(&unled),
            "{to} {unled}"
        );
    }
}

#[test]
fn a_secret_needs_the_tool_that_declares_it_and_the_operator_who_names_the_tool() {
    let tools = [declared(
        "Get",
        SideEffect::Mutating,
        &[("net", "public"), ("secret", "one")],
    )];
    let named = |secret: &str, tool: &str| EgressOpenings {
        secrets: [(secret.to_owned(), [tool.to_owned()].into())].into(),
        ..EgressOpenings::default()
    };
    let secrets = |openings| {
        let grant = granted(&tools, &[], openings, Mode::Bypass, "https://a.test/");
        grant.secrets().to_vec()
    };
    assert_eq!(secrets(named("one", "Get")), ["one"]);
    assert_eq!(secrets(named("one", "Other")), [""; 0]);
    assert_eq!(secrets(named("two", "Get")), [""; 0]);
    let assigned = EgressOpenings {
        assigned: [("Get".to_owned(), "two".to_owned())].into(),
        ..EgressOpenings::default()
    };
    assert_eq!(secrets(assigned), ["two"]);
}
