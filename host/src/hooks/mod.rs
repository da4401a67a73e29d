//! Hooks: the operator's own programs and components around a call, and on events that are no tool use.
//!
//! Owns what a program or a component is told and what it may answer. Never contains how a program is run, or what a reply
//! means for the call: that is the gates'.

mod command;
mod component;
mod reply;

pub use command::{CommandHook, HookError};
pub use component::ComponentHook;
#[cfg(test)]
pub(crate) use reply::in_both_formats;

use crate::gate::HookEventName;
use crate::model::ToolName;

/// The longest text of a refusal or a question that is kept, characters.
const MAX_MESSAGE: usize = 2_000;

/// Whether a hook on these events, for these tools (none: all), wants to hear of an event. One without a tool is heard
/// whatever the tools.
fn hears(
    events: &[HookEventName],
    tools: &[ToolName],
    event: HookEventName,
    tool: Option<&ToolName>,
) -> bool {
    let of_its_tools = |tool| tools.is_empty() || tools.contains(tool);
    events.contains(&event) && tool.is_none_or(of_its_tools)
}

/// The event after a call.
fn after(failed: bool) -> HookEventName {
    if failed {
        HookEventName::PostToolUseFailure
    } else {
        HookEventName::PostToolUse
    }
}
