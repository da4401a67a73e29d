//! Hooks and approvers of the test's own, hooks as shell scripts, and hosts with them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolgate::config::{HookRun, HookSetting};
use toolgate::gate::{Answer, ApprovalRequest, Approver, HookEvent, HookReply, PortError, PreHook};
use toolgate::model::{Denial, Ending, HookEventName, Outcome, ToolName};
use toolgate_tests::{Scratch, Setup, TestHost};

/// Longer than anything here takes. Whoever waits so long waits for ever.
pub const CEILING: Duration = Duration::from_secs(180);

/// A hook that gives the same reply to everything, and keeps what it was told.
#[derive(Clone, Debug)]
pub struct Replying {
    name: &'static str,
    reply: HookReply,
    told: Arc<Mutex<Vec<HookEvent>>>,
}

impl Replying {
    /// A hook with this reply.
    pub fn new(name: &'static str, reply: HookReply) -> Self {
        Self {
            name,
            reply,
            told: Arc::default(),
        }
    }

    /// A hook that refuses.
    pub fn denying() -> Self {
        let message = "refused by the test".to_owned();
        Self::new("denying", HookReply::Deny { message })
    }

    /// The inputs that it was told of.
    pub fn inputs(&self) -> Vec<Value> {
        let told = self.told.lock().expect("not poisoned");
        told.iter().map(|event| json!(event.tool_input)).collect()
    }
}

#[async_trait]
impl PreHook for Replying {
    fn name(&self) -> &str {
        self.name
    }

    fn wants(&self, _tool: &ToolName) -> bool {
        true
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        self.told.lock().expect("not poisoned").push(event.clone());
        Ok(self.reply.clone())
    }
}

/// Says yes, and keeps what it was asked.
#[derive(Clone, Debug, Default)]
pub struct Yes {
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Yes {
    /// What it was asked.
    pub fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

#[async_trait]
impl Approver for Yes {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        self.asked
            .lock()
            .expect("not poisoned")
            .push(request.clone());
        Answer::Approved {
            by: "the test".to_owned(),
            always: false,
        }
    }
}

/// A hook script beside the workspace, as a command. `$HERE` in it is the folder of the scripts.
pub fn script(scratch: &Scratch, name: &str, text: &str) -> HookSetting {
    let path = here(scratch).join(name);
    let text = format!("HERE='{}'\n{text}\n", here(scratch).display());
    std::fs::write(&path, text).expect("a script");
    let command = vec![
        "/bin/sh".to_owned(),
        path.to_str().expect("UTF-8").to_owned(),
    ];
    HookSetting {
        timeout_ms: 60_000,
        ..HookSetting::new(HookEventName::PreToolUse, HookRun::command(command))
    }
}

/// The folder of the scripts.
pub fn here(scratch: &Scratch) -> PathBuf {
    scratch.outside.clone()
}

/// What a hook is called in messages.
pub fn name_of(hook: &HookSetting) -> String {
    hook.run.words()
}

/// A host with Echo and these hooks before its calls; nobody can approve anything.
pub async fn hooked(scratch: Scratch, hooks: &[HookSetting]) -> TestHost {
    let mut setup = Setup::default();
    setup.config.hooks = hooks.to_vec();
    with_echo(scratch, setup).await
}

/// A host with Echo.
pub async fn with_echo(scratch: Scratch, setup: Setup) -> TestHost {
    TestHost::with(scratch, setup, |builder| {
        builder.component("echo", toolgate_artifacts::ECHO.to_vec())
    })
    .await
}

/// A host with Echo and one script before its calls.
pub async fn with_script(text: &str) -> (TestHost, String) {
    let scratch = Scratch::new();
    let hook = script(&scratch, "hook.sh", text);
    let name = name_of(&hook);
    (hooked(scratch, &[hook]).await, name)
}

/// Calls Echo, which must come to an end and leave one record.
pub async fn echo(host: &TestHost, text: &str) -> Outcome {
    let before = host.journal.records().len();
    let call = host.call("Echo", json!({ "text": text }));
    let outcome = tokio::time::timeout(CEILING, call)
        .await
        .expect("the call ends");
    let records = host.journal.records();
    assert_eq!(records.len(), before + 1, "one record");
    assert_eq!(records[before]["call"], outcome.id.to_string());
    assert_eq!(records[before]["ending"], outcome.ending.word());
    outcome
}

/// The denial that ended a call.
pub fn denial(outcome: &Outcome) -> &Denial {
    match &outcome.ending {
        Ending::Denied(denial) => denial,
        other => panic!("not denied: {other:?}"),
    }
}

/// The text of a call that was done.
pub fn done(outcome: &Outcome) -> String {
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    outcome.ending.text()
}

/// The last record.
pub fn last_record(host: &TestHost) -> Value {
    host.journal.records().pop().expect("a record")
}

/// What one gate said in a record: note and detail of each step.
pub fn steps(record: &Value, gate: &str) -> Vec<(String, String)> {
    let text = |step: &Value, key: &str| step[key].as_str().expect("text").to_owned();
    let steps = record["gates"].as_array().expect("steps").iter();
    steps
        .filter(|step| step["gate"] == gate)
        .map(|step| (text(step, "note"), text(step, "detail")))
        .collect()
}

/// The content of a file that a script wrote, as JSON.
pub fn written(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the script wrote it");
    serde_json::from_str(&text).expect("JSON")
}
