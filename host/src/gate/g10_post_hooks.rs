//! Gate 10: the operator's hooks after the call.
//!
//! They hear the result and cannot change it. One that fails is noted in the journal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::g08_execute::Ran;
use super::g09_output::Capped;
use super::hook_run;
use super::ports::{HookEvent, PortError, PostHook};
use super::trail::{GateNote, Trail};
use crate::model::{Ending, Gate, HookEventName};

/// A call that is over but for its record.
#[derive(Debug)]
pub(super) struct Finished {
    ran: Ran,
    ending: Ending,
}

impl Finished {
    pub(super) fn into_parts(self) -> (Ran, Ending) {
        (self.ran, self.ending)
    }
}

/// Tells the hooks.
pub(super) async fn run(
    hooks: &[Arc<dyn PostHook>],
    timeout: Duration,
    session: &str,
    workspace: &Path,
    capped: Capped,
    trail: &mut Trail,
) -> Finished {
    let failed = !matches!(capped.ending(), Ending::Done(_));
    let tool = capped.ran().tool.name();
    let wanting: Vec<_> = hooks
        .iter()
        .filter(|hook| hook.wants(tool, failed))
        .collect();
    if wanting.is_empty() {
        trail.note(Gate::PostHooks, GateNote::Passed, "no hook for this tool");
    } else {
        let event = HookEvent {
            hook_event_name: if failed {
                HookEventName::PostToolUseFailure
            } else {
                HookEventName::PostToolUse
            },
            session_id: session.to_owned(),
            cwd: workspace.to_owned(),
            tool_name: Some(tool.clone()),
            tool_use_id: Some(capped.ran().header.id),
            tool_input: Some(Arc::clone(&capped.ran().input)),
            tool_response: Some(capped.ending().text()),
            details: serde_json::Map::new(),
        };
        for hook in wanting {
            let ran = hook_run::bounded(hook.time_limit(), timeout, || hook.run(&event)).await;
            let (note, detail) = match ran {
                Ok(()) => (GateNote::Passed, format!("the hook '{}' ran", hook.name())),
                Err(PortError(what)) => (
                    GateNote::Warned,
                    format!("hook broken: {}, {what}", hook.name()),
                ),
            };
            trail.note(Gate::PostHooks, note, detail);
        }
    }
    let (ran, ending) = capped.into_parts();
    Finished { ran, ending }
}
