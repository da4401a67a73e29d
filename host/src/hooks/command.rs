//! Command hooks: a program that reads the event as JSON on stdin.
//!
//! Exit 0: the reply is on stdout. Exit 2: a refusal, its reason on stderr. Anything else is a broken hook.

use std::time::Duration;

use async_trait::async_trait;

use super::reply;
use super::{after, hears};
use crate::gate::{EventHook, HookEvent, HookEventName, HookReply, PortError, PostHook, PreHook};
use crate::model::ToolName;
use crate::program::{Program, ProgramError, Ran};

/// In which words a program answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyFormat {
    /// `{"decision": "deny" | "ask", "reason": …, "input": …}`; no output says nothing.
    #[default]
    Toolgate,
    /// The words of Claude Code's hooks; what allows there says nothing here.
    Claude,
}

/// A program of the operator.
#[derive(Clone, Debug)]
pub struct CommandHook {
    program: Program,
    format: ReplyFormat,
    events: Vec<HookEventName>,
    tools: Vec<ToolName>,
    timeout: Duration,
}

/// Why a hook cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// No program.
    #[error("a hook's command is empty")]
    Empty,
    /// The program is not there.
    #[error("the hook '{0}' cannot run: there is no such program, or it may not be executed")]
    Missing(String),
}

impl From<ProgramError> for HookError {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Empty => Self::Empty,
            ProgramError::Missing(program) => Self::Missing(program),
        }
    }
}

impl CommandHook {
    /// A hook on these events, for some tools (none: all). A run may take as long as `timeout`.
    ///
    /// # Errors
    /// The command is empty, or its program is not found here and now.
    pub fn new(
        command: &[String],
        events: Vec<HookEventName>,
        tools: Vec<ToolName>,
        timeout: Duration,
    ) -> Result<Self, HookError> {
        Ok(Self {
            program: Program::find(command)?,
            format: ReplyFormat::default(),
            events,
            tools,
            timeout,
        })
    }

    /// The same with a program that answers in these words.
    #[must_use]
    pub fn answering_in(mut self, format: ReplyFormat) -> Self {
        self.format = format;
        self
    }

    async fn call(&self, event: &HookEvent) -> Result<Ran, PortError> {
        let input = serde_json::to_vec(event).map_err(|error| PortError(error.to_string()))?;
        self.program
            .run(input, self.timeout)
            .await
            .map_err(|error| PortError(error.to_string()))
    }
}

#[async_trait]
impl PreHook for CommandHook {
    fn name(&self) -> &str {
        self.program.name()
    }

    fn wants(&self, tool: &ToolName) -> bool {
        EventHook::wants(self, HookEventName::PreToolUse, Some(tool))
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        let ran = self.call(event).await?;
        match ran.status.code() {
            Some(0) => match self.format {
                ReplyFormat::Toolgate => reply::parse(&ran.stdout),
                ReplyFormat::Claude => reply::parse_claude(&ran.stdout),
            },
            Some(2) => Ok(HookReply::Deny {
                message: ran.stderr.trim().chars().take(2_000).collect(),
            }),
            _ => Err(PortError(format!("ended with {}", ran.status))),
        }
    }
}

#[async_trait]
impl PostHook for CommandHook {
    fn name(&self) -> &str {
        self.program.name()
    }

    fn wants(&self, tool: &ToolName, failed: bool) -> bool {
        EventHook::wants(self, after(failed), Some(tool))
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    async fn run(&self, event: &HookEvent) -> Result<(), PortError> {
        let ran = self.call(event).await?;
        match ran.status.code() {
            Some(0) => Ok(()),
            _ => Err(PortError(format!("ended with {}", ran.status))),
        }
    }
}

#[async_trait]
impl EventHook for CommandHook {
    fn name(&self) -> &str {
        self.program.name()
    }

    fn wants(&self, event: HookEventName, tool: Option<&ToolName>) -> bool {
        hears(&self.events, &self.tools, event, tool)
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    async fn run(&self, event: &HookEvent) -> Result<HookReply, PortError> {
        PreHook::run(self, event).await
    }
}
