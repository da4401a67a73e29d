//! Events of a session that an embedding agent raises: hooks hear of them and may deny.

use serde_json::{Map, Value};

use crate::model::HookEventName;

/// What happened in a session, beside tool calls.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// It begins.
    Start {
        /// `startup`, `resume` or a word of the agent's own.
        source: String,
    },
    /// It ends.
    End {
        /// Why.
        reason: String,
    },
    /// The agent is about to stop working. A denial asks it to go on.
    Stop,
    /// A person sent a prompt. A denial keeps it from the model.
    UserPrompt {
        /// The prompt.
        prompt: String,
    },
    /// The agent is about to start another one. A denial keeps it from starting.
    SubagentStart {
        /// What kind of agent.
        agent_type: String,
    },
}

impl SessionEvent {
    /// The name that hooks are configured with.
    pub fn name(&self) -> HookEventName {
        match self {
            Self::Start { .. } => HookEventName::SessionStart,
            Self::End { .. } => HookEventName::SessionEnd,
            Self::Stop => HookEventName::Stop,
            Self::UserPrompt { .. } => HookEventName::UserPromptSubmit,
            Self::SubagentStart { .. } => HookEventName::SubagentStart,
        }
    }

    pub(super) fn details(self) -> Map<String, Value> {
        let pair = match self {
            Self::Start { source } => Some(("source", source)),
            Self::End { reason } => Some(("reason", reason)),
            Self::Stop => None,
            Self::UserPrompt { prompt } => Some(("prompt", prompt)),
            Self::SubagentStart { agent_type } => Some(("agent_type", agent_type)),
        };
        pair.into_iter()
            .map(|(key, value)| (key.to_owned(), Value::from(value)))
            .collect()
    }
}
