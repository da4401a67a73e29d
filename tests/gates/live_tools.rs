//! Tools that come, change and go while the host runs: the same names and rules as at the start, and no call loses the
//! tool that it has.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Semaphore;
use toolgate::gate::{
    Cleared, Provider, ProviderEnd, ProviderReport, RefusedTool, Registration, ToolChange,
};
use toolgate::model::{
    Claim, Content, Declaration, DeclarationParts, Ending, Limits, RawCall, SideEffect,
    SubjectField, SubjectKind, ToolName, ToolOutput, Trust, Usage,
};
use toolgate::policy::{Decision, Rule, SchemaMode};
use toolgate_tests::TestHost;

/// Answers with its word, once it may.
#[derive(Debug)]
struct Says {
    word: &'static str,
    gates: Arc<Gates>,
}

/// How far calls have come, and how far they may.
#[derive(Debug)]
struct Gates {
    began: Semaphore,
    may_end: Semaphore,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            began: Semaphore::new(0),
            may_end: Semaphore::new(0),
        }
    }
}

#[async_trait]
impl Provider for Says {
    async fn execute(&self, _call: Cleared) -> ProviderReport {
        self.gates.began.add_permits(1);
        let _permit = self.gates.may_end.acquire().await;
        let text = self.word.to_owned();
        ProviderReport {
            end: ProviderEnd::Done(ToolOutput {
                content: vec![Content::Text { text }],
                structured: None,
                capped: false,
            }),
            usage: Usage::default(),
            files: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            log: Vec::new(),
        }
    }
}

/// A tool on its way in. `path`: it reads files, and its subject is one.
fn tool(name: &str, word: &'static str, path: bool) -> (Registration, Arc<Gates>) {
    let subject = path.then(|| SubjectField {
        kind: SubjectKind::Path,
        field: "p".to_owned(),
    });
    let reads = ("fs-read", "workspace", "looks", false);
    let reads = path.then(|| {
        (
            reads.0.to_owned(),
            reads.1.to_owned(),
            reads.2.to_owned(),
            reads.3,
        )
    });
    let declaration = Declaration::check(DeclarationParts {
        name: name.to_owned(),
        description: "Says a word.".to_owned(),
        input_schema: r#"{"type":"object","properties":{"p":{"type":"string","default":"."}}}"#
            .to_owned(),
        output_schema: None,
        claim: Claim {
            level: SideEffect::ReadOnly,
            destructive: false,
            idempotent: true,
            open_world: false,
            exclusive: false,
        },
        subject,
        capabilities: reads.into_iter().collect(),
        annotations: Vec::new(),
    });
    let gates = Arc::new(Gates::default());
    let registration = Registration {
        declaration: declaration.expect("a declaration"),
        digest: "0".repeat(64),
        built_in: false,
        trust: Trust::None,
        limits: Limits::default(),
        schema_mode: SchemaMode::Enforce,
        computes_subjects: false,
        foreign: None,
        provider: Arc::new(Says {
            word,
            gates: Arc::clone(&gates),
        }),
    };
    (registration, gates)
}

/// One that answers at once.
fn ready(name: &str, word: &'static str) -> Registration {
    let (registration, gates) = tool(name, word, false);
    gates.may_end.add_permits(1);
    registration
}

fn named(name: &str) -> ToolName {
    ToolName::try_from(name).expect("a name")
}

fn change(host: &TestHost, remove: &[&str], add: Vec<Registration>) -> Vec<String> {
    let remove = remove.iter().map(|name| named(name)).collect();
    let refused = host.host.change_tools(ToolChange { remove, add });
    let refused = refused.expect("the rules hold");
    let shown = |tool: RefusedTool| format!("{}: {tool}", tool.name);
    refused.into_iter().map(shown).collect()
}

fn rule(effect: Decision, text: &str) -> Rule {
    Rule::parse(effect, text, Path::new("test.toml"), 3).expect("a rule")
}

#[tokio::test]
async fn a_tool_comes_changes_and_goes_and_calls_keep_what_they_resolved() {
    let host = TestHost::new().await;
    let mut changed = host.host.tools_changed();
    host.denied("Late", json!({})).await;
    let (slow, gates) = tool("Late", "first", false);
    assert_eq!(change(&host, &[], vec![slow]), [""; 0]);
    assert!(changed.has_changed().expect("the host lives"));
    changed.mark_unchanged();
    let names: Vec<_> = host
        .host
        .tools()
        .map(|tool| tool.name().to_string())
        .collect();
    assert!(names.contains(&"Late".to_owned()), "{names:?}");

    let (there, calling) = (host.host.clone(), RawCall::new("Late", "{}"));
    let in_flight = tokio::spawn(async move { there.call(calling).await });
    let _begun = gates.began.acquire().await.expect("open");
    assert_eq!(
        change(&host, &["Late"], vec![ready("Late", "second")]),
        [""; 0]
    );
    assert!(
        changed.has_changed().expect("the host lives"),
        "another tool of the name"
    );
    assert_eq!(host.done("Late", json!({})).await, "second");
    gates.may_end.add_permits(1);
    let first = in_flight.await.expect("no panic");
    assert_eq!(first.ending.text(), "first");

    assert_eq!(change(&host, &["Late", "NeverThere"], Vec::new()), [""; 0]);
    let text = host.denied("Late", json!({})).await;
    assert!(text.contains("unknown tool 'Late'"), "{text}");
    changed.mark_unchanged();
    assert_eq!(change(&host, &["Late"], Vec::new()), [""; 0]);
    assert!(
        !changed.has_changed().expect("the host lives"),
        "nothing changed"
    );
}

#[tokio::test]
async fn names_are_taken_as_at_the_start_and_the_rest_takes_place() {
    let host = TestHost::new().await;
    let add = vec![
        ready("Read", "x"),
        ready("rEAD", "x"),
        ready("Late", "kept"),
        ready("Late", "twice"),
        ready("late", "alike"),
    ];
    let refused = change(&host, &[], add);
    assert_eq!(
        refused,
        [
            "Read: a tool named 'Read' is registered already",
            "rEAD: the name 'rEAD' differs from that of the tool 'Read' only in upper and lower case",
            "Late: a tool named 'Late' is registered already",
            "late: the name 'late' differs from that of the tool 'Late' only in upper and lower case",
        ]
    );
    assert_eq!(host.done("Late", json!({})).await, "kept");
    host.scratch.file("a.txt", "the built-in answers");
    let text = host.done("Read", json!({ "file_path": "/ws/a.txt" })).await;
    assert!(text.contains("the built-in answers"), "{text}");
}

#[tokio::test]
async fn rules_bind_tools_that_come_later() {
    let host = TestHost::new().await;
    assert_eq!(change(&host, &[], vec![ready("Late", "x")]), [""; 0]);
    let mut changed = host.host.tools_changed();
    host.host
        .set_rules(&[rule(Decision::Deny, "Late")])
        .expect("it is there");
    assert!(
        changed.has_changed().expect("the host lives"),
        "a rule hides a tool"
    );
    changed.mark_unchanged();
    host.denied("Late", json!({})).await;
    // The rule outlives the tool, and binds the next one of the name.
    assert_eq!(change(&host, &["Late"], Vec::new()), [""; 0]);
    assert_eq!(change(&host, &[], vec![ready("Late", "x")]), [""; 0]);
    host.denied("Late", json!({})).await;
    assert!(
        !changed.has_changed().expect("the host lives"),
        "no model could see it"
    );
    // A pattern that cannot be compared with its calls keeps a tool out.
    let rules = [
        rule(Decision::Deny, "La*"),
        rule(Decision::Deny, "Lo*(x/**)"),
    ];
    host.host.set_rules(&rules).expect("beginnings of names");
    let refused = change(&host, &[], vec![ready("Lone", "x"), ready("Other", "fine")]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].starts_with("Lone: test.toml:3: the deny rule 'Lo*(x/**)' "),
        "{refused:?}"
    );
    assert_eq!(host.done("Other", json!({})).await, "fine");
    let text = host.denied("Lone", json!({})).await;
    assert!(text.contains("unknown tool"), "{text}");
}

#[tokio::test]
async fn a_deny_rule_goes_on_binding_the_files_when_its_tool_is_gone() {
    let host = TestHost::new().await;
    host.scratch.file("secret/a.txt", "hidden");
    let path = json!({ "file_path": "/ws/secret/a.txt" });
    assert_eq!(change(&host, &[], vec![tool("Peek", "x", true).0]), [""; 0]);
    let deny = host.scratch.mapped("Peek(/ws/secret/**)");
    host.host
        .set_rules(&[rule(Decision::Deny, &deny)])
        .expect("it fits");
    host.denied("Read", path.clone()).await;
    assert_eq!(change(&host, &["Peek"], Vec::new()), [""; 0]);
    let outcome = host.call("Read", path.clone()).await;
    assert!(
        matches!(outcome.ending, Ending::Denied(_)),
        "{:?}",
        outcome.ending
    );
    // Nor does a rule that is put in force later lose its tool's name.
    host.host
        .set_rules(&[rule(Decision::Deny, &deny)])
        .expect("its tool was there");
    host.denied("Read", path).await;
}
