//! Gate 6: the operator's hooks before the call.
//!
//! In configured order; the first that denies stops; a rewrite is seen by the next, and sends the call back to gate 3. A
//! hook that is missing, hangs, crashes, panics or prints what cannot be read denies. There is no reply that allows.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::{Map, Value};

use super::g02_resolve::Resolved;
use super::g05_schema::Validated;
use super::ports::{HookEvent, HookReply, PortError, PreHook};
use super::trail::{GateNote, Trail};
use crate::model::{Denial, DenialReason, Gate};
use crate::policy::Roots;

/// A call that every hook let pass.
#[derive(Debug)]
pub(super) struct Hooked {
    call: Validated,
    ask: Option<String>,
}

impl Hooked {
    pub(super) fn validated(&self) -> &Validated {
        &self.call
    }

    /// A hook wants somebody to be asked, for this reason.
    pub(super) fn ask(&self) -> Option<&str> {
        self.ask.as_deref()
    }
}

/// What the hooks came to.
pub(super) enum PreHooked {
    /// On to gate 7.
    Pass(Hooked),
    /// Back to gate 3, with who rewrote it.
    Rewritten(Resolved, String),
}

/// The hooks and what they are told.
#[derive(Debug)]
pub(super) struct PreHooks {
    pub(super) hooks: Vec<Arc<dyn PreHook>>,
    pub(super) session: String,
    pub(super) roots: Arc<Roots>,
}

/// Runs the hooks.
pub(super) async fn run(hooks: &PreHooks, call: Validated, trail: &mut Trail) -> Result<PreHooked, Denial> {
    let normalised = call.permitted().call();
    let tool = normalised.tool();
    let wanting: Vec<_> = hooks.hooks.iter().filter(|hook| hook.wants(tool.name())).collect();
    if wanting.is_empty() {
        trail.note(Gate::PreHooks, GateNote::Passed, "no hook for this tool");
        return Ok(PreHooked::Pass(Hooked { call, ask: None }));
    }
    let mut event = HookEvent {
        hook_event_name: "PreToolUse",
        session_id: hooks.session.clone(),
        cwd: hooks.roots.workspace().to_owned(),
        tool_name: tool.name().clone(),
        tool_input: normalised.input().as_ref().clone(),
        tool_response: None,
    };
    let mut ask = None;
    let mut rewriter = None;
    for hook in &wanting {
        let new_input = match reply(hook.as_ref(), &event).await? {
            HookReply::Nothing => None,
            HookReply::Deny { message } => {
                let hook = hook.name().to_owned();
                return Err(Denial::new(Gate::PreHooks, DenialReason::HookDenied { hook, message }));
            }
            HookReply::Ask { message, input } => {
                ask.get_or_insert(format!("the hook '{}' asks: {message}", hook.name()));
                input
            }
            HookReply::Rewrite { input } => Some(input),
        };
        rewriter = take_rewrite(&mut event.tool_input, new_input, hook.name()).or(rewriter);
    }
    match rewriter {
        Some(hook) => {
            trail.note(Gate::PreHooks, GateNote::Changed, format!("the hook '{hook}' rewrote the input"));
            let header = normalised.header().clone();
            let resolved = Resolved::rewritten(header, Arc::clone(tool), event.tool_input);
            Ok(PreHooked::Rewritten(resolved, hook))
        }
        None => {
            trail.note(Gate::PreHooks, GateNote::Passed, format!("{} hooks ran", wanting.len()));
            Ok(PreHooked::Pass(Hooked { call, ask }))
        }
    }
}

/// Puts a new input in place of the old; the hook's name if it was another one.
fn take_rewrite(
    old: &mut Map<String, Value>,
    new: Option<Map<String, Value>>,
    hook: &str,
) -> Option<String> {
    let new = new.filter(|new| new != old)?;
    *old = new;
    Some(hook.to_owned())
}

async fn reply(hook: &dyn PreHook, event: &HookEvent) -> Result<HookReply, Denial> {
    let ran = AssertUnwindSafe(hook.run(event)).catch_unwind().await;
    let broken = match ran {
        Ok(Ok(reply)) => return Ok(reply),
        Ok(Err(PortError(what))) => what,
        Err(_) => "it panicked".to_owned(),
    };
    let hook = hook.name().to_owned();
    Err(Denial::new(Gate::PreHooks, DenialReason::HookBroken { hook, what: broken }))
}
