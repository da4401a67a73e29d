//! Gate 6: the operator's hooks before the call.
//!
//! In configured order; the first that denies stops; a rewrite is seen by the next, and sends the call back to gate 3. A
//! hook that is missing, hangs, crashes, panics or prints what cannot be read denies. There is no reply that allows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::g02_resolve::Resolved;
use super::g05_schema::Validated;
use super::hook_run;
use super::ports::{HookEvent, HookReply, PortError, PreHook};
use super::trail::{GateNote, Trail};
use crate::model::{Denial, DenialReason, Gate, HookEventName};
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
    /// Back to gate 3.
    Rewritten {
        /// The call with its new input.
        call: Resolved,
        /// Who rewrote it.
        hook: String,
        /// A hook wants somebody to be asked all the same.
        ask: Option<String>,
    },
}

/// The hooks and what they are told.
#[derive(Debug)]
pub(super) struct PreHooks {
    pub(super) hooks: Vec<Arc<dyn PreHook>>,
    pub(super) timeout: Duration,
    pub(super) session: String,
    pub(super) roots: Arc<Roots>,
}

/// Runs the hooks. `asked`: what a hook wanted in an earlier round.
pub(super) async fn run(
    hooks: &PreHooks,
    call: Validated,
    asked: Option<String>,
    trail: &mut Trail,
) -> Result<PreHooked, Denial> {
    let normalised = call.permitted().call();
    let tool = normalised.tool();
    let mut event = HookEvent {
        hook_event_name: HookEventName::PreToolUse,
        session_id: hooks.session.clone(),
        cwd: hooks.roots.workspace().to_owned(),
        tool_name: Some(tool.name().clone()),
        tool_use_id: Some(normalised.header().id),
        tool_input: Some(Arc::clone(normalised.input())),
        tool_response: None,
        details: Map::new(),
    };
    let mut input = Arc::clone(normalised.input());
    let mut ask = asked;
    let mut rewriter = None;
    let mut ran = 0;
    for hook in &hooks.hooks {
        if !hook.wants(tool.name()) {
            continue;
        }
        ran += 1;
        let new_input = match reply(hook.as_ref(), hooks.timeout, &event).await? {
            HookReply::Nothing => None,
            HookReply::Deny { message } => {
                let hook = hook.name().to_owned();
                let reason = DenialReason::HookDenied { hook, message };
                return Err(Denial::new(Gate::PreHooks, reason));
            }
            HookReply::Ask { message, input } => {
                ask.get_or_insert(format!("the hook '{}' asks: {message}", hook.name()));
                input
            }
            HookReply::Rewrite { input } => Some(input),
        };
        rewriter = take_rewrite(&mut input, new_input, hook.name()).or(rewriter);
        event.tool_input = Some(Arc::clone(&input));
    }
    let Some(hook) = rewriter else {
        trail.note(Gate::PreHooks, GateNote::Passed, format!("{ran} hooks ran"));
        return Ok(PreHooked::Pass(Hooked { call, ask }));
    };
    let what = format!("the hook '{hook}' rewrote the input");
    trail.note(Gate::PreHooks, GateNote::Changed, what);
    trail.rewritten(&input);
    drop(event);
    let input = Arc::unwrap_or_clone(input);
    let call = Resolved::rewritten(normalised.header().clone(), Arc::clone(tool), input);
    Ok(PreHooked::Rewritten { call, hook, ask })
}

/// Puts a new input in place of the old; the hook's name if it was another one.
fn take_rewrite(
    old: &mut Arc<Map<String, Value>>,
    new: Option<Map<String, Value>>,
    hook: &str,
) -> Option<String> {
    let new = new.filter(|new| new != old.as_ref())?;
    *old = Arc::new(new);
    Some(hook.to_owned())
}

async fn reply(
    hook: &dyn PreHook,
    timeout: Duration,
    event: &HookEvent,
) -> Result<HookReply, Denial> {
    hook_run::bounded(hook.time_limit(), timeout, || hook.run(event))
        .await
        .map_err(|PortError(what)| {
            let hook = hook.name().to_owned();
            Denial::new(Gate::PreHooks, DenialReason::HookBroken { hook, what })
        })
}
