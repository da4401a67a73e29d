//! What a command comes to, with nobody to ask and with somebody who says yes to everything. A stand-in takes the calls
//! of `Bash`, and gives back the bytes that it was given.

use serde_json::json;
use toolgate::HostBuilder;
use toolgate::model::{DenialReason, Ending, Gate, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::support::{Asked, denial, last_record};

/// Two hosts with the same rules: in one nobody can be asked, in the other everything that is asked is approved.
#[derive(Debug)]
pub(crate) struct Shell {
    nobody: TestHost,
    somebody: TestHost,
    asked: Asked,
}

impl Shell {
    /// Hosts with these rules.
    pub(crate) async fn new(allow: &[&str], deny: &[&str]) -> Self {
        let setup = || Setup::default().allow(allow).deny(deny);
        let asked = Asked::default();
        let nobody = TestHost::with(Scratch::new(), setup(), with_bash);
        let somebody = TestHost::with(Scratch::new(), setup(), |builder| {
            with_bash(builder).approver(asked.clone())
        });
        let (nobody, somebody) = tokio::join!(nobody, somebody);
        Self {
            nobody,
            somebody,
            asked,
        }
    }

    /// The folders of both hosts.
    pub(crate) fn scratches(&self) -> [&Scratch; 2] {
        [&self.nobody.scratch, &self.somebody.scratch]
    }

    /// Asserts that it runs, as it was written, and nobody is asked.
    pub(crate) async fn runs(&self, command: &str) {
        let before = self.asked.count();
        for host in [&self.nobody, &self.somebody] {
            assert_ran(host, command, &bash(host, command).await);
            let approved_by = last_record(host)["approved_by"].clone();
            assert!(approved_by.is_null(), "{command:?} by {approved_by}");
        }
        assert_eq!(self.asked.count(), before, "{command:?} was asked for");
    }

    /// Asserts that it does not run without an explicit yes, and gives why not. A yes lets run what was asked for, unless
    /// it is denied whatever anybody says.
    pub(crate) async fn refuses(&self, command: &str) -> DenialReason {
        let before = self.asked.count();
        let refused = bash(&self.nobody, command).await;
        let reason = denial(&refused).reason.clone();
        let outcome = bash(&self.somebody, command).await;
        if reason == DenialReason::NoApprover {
            assert_ran(&self.somebody, command, &outcome);
            assert_eq!(self.asked.count(), before + 1, "{command:?}");
        } else {
            assert_eq!(
                denial(&refused).gate,
                Gate::Permission,
                "{command:?}: {reason:?}"
            );
            assert_eq!(denial(&outcome).gate, Gate::Permission, "{command:?}");
            assert_eq!(self.asked.count(), before, "{command:?} was asked for");
        }
        reason
    }

    /// Asserts that somebody is asked for it: it runs with a yes and not without.
    pub(crate) async fn asks(&self, command: &str) {
        let reason = self.refuses(command).await;
        assert_eq!(reason, DenialReason::NoApprover, "{command:?}");
    }

    /// Asserts that it does not run whatever anybody says, because it cannot be understood while a deny rule exists.
    pub(crate) async fn cannot_decide(&self, command: &str) {
        let reason = self.refuses(command).await;
        assert!(
            matches!(reason, DenialReason::Undecidable { .. }),
            "{command:?}: {reason:?}"
        );
    }

    /// Asserts that this deny rule refuses it, and that nobody is asked.
    pub(crate) async fn denies(&self, command: &str, rule: &str) {
        match self.refuses(command).await {
            DenialReason::Rule { rules } => {
                let matched: Vec<&str> = rules.iter().map(|rule| rule.rule.as_str()).collect();
                assert!(matched.contains(&rule), "{command:?}: {matched:?}");
            }
            other => panic!("{command:?} was not denied by a rule: {other:?}"),
        }
    }
}

/// With the stand-in for `Bash`.
pub(crate) fn with_bash(builder: HostBuilder) -> HostBuilder {
    builder.component("bash.wasm", toolgate_artifacts::BASH.to_vec())
}

/// Calls `Bash`; `/ws` stands for the workspace.
pub(crate) async fn bash(host: &TestHost, command: &str) -> Outcome {
    host.call("Bash", json!({ "command": command })).await
}

/// Asserts that exactly this command was executed.
#[track_caller]
pub(crate) fn assert_ran(host: &TestHost, command: &str, outcome: &Outcome) {
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{command:?}: {:?}",
        outcome.ending
    );
    let expected = format!("ran: {}", host.scratch.mapped(command));
    assert_eq!(outcome.ending.text(), expected);
}
