//! A chain with native tools: each has a schema that the case gives, and keeps every input that reaches it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use toolgate::approval::{FileSight, Fixed};
use toolgate::gate::{
    Chain, ChainParts, Cleared, HOOK_TIMEOUT, Provider, ProviderEnd, ProviderReport, Registration,
    RegistrationError, Registry,
};
use toolgate::journal::Memory;
use toolgate::model::{
    Claim, Content, Declaration, DeclarationParts, Ending, Limits, Outcome, RawCall, SideEffect,
    ToolOutput, Trust, Usage,
};
use toolgate::policy::{ExemptLine, Policy, PolicySettings, Roots, SchemaMode};
use toolgate::spill::FileSpill;
use toolgate_tests::Scratch;

/// The name of the only tool of [`SchemaHost::new`].
const PROBE: &str = "Probe";

/// A tool that keeps its inputs, as JSON texts.
#[derive(Clone, Debug, Default)]
struct Probe(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Provider for Probe {
    async fn execute(&self, call: Cleared) -> ProviderReport {
        let input = serde_json::to_string(call.input().as_ref()).expect("JSON");
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(input);
        let text = "received".to_owned();
        ProviderReport {
            end: ProviderEnd::Done(ToolOutput {
                content: vec![Content::Text { text }],
                ..ToolOutput::default()
            }),
            usage: Usage::default(),
            files: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            log: Vec::new(),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct SchemaHost {
    _scratch: Scratch,
    chain: Chain,
    probe: Probe,
    journal: Arc<Memory>,
    refused: Vec<RegistrationError>,
}

impl SchemaHost {
    /// One tool with this schema.
    pub(crate) fn new(schema: Value) -> Self {
        let host = Self::of([(PROBE.to_owned(), schema)]);
        assert_eq!(host.refused, []);
        host
    }

    /// Tools with these names and schemas. Those that cannot be registered are left out.
    pub(crate) fn of(tools: impl IntoIterator<Item = (String, Value)>) -> Self {
        let scratch = Scratch::new();
        let probe = Probe::default();
        let mut registry = Registry::default();
        let mut refused = Vec::new();
        for (name, schema) in tools {
            refused.extend(
                registry
                    .register(registration(&name, &schema, &probe))
                    .err(),
            );
        }
        let facts: Vec<_> = registry.tools().map(|tool| tool.facts().clone()).collect();
        let settings = PolicySettings {
            mode: toolgate::policy::Mode::Default,
            ceiling: SideEffect::Mutating,
            roots: Roots::new(
                scratch.ws.clone(),
                scratch.ws.clone(),
                Vec::new(),
                Vec::new(),
            ),
            home: None,
            protected: Vec::<PathBuf>::new(),
            coming: Vec::new(),
        };
        let journal = Arc::new(Memory::default());
        let chain = Chain::new(ChainParts {
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
            journal: Arc::clone(&journal) as _,
            session: "cases".to_owned(),
        });
        Self {
            _scratch: scratch,
            chain,
            probe,
            journal,
            refused,
        }
    }

    /// Why tools are left out.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.iter().map(ToString::to_string).collect()
    }

    /// Names of the tools that can be called.
    pub(crate) fn names(&self) -> Vec<String> {
        self.chain
            .registry()
            .tools()
            .map(|tool| tool.name().to_string())
            .collect()
    }

    /// A call of one of several tools.
    pub(crate) async fn call_of(&self, tool: &str, input: &str) -> Outcome {
        self.chain.call(RawCall::new(tool, input)).await
    }

    /// A call of the only tool.
    pub(crate) async fn call(&self, input: &str) -> Outcome {
        self.call_of(PROBE, input).await
    }

    /// Every input that reached a tool, in order.
    pub(crate) fn received(&self) -> Vec<String> {
        self.probe
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asserts that exactly this input reaches the tool.
    pub(crate) async fn takes(&self, input: &str, as_received: &str) {
        let before = self.received().len();
        let outcome = self.call(input).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{input}: {:?}",
            outcome.ending
        );
        assert_eq!(
            self.received().get(before..),
            Some(&[as_received.to_owned()][..]),
            "{input}"
        );
    }

    /// Asserts that no gate lets the input through, and gives what the model is told.
    pub(crate) async fn rejects(&self, input: &str) -> String {
        let before = self.received().len();
        let outcome = self.call(input).await;
        assert!(
            matches!(outcome.ending, Ending::Denied(_)),
            "{input}: {:?}",
            outcome.ending
        );
        assert_eq!(self.received().len(), before, "{input} reached the tool");
        outcome.ending.text()
    }

    /// The last record.
    pub(crate) fn last_record(&self) -> Value {
        self.journal.records().pop().expect("a record")
    }
}

fn registration(name: &str, schema: &Value, probe: &Probe) -> Registration {
    let declaration = Declaration::check(DeclarationParts {
        name: name.to_owned(),
        description: "Keeps its input.".to_owned(),
        input_schema: schema.to_string(),
        output_schema: None,
        claim: Claim {
            level: SideEffect::ReadOnly,
            destructive: false,
            idempotent: true,
            open_world: false,
            exclusive: false,
        },
        subject: None,
        capabilities: Vec::new(),
        annotations: Vec::new(),
    });
    Registration {
        computes_subjects: false,
        foreign: None,
        declaration: declaration.expect("a declaration"),
        digest: "0".repeat(64),
        built_in: false,
        trust: Trust::None,
        limits: Limits::default(),
        schema_mode: SchemaMode::Enforce,
        provider: Arc::new(probe.clone()),
    }
}
