//! Command hooks: a program that reads the event as JSON on stdin.
//!
//! Exit 0: the reply is on stdout. Exit 2: a refusal, its reason on stderr. Anything else is a broken hook, and so is a
//! program that leaves another one behind at its stdout, or one that is not what was trusted.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::reply;
use super::{MAX_MESSAGE, after, hears};
use crate::gate::{EventHook, HookEvent, HookEventName, HookReply, PortError, PostHook, PreHook};
use crate::model::{HookFormat, ToolName};
use crate::program::{Program, ProgramError, Ran};

/// The most characters of a broken program's complaint that are kept: its end.
const MAX_COMPLAINT: usize = 500;

/// A program of the operator.
#[derive(Clone, Debug)]
pub struct CommandHook {
    program: Program,
    format: HookFormat,
    events: Vec<HookEventName>,
    tools: Vec<ToolName>,
    timeout: Duration,
    check: Option<Check>,
    place: Option<String>,
}

/// What must hold before each run; else what is wrong, for people.
#[derive(Clone)]
struct Check(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
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
            format: HookFormat::default(),
            events,
            tools,
            timeout,
            check: None,
            place: None,
        })
    }

    /// With something that must hold before each run, such as that the program is still what was trusted. It may take
    /// its time; where it does not hold, the hook is broken.
    #[must_use]
    pub fn checked_by(
        mut self,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Check(Arc::new(check)));
        self
    }

    /// With where it is configured, for the message when it is broken.
    #[must_use]
    pub fn standing_at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// The same with a program that answers in these words.
    #[must_use]
    pub fn answering_in(mut self, format: HookFormat) -> Self {
        self.format = format;
        self
    }

    async fn call(&self, event: &HookEvent) -> Result<Ran, PortError> {
        let input = serde_json::to_vec(event).map_err(|error| self.broken(&error.to_string()))?;
        if let Some(Check(check)) = self.check.clone() {
            let judged = tokio::task::spawn_blocking(move || check()).await;
            judged
                .map_err(|error| self.broken(&error.to_string()))?
                .map_err(|what| self.broken(&what))?;
        }
        let ran = self.program.run(input, self.timeout).await;
        ran.map_err(|error| self.broken(&error.to_string()))
    }

    /// What is wrong, and where the hook is configured.
    fn broken(&self, what: &str) -> PortError {
        match &self.place {
            Some(place) => PortError(format!("{what} (configured in {place})")),
            None => PortError(what.to_owned()),
        }
    }

    /// A program that ended in another way than hooks do: how, and the end of what it complained of.
    fn ended_badly(&self, ran: &Ran) -> PortError {
        let said = ran.stderr.trim();
        let skip = said.chars().count().saturating_sub(MAX_COMPLAINT);
        let end: String = said.chars().skip(skip).collect();
        match end.as_str() {
            "" => self.broken(&format!("ended with {}", ran.status)),
            end => self.broken(&format!("ended with {}, and said: {end}", ran.status)),
        }
    }

    fn reply(&self, printed: &str) -> Result<HookReply, PortError> {
        let reply = match self.format {
            HookFormat::Toolgate => reply::parse(printed),
            HookFormat::Claude => reply::parse_claude(printed),
        };
        reply.map_err(|PortError(what)| self.broken(&what))
    }
}

/// The reason of a refusal.
fn reason(stderr: &str) -> String {
    match stderr.trim() {
        "" => "no reason given".to_owned(),
        said => said.chars().take(MAX_MESSAGE).collect(),
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
            Some(0) => self.reply(&ran.stdout),
            Some(2) => Ok(HookReply::Deny {
                message: reason(&ran.stderr),
            }),
            _ => Err(self.ended_badly(&ran)),
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
            _ => Err(self.ended_badly(&ran)),
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
