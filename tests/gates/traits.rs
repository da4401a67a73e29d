//! Traits: what the built-in tools declare is what was audited, and whose word counts is decided when a tool is
//! registered.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use toolgate::config::{ShellSetting, WebSearchBackend};
use toolgate::gate::{Cleared, Provider, ProviderReport, RegisteredTool, Registration, Registry};
use toolgate::model::{
    Claim, Concurrency, Declaration, DeclarationParts, Ground, Limits, SideEffect, Traits, Trust,
};
use toolgate::policy::SchemaMode;
use toolgate_tests::{Scratch, Setup, TestHost};

const README: &str = include_str!("../../tools/README.md");
const COLUMNS: [&str; 8] = [
    "tool",
    "level",
    "destructive",
    "idempotent",
    "concurrency",
    "open-world",
    "subject",
    "capabilities",
];

/// The audited values of each tool, by column; the reason of each must be there.
fn audited() -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let mut lines = README
        .lines()
        .skip_while(|line| !line.starts_with("| tool |"));
    assert_eq!(cells(lines.next().expect("a table")), COLUMNS);
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let mut tools = BTreeMap::new();
    for row in rows.map(cells) {
        let (name, traits) = row.split_first().expect("a name");
        assert_eq!(traits.len(), COLUMNS.len() - 1, "{name}");
        let mut values = BTreeMap::new();
        for (column, cell) in COLUMNS.into_iter().skip(1).zip(traits) {
            // The value may hold a colon inside of backticks.
            let (value, reason) = cell
                .split_once(": ")
                .unwrap_or_else(|| panic!("{name}: '{cell}' has no reason"));
            assert!(!reason.trim().is_empty(), "{name}: '{cell}' has no reason");
            values.insert(column, value.to_owned());
        }
        let twice = tools.insert(name.clone(), values);
        assert!(twice.is_none(), "{name} has two rows");
    }
    tools
}

/// The same, as the component says it.
fn declared(declaration: &Declaration) -> BTreeMap<&'static str, String> {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let claim = &declaration.claim;
    let subject = declaration
        .subject
        .as_ref()
        .map(|subject| format!("{} in `{}`", subject.kind, subject.field));
    let asked: Vec<String> = declaration
        .capabilities
        .iter()
        .map(|asked| format!("`{}`", asked.kind))
        .collect();
    let concurrency = if claim.exclusive {
        "exclusive"
    } else {
        "shared"
    };
    BTreeMap::from([
        ("level", claim.level.to_string()),
        ("destructive", yes(claim.destructive)),
        ("idempotent", yes(claim.idempotent)),
        ("concurrency", concurrency.to_owned()),
        ("open-world", yes(claim.open_world)),
        ("subject", subject.unwrap_or_else(|| "none".to_owned())),
        ("capabilities", asked.join(", ")),
    ])
}

/// A host with every built-in tool.
async fn with_all() -> TestHost {
    let mut setup = Setup::default();
    setup.config.shell = ShellSetting::local();
    setup.config.web_search.backend = Some(WebSearchBackend::Duckduckgo.into());
    TestHost::with(Scratch::new(), setup, |builder| builder).await
}

#[tokio::test]
async fn without_a_shell_no_tool_needs_one() {
    let host = TestHost::new().await;
    let needs = |tool: &Arc<RegisteredTool>| tool.declaration().shell().is_some();
    assert_eq!(host.host.all_tools().filter(needs).count(), 0);
    let with = with_all().await;
    assert_eq!(with.host.all_tools().filter(needs).count(), 11);
    let (all, few) = (with.host.all_tools(), host.host.all_tools());
    assert_eq!(all.count(), few.count() + 12);
}

#[tokio::test]
async fn the_built_in_tools_declare_what_was_audited() {
    let host = with_all().await;
    let audited = audited();
    let mut declaring = 0;
    for tool in host.host.all_tools() {
        let row = audited.get(tool.name().as_str());
        let row = row.unwrap_or_else(|| panic!("{tool} has no row in tools/README.md"));
        assert_eq!(*row, declared(tool.declaration()), "{tool}");
        declaring += 1;
    }
    assert_eq!(declaring, audited.len(), "a row of no tool");
}

/// The host takes its own tools at their word, since they were audited.
#[tokio::test]
async fn the_built_in_tools_are_believed() {
    let host = with_all().await;
    for tool in host.host.all_tools() {
        assert_eq!(tool.trust(), Trust::Audited, "{tool}");
        let (claim, traits) = (&tool.declaration().claim, &tool.facts().traits);
        assert!(
            traits.reductions.is_empty(),
            "{tool}: {:?}",
            traits.reductions
        );
        assert_eq!(traits.level, claim.level, "{tool}");
        assert_eq!(traits.destructive, claim.destructive, "{tool}");
        assert_eq!(traits.idempotent, claim.idempotent, "{tool}");
        assert_eq!(traits.open_world, claim.open_world, "{tool}");
        assert_eq!(traits.concurrency, Concurrency::Shared, "{tool}");
    }
}

#[derive(Debug)]
struct NeverRuns;

#[async_trait]
impl Provider for NeverRuns {
    async fn execute(&self, _call: Cleared) -> ProviderReport {
        panic!("no test calls it")
    }
}

/// A tool that flatters itself as far as a writing tool can, registered.
fn registered(capabilities: &[(&str, &str)], trust: Trust) -> Arc<RegisteredTool> {
    let parts = DeclarationParts {
        name: "Flatterer".to_owned(),
        description: "Flatters itself.".to_owned(),
        input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#
            .to_owned(),
        output_schema: None,
        claim: Claim {
            level: SideEffect::Mutating,
            destructive: false,
            idempotent: true,
            open_world: false,
            exclusive: false,
        },
        subject: None,
        capabilities: capabilities
            .iter()
            .map(|(kind, target)| {
                (
                    (*kind).to_owned(),
                    (*target).to_owned(),
                    "a reason".to_owned(),
                    false,
                )
            })
            .collect(),
        annotations: Vec::new(),
    };
    let mut registry = Registry::default();
    registry
        .register(Registration {
            computes_subjects: false,
            foreign: None,
            declaration: Declaration::check(parts).expect("a declaration"),
            digest: "0".repeat(64),
            built_in: false,
            trust,
            limits: Limits::default(),
            schema_mode: SchemaMode::Enforce,
            provider: Arc::new(NeverRuns),
        })
        .expect("registered");
    Arc::clone(registry.get("Flatterer").expect("it"))
}

#[test]
fn whose_word_counts_is_decided_at_registration() {
    let files = [("fs-write", "workspace")];
    let both = [("fs-write", "workspace"), ("net", "https://example.com/**")];
    let traits = |asked: &[(&str, &str)], trust| -> Traits {
        registered(asked, trust).facts().traits.clone()
    };
    for trust in [Trust::Audited, Trust::Operator, Trust::None] {
        let verified = traits(&files, trust);
        assert!(!verified.destructive && verified.create_only, "{trust}");
        assert_eq!(verified.grounds.destructive, Ground::Verified, "{trust}");
        assert!(traits(&both, trust).open_world, "{trust}");
    }
    let alone = traits(&both, Trust::None);
    assert!(alone.destructive && !alone.idempotent);
    assert_eq!(alone.concurrency, Concurrency::Exclusive);
    assert_eq!(alone.reductions.len(), 4, "{:?}", alone.reductions);
    let vouched = traits(&both, Trust::Operator);
    assert!(!vouched.destructive && vouched.idempotent);
    assert_eq!(vouched.concurrency, Concurrency::Shared);
    assert_eq!(vouched.grounds.destructive, Ground::Trusted);
    // Said of the network by nobody who is believed.
    assert_eq!(vouched.reductions.len(), 1, "{:?}", vouched.reductions);
}
