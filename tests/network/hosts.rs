//! Hosts whose tools dial, for the other modules.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use toolgate::policy::{Decision, Rule};
use toolgate::{HostBuilder, HostError, approval::Fixed};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::server::{Names, read};

/// What a test host is made of: the configuration as a file says it, and what looks up names.
pub(crate) struct Net {
    pub(crate) names: Arc<Names>,
    pub(crate) config: String,
    pub(crate) allow: Vec<&'static str>,
    pub(crate) deny: Vec<&'static str>,
    pub(crate) ask: Vec<&'static str>,
}

impl Net {
    /// With this `[egress]` and so on.
    pub(crate) fn new(names: &Arc<Names>, config: &str) -> Self {
        Self {
            names: Arc::clone(names),
            config: config.to_owned(),
            allow: Vec::new(),
            deny: Vec::new(),
            ask: Vec::new(),
        }
    }

    pub(crate) fn allow(mut self, rules: &[&'static str]) -> Self {
        self.allow.extend(rules);
        self
    }

    pub(crate) fn deny(mut self, rules: &[&'static str]) -> Self {
        self.deny.extend(rules);
        self
    }

    pub(crate) fn ask(mut self, rules: &[&'static str]) -> Self {
        self.ask.extend(rules);
        self
    }

    /// A host in which nobody is asked.
    pub(crate) async fn host(self) -> TestHost {
        self.with(|builder| builder).await
    }

    /// A host in which every question gets a yes.
    pub(crate) async fn approving(self) -> TestHost {
        self.with(|builder| builder.approver(Fixed::approve("the test")))
            .await
    }

    pub(crate) async fn with(self, more: impl FnOnce(HostBuilder) -> HostBuilder) -> TestHost {
        self.build(more).await.expect("a host")
    }

    /// A host, or why there is none.
    pub(crate) async fn try_host(self) -> Result<TestHost, HostError> {
        self.build(|builder| builder).await
    }

    async fn build(
        self,
        more: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Result<TestHost, HostError> {
        let scratch = Scratch::new();
        let setup = Setup {
            config: read(scratch.outside.as_path(), &self.config),
        };
        let mut setup = setup.allow(&self.allow).deny(&self.deny);
        for (line, rule) in self.ask.iter().enumerate() {
            let rule = Rule::parse(Decision::Ask, rule, Path::new("test.toml"), line + 1);
            setup.config.rules.push(rule.expect("a rule"));
        }
        let names = self.names;
        TestHost::try_with(scratch, setup, |builder| {
            let builder = [
                ("get", guests::HTTP_GET),
                ("listed", guests::HTTP_LISTED),
                ("undeclared", guests::HTTP_UNDECLARED),
                ("reads", guests::HTTP_READS),
                ("echo", guests::ECHO),
            ]
            .into_iter()
            .fold(builder, |builder, (label, bytes)| {
                builder.component(label, bytes.to_vec())
            });
            more(builder.resolver(names))
        })
        .await
    }
}

/// The requests in the record of the last call.
pub(crate) fn requests(host: &TestHost) -> Vec<Value> {
    let record = host.journal.records().pop().expect("a record");
    record["requests"].as_array().cloned().unwrap_or_default()
}

/// Calls the neighbour, which has nothing to do with the network.
pub(crate) async fn neighbour(host: &TestHost) {
    let text = host
        .done("Echo", serde_json::json!({ "text": "still here" }))
        .await;
    assert_eq!(text, "still here");
}
