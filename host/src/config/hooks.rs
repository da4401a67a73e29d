//! Hook tables to hooks.

use std::collections::BTreeMap;

use toml::Spanned;

use super::ConfigError;
use super::file::{HookEntry, Hooks};
use super::reading::Reading;
use super::settings::{DEFAULT_PROGRAM_TIMEOUT_MS, HookRun, HookSetting, MAX_PROGRAM_TIMEOUT_MS};
use crate::model::HookEventName;

/// The hooks of a file: by event, in the order in which they are written.
pub(super) fn read(reading: &Reading<'_>, hooks: Hooks) -> Result<Vec<HookSetting>, ConfigError> {
    use HookEventName as Event;
    let tables = [
        (Event::PreToolUse, hooks.pre_tool_use),
        (Event::PostToolUse, hooks.post_tool_use),
        (Event::PostToolUseFailure, hooks.post_tool_use_failure),
        (Event::PermissionRequest, hooks.permission_request),
        (Event::SessionStart, hooks.session_start),
        (Event::SessionEnd, hooks.session_end),
        (Event::Stop, hooks.stop),
        (Event::UserPromptSubmit, hooks.user_prompt_submit),
        (Event::SubagentStart, hooks.subagent_start),
    ];
    tables
        .into_iter()
        .flat_map(|(event, entries)| entries.into_iter().map(move |entry| (event, entry)))
        .map(|(event, entry)| hook(reading, event, entry))
        .collect()
}

fn hook(
    reading: &Reading<'_>,
    event: HookEventName,
    entry: Spanned<HookEntry>,
) -> Result<HookSetting, ConfigError> {
    let at = entry.span().start;
    let entry = entry.into_inner();
    let run = match (entry.command, entry.component) {
        (Some(command), None) => HookRun::Command {
            command: reading.command(command)?.value,
            format: entry.format.map(Spanned::into_inner).unwrap_or_default(),
        },
        (None, Some(component)) => match entry.format {
            None => HookRun::Component {
                file: reading.placed(component)?.value,
            },
            Some(format) => {
                let what =
                    "'format' belongs to a hook with a 'command': a component's reply is typed";
                return Err(reading.wrong(format.span().start, what));
            }
        },
        (Some(_), Some(component)) => {
            let what = "a hook has either a 'command' or a 'component', not both";
            return Err(reading.wrong(component.span().start, what));
        }
        (None, None) => {
            let what = "this hook runs nothing: it needs a 'command' or a 'component'";
            return Err(reading.wrong(at, what));
        }
    };
    let tools = match entry.tools {
        Some(tools) if !event.has_tool() => {
            let what = format!("the event {event} belongs to no tool: leave 'tools' out");
            return Err(reading.wrong(tools.span().start, what));
        }
        Some(tools) if tools.get_ref().is_empty() => {
            let what =
                "'tools' is empty, so that the hook is for no tool: leave it out for all tools";
            return Err(reading.wrong(tools.span().start, what));
        }
        Some(tools) => tools.into_inner(),
        None => Vec::new(),
    };
    Ok(HookSetting {
        event,
        run,
        tools,
        timeout_ms: match entry.timeout_ms {
            Some(given) => timeout(reading, "timeout_ms", &given)?,
            None => DEFAULT_PROGRAM_TIMEOUT_MS,
        },
        source: reading.source(at),
        bound: BTreeMap::new(),
    })
}

/// A time that a program may take. Out of range is an error: a clamp would promise what is not kept.
pub(super) fn timeout(
    reading: &Reading<'_>,
    key: &str,
    given: &Spanned<u64>,
) -> Result<u64, ConfigError> {
    let millis = *given.get_ref();
    if (1..=MAX_PROGRAM_TIMEOUT_MS).contains(&millis) {
        return Ok(millis);
    }
    Err(reading.wrong(
        given.span().start,
        format!("'{key}' is {millis}, but must be from 1 to {MAX_PROGRAM_TIMEOUT_MS}"),
    ))
}
