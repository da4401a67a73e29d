//! Hooks as Rust: one that hangs is ended, before a call as after it.

use std::time::Duration;

use async_trait::async_trait;
use toolgate::HostBuilder;
use toolgate::gate::{HookEvent, HookReply, PortError, PostHook, PreHook};
use toolgate::model::{DenialReason, Gate, ToolName};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{denial, done, echo, last_record, steps};

/// Waits for what never comes, unless it is told to go on.
#[derive(Debug)]
struct Hangs {
    limit: Option<Duration>,
}

#[async_trait]
impl PreHook for Hangs {
    fn name(&self) -> &str {
        "hanging"
    }

    fn wants(&self, _tool: &ToolName) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        self.limit
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        match event
            .tool_input
            .as_ref()
            .and_then(|input| input["text"].as_str())
        {
            Some("quick") => {}
            Some("slow") => tokio::time::sleep(Duration::from_millis(300)).await,
            _ => std::future::pending().await,
        }
        Ok(HookReply::Nothing)
    }
}

#[async_trait]
impl PostHook for Hangs {
    fn name(&self) -> &str {
        "hanging"
    }

    fn wants(&self, _tool: &ToolName, _failed: bool) -> bool {
        true
    }

    async fn run(&self, event: &HookEvent) -> Result<(), PortError> {
        assert!(event.tool_use_id.is_some(), "it hears which call it was");
        std::future::pending().await
    }
}

async fn host(more: impl FnOnce(HostBuilder) -> HostBuilder) -> TestHost {
    TestHost::with(Scratch::new(), Setup::default(), |builder| {
        let builder = builder.component("echo", toolgate_artifacts::ECHO.to_vec());
        more(builder.hook_timeout(Duration::from_millis(100)))
    })
    .await
}

#[tokio::test]
async fn a_hook_that_hangs_denies_with_its_limit() {
    let host = host(|builder| builder.pre_hook(Hangs { limit: None })).await;
    for text in ["for ever", "slow"] {
        let outcome = echo(&host, text).await;
        let refused = denial(&outcome);
        assert_eq!(refused.gate, Gate::PreHooks);
        let (hook, what) = ("hanging".to_owned(), "took more than 100 ms".to_owned());
        assert_eq!(refused.reason, DenialReason::HookBroken { hook, what });
    }
    assert_eq!(done(&echo(&host, "quick").await), "quick");
}

/// A hook that keeps to a limit of its own is not cut short by the host's.
#[tokio::test]
async fn a_hook_may_name_a_limit_of_its_own() {
    let limit = Some(Duration::from_secs(60));
    let host = host(|builder| builder.pre_hook(Hangs { limit })).await;
    assert_eq!(done(&echo(&host, "slow").await), "slow");
}

#[tokio::test]
async fn a_hook_that_hangs_afterwards_is_noted_and_changes_nothing() {
    let host = host(|builder| builder.post_hook(Hangs { limit: None })).await;
    assert_eq!(done(&echo(&host, "the result").await), "the result");
    let said = steps(&last_record(&host), "post-hooks");
    let what = "hook broken: hanging, took more than 100 ms";
    assert_eq!(said, [("warned".to_owned(), what.to_owned())]);
}
