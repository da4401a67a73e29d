//! Component hooks: the typed event of the world `hook-guest`, each in an instance of its own.
//!
//! A reply is taken whole or not at all: an input that is not one JSON object within the limits of gate 1 is a broken
//! hook.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{MAX_MESSAGE, after, hears};
use crate::gate::{
    EventHook, HookEvent, HookEventName, HookReply, PortError, PostHook, PreHook, parse_object,
};
use crate::model::{Fuel, ToolName};
use crate::runtime::{HookBounds, HookComponent, event as wit};

/// A component of the operator.
///
/// One value serves all of its events: it wants to hear of a call as [`PreHook`], [`PostHook`] or [`EventHook`] only
/// where the event is among those that it was made for.
#[derive(Clone, Debug)]
pub struct ComponentHook {
    name: String,
    component: HookComponent,
    events: Vec<HookEventName>,
    tools: Vec<ToolName>,
    bounds: HookBounds,
}

impl ComponentHook {
    /// A hook on these events, for some tools (none: all). An event may take as long as `timeout`, and as much fuel as a
    /// call by default. For people it is named by its file and the beginning of its digest.
    pub fn new(
        file: &Path,
        component: HookComponent,
        events: Vec<HookEventName>,
        tools: Vec<ToolName>,
        timeout: Duration,
    ) -> Self {
        let file = file.file_name().unwrap_or(file.as_os_str());
        let digest: String = component.digest().chars().take(12).collect();
        Self {
            name: format!("{} ({digest})", file.display()),
            component,
            events,
            tools,
            bounds: HookBounds {
                time: timeout,
                fuel: Fuel::default(),
            },
        }
    }

    /// With another budget of instructions for each event.
    #[must_use]
    pub fn fuel(mut self, fuel: Fuel) -> Self {
        self.bounds.fuel = fuel;
        self
    }

    async fn tell(&self, event: &HookEvent) -> Result<wit::Reply, PortError> {
        let ran = self.component.handle(&told(event)?, self.bounds).await;
        for line in &ran.log {
            // A guest's line is shown escaped.
            tracing::debug!(hook = %self.name, ?line, "hook log");
        }
        ran.reply.map_err(|fault| PortError(fault.to_string()))
    }
}

/// The event in the contract's types.
fn told(event: &HookEvent) -> Result<wit::Event, PortError> {
    let name = match serde_json::to_value(event.hook_event_name) {
        Ok(Value::String(name)) => name,
        Ok(_) | Err(_) => return Err(PortError("the event has no name".to_owned())),
    };
    let cwd = event.cwd.to_str().ok_or_else(|| {
        PortError("the workspace's path is not UTF-8, so it cannot be told".to_owned())
    })?;
    let input = event.tool_input.as_deref().map(serde_json::to_string);
    let input = input
        .transpose()
        .map_err(|error| PortError(format!("the input cannot be written as JSON: {error}")))?;
    let details = event
        .details
        .iter()
        .map(|(key, value)| (key.clone(), value.to_string()));
    Ok(wit::Event {
        name,
        session: event.session_id.clone(),
        cwd: cwd.to_owned(),
        tool: event.tool_name.as_ref().map(ToString::to_string),
        tool_use_id: event.tool_use_id.map(|id| id.to_string()),
        input,
        response: event.tool_response.clone(),
        details: details.collect(),
    })
}

/// The reply in ours.
fn heard(reply: wit::Reply) -> Result<HookReply, PortError> {
    Ok(match reply {
        wit::Reply::Nothing => HookReply::Nothing,
        wit::Reply::Deny(message) => HookReply::Deny {
            message: short(&message),
        },
        wit::Reply::Ask(wit::Question { message, input }) => HookReply::Ask {
            message: short(&message),
            input: input.as_deref().map(object).transpose()?,
        },
        wit::Reply::Rewrite(input) => HookReply::Rewrite {
            input: object(&input)?,
        },
    })
}

fn object(input: &str) -> Result<Map<String, Value>, PortError> {
    parse_object(input.as_bytes())
        .map_err(|what| PortError(format!("replied with an input that is none: {what}")))
}

fn short(message: &str) -> String {
    let message = message.trim();
    match message {
        "" => "no reason given".to_owned(),
        message => message.chars().take(MAX_MESSAGE).collect(),
    }
}

#[async_trait]
impl PreHook for ComponentHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, tool: &ToolName) -> bool {
        EventHook::wants(self, HookEventName::PreToolUse, Some(tool))
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.bounds.time)
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        heard(self.tell(event).await?)
    }
}

#[async_trait]
impl PostHook for ComponentHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, tool: &ToolName, failed: bool) -> bool {
        EventHook::wants(self, after(failed), Some(tool))
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.bounds.time)
    }

    /// What it replies after a call changes nothing.
    async fn run(&self, event: &HookEvent) -> Result<(), PortError> {
        self.tell(event).await.map(|_reply| ())
    }
}

#[async_trait]
impl EventHook for ComponentHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants(&self, event: HookEventName, tool: Option<&ToolName>) -> bool {
        hears(&self.events, &self.tools, event, tool)
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.bounds.time)
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        heard(self.tell(event).await?)
    }
}
