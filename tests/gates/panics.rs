//! Panics: whatever a hook, an approver, a provider or a sink of the embedder does, the call has one outcome and one
//! record, and the next call works.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use toolgate::approval::{FileSight, Fixed};
use toolgate::gate::{
    Answer, ApprovalRequest, Approver, Chain, ChainParts, Cleared, HOOK_TIMEOUT, HookEvent,
    HookReply, Journal, PortError, PostHook, PreHook, Provider, ProviderReport, Record,
    Registration, Registry,
};
use toolgate::journal::Memory;
use toolgate::model::{
    Claim, Declaration, DeclarationParts, DenialReason, Ending, Gate, Limits, RawCall, SideEffect,
    Subject, ToolName, Trust,
};
use toolgate::policy::{ExemptLine, Mode, Policy, PolicySettings, Roots, SchemaMode};
use toolgate::spill::FileSpill;
use toolgate::{Host, HostBuilder};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{denial, done, echo, last_record, steps};

/// Panics wherever it is asked something.
#[derive(Debug)]
struct Panics;

#[async_trait]
impl PreHook for Panics {
    fn name(&self) -> &str {
        "panicking"
    }

    fn wants(&self, _tool: &ToolName) -> bool {
        true
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        assert_eq!(
            event.tool_input.as_ref().expect("a call")["text"],
            "calm",
            "the hook panics"
        );
        Ok(HookReply::Nothing)
    }
}

#[async_trait]
impl PostHook for Panics {
    fn name(&self) -> &str {
        "panicking"
    }

    fn wants(&self, _tool: &ToolName, _failed: bool) -> bool {
        true
    }

    async fn run(&self, _event: &HookEvent) -> Result<(), PortError> {
        panic!("the hook panics")
    }
}

#[async_trait]
impl Approver for Panics {
    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        panic!("the approver panics")
    }
}

async fn host(more: impl FnOnce(HostBuilder) -> HostBuilder) -> TestHost {
    TestHost::with(Scratch::new(), Setup::default(), |builder| {
        more(builder.component("echo", toolgate_artifacts::ECHO.to_vec()))
    })
    .await
}

fn host_failure(ending: &Ending) -> &str {
    match ending {
        Ending::HostError(failure) => &failure.message,
        other => panic!("the host did not fail: {other:?}"),
    }
}

#[tokio::test]
async fn a_hook_that_panics_is_broken_and_denies() {
    let host = host(|builder| builder.pre_hook(Panics)).await;
    let outcome = echo(&host, "a").await;
    let refused = denial(&outcome);
    assert_eq!(refused.gate, Gate::PreHooks);
    let (hook, what) = ("panicking".to_owned(), "it panicked".to_owned());
    assert_eq!(refused.reason, DenialReason::HookBroken { hook, what });
    assert_eq!(
        done(&echo(&host, "calm").await),
        "calm",
        "the next call works"
    );
}

#[tokio::test]
async fn a_hook_that_panics_afterwards_changes_nothing() {
    let host = host(|builder| builder.post_hook(Panics)).await;
    assert_eq!(done(&echo(&host, "a").await), "a");
    let said = steps(&last_record(&host), "post-hooks");
    let warned = (
        "warned".to_owned(),
        "hook broken: panicking, it panicked".to_owned(),
    );
    assert_eq!(said, [warned]);
}

#[tokio::test]
async fn an_approver_that_panics_approves_nothing() {
    let host = host(|builder| builder.approver(Panics)).await;
    let outcome = host
        .call("Write", json!({ "file_path": "/ws/a.txt", "content": "c" }))
        .await;
    assert_eq!(host_failure(&outcome.ending), "a gate panicked");
    assert!(
        !outcome.ending.text().contains("panic"),
        "the model is told nothing of the host's inside"
    );
    assert!(!host.scratch.ws.join("a.txt").exists());
    assert_eq!(host.journal.records().len(), 1);
    assert_eq!(last_record(&host)["ending"], "host-error");
    assert_eq!(done(&echo(&host, "a").await), "a", "the next call works");
}

/// A sink for progress runs inside the call of a guest.
#[tokio::test]
async fn a_progress_sink_that_panics_ends_its_own_call() {
    let mut setup = Setup::default();
    setup.config.limits.fuel = Some(1_000_000.into());
    let host = TestHost::with(Scratch::new(), setup, |builder| {
        builder
            .component("loops", toolgate_artifacts::LOOPS_FOREVER.to_vec())
            .component("echo", toolgate_artifacts::ECHO.to_vec())
            .on_progress(Arc::new(|_, _, _, _| panic!("the sink panics")))
    })
    .await;
    let outcome = host.call("LoopsForever", json!({})).await;
    assert!(
        !matches!(outcome.ending, Ending::Done(_) | Ending::Denied(_)),
        "{:?}",
        outcome.ending
    );
    assert_eq!(host.journal.records().len(), 1);
    assert_eq!(done(&echo(&host, "a").await), "a", "the next call works");
}

/// A journal that keeps nothing.
#[derive(Debug)]
struct Full;

impl Journal for Full {
    fn append(&self, _record: &Record) -> Result<(), PortError> {
        Err(PortError("no space left".to_owned()))
    }
}

#[tokio::test]
async fn a_call_whose_record_cannot_be_written_fails() {
    let scratch = Scratch::new();
    let host = Host::builder(&scratch.ws)
        .state_dir(&scratch.state)
        .component("echo", toolgate_artifacts::ECHO.to_vec())
        .journal(Arc::new(Full))
        .build()
        .await
        .expect("a host");
    for (tool, word) in [("Echo", "done"), ("Nothing", "denied")] {
        let outcome = host
            .call(RawCall::new(tool, r#"{"text":"the result"}"#))
            .await;
        let expected = format!(
            "the call ended as '{word}', but its record could not be written: no space left"
        );
        assert_eq!(host_failure(&outcome.ending), expected);
        assert!(
            !outcome.ending.text().contains("the result"),
            "a result without a record is not released"
        );
    }
}

/// A provider of the test's own: the tool's name says where it panics.
#[derive(Debug)]
struct PanickingProvider {
    in_subjects: bool,
}

#[async_trait]
impl Provider for PanickingProvider {
    async fn subjects(&self, _input: &Map<String, Value>) -> Option<Result<Vec<Subject>, String>> {
        assert!(!self.in_subjects, "the provider panics over the subjects");
        None
    }

    async fn execute(&self, _call: Cleared) -> ProviderReport {
        panic!("the provider panics over the call")
    }
}

fn registration(name: &str, in_subjects: bool) -> Registration {
    let claim = Claim {
        level: SideEffect::ReadOnly,
        destructive: false,
        idempotent: false,
        open_world: false,
        // The turn of a tool that runs alone is given back by a panic too.
        exclusive: true,
    };
    let parts = DeclarationParts {
        name: name.to_owned(),
        description: "Panics.".to_owned(),
        input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#
            .to_owned(),
        output_schema: None,
        claim,
        subject: None,
        capabilities: Vec::new(),
        annotations: Vec::new(),
    };
    Registration {
        computes_subjects: in_subjects,
        foreign: None,
        declaration: Declaration::check(parts).expect("a declaration"),
        digest: "0".repeat(64),
        built_in: false,
        trust: Trust::None,
        limits: Limits::default(),
        schema_mode: SchemaMode::Enforce,
        provider: Arc::new(PanickingProvider { in_subjects }),
    }
}

fn chain(scratch: &Scratch, journal: &Arc<Memory>) -> Chain {
    let mut registry = Registry::default();
    for (name, in_subjects) in [("InExecute", false), ("InSubjects", true)] {
        registry
            .register(registration(name, in_subjects))
            .expect("registered");
    }
    let roots = Roots::new(
        scratch.ws.clone(),
        scratch.ws.clone(),
        Vec::new(),
        Vec::new(),
    );
    let settings = PolicySettings {
        mode: Mode::Default,
        ceiling: SideEffect::Mutating,
        roots,
        home: None::<PathBuf>,
        protected: Vec::new(),
        coming: Vec::new(),
    };
    let facts: Vec<_> = registry.tools().map(|tool| tool.facts().clone()).collect();
    Chain::new(ChainParts {
        policy: Policy::build(&[], settings, &facts).expect("a policy"),
        registry,
        exempt: ExemptLine::default(),
        pre_hooks: Vec::new(),
        post_hooks: Vec::new(),
        event_hooks: Vec::new(),
        remembered: None,
        sight: Arc::new(FileSight),
        hook_timeout: HOOK_TIMEOUT,
        approver: Arc::new(Fixed::nobody()),
        spill: Arc::new(FileSpill::open(&scratch.state).expect("a spill store")),
        journal: Arc::clone(journal) as Arc<dyn Journal>,
        session: "a session".to_owned(),
    })
}

#[tokio::test]
async fn a_provider_that_panics_ends_its_own_call() {
    let scratch = Scratch::new();
    let journal = Arc::new(Memory::default());
    let chain = chain(&scratch, &journal);
    for round in 1..=2 {
        let outcome = chain.call(RawCall::new("InExecute", "{}")).await;
        assert_eq!(host_failure(&outcome.ending), "the provider panicked");
        let records = journal.records();
        assert_eq!(records.len(), round, "one record a call");
        assert_eq!(records[round - 1]["call"], outcome.id.to_string());
        assert_eq!(records[round - 1]["ending"], "host-error");
    }
}

#[tokio::test]
async fn a_provider_that_panics_over_subjects_ends_its_own_call() {
    let scratch = Scratch::new();
    let journal = Arc::new(Memory::default());
    let chain = chain(&scratch, &journal);
    let outcome = chain.call(RawCall::new("InSubjects", "{}")).await;
    assert_eq!(host_failure(&outcome.ending), "a gate panicked");
    let records = journal.records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["ending"], "host-error");
}
