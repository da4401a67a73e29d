//! What hooks hear of, and in which words they answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a hook program's reply is written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum HookFormat {
    /// Toolgate's own.
    #[default]
    Toolgate,
    /// That of the settings which `toolgate config import claude` reads.
    Claude,
}

/// An event that hooks are run on. Its word is the variant's name, as agents' users know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HookEventName {
    /// A call passed the gates before the hooks.
    PreToolUse,
    /// A call did what it was asked.
    PostToolUse,
    /// A call did not.
    PostToolUseFailure,
    /// Somebody is about to be asked for approval.
    PermissionRequest,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The agent is about to stop.
    Stop,
    /// A person sent a prompt.
    UserPromptSubmit,
    /// The agent is about to start another one.
    SubagentStart,
}

impl HookEventName {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PermissionRequest,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Stop,
        Self::UserPromptSubmit,
        Self::SubagentStart,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PermissionRequest => "PermissionRequest",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SubagentStart => "SubagentStart",
        }
    }

    /// Whether the event belongs to a call, so that a hook can be for some tools only.
    pub fn has_tool(self) -> bool {
        match self {
            Self::PreToolUse
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::PermissionRequest => true,
            Self::SessionStart
            | Self::SessionEnd
            | Self::Stop
            | Self::UserPromptSubmit
            | Self::SubagentStart => false,
        }
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_ones_that_are_serialised() {
        for event in HookEventName::ALL {
            let word = serde_json::to_value(event).unwrap();
            assert_eq!(word, event.as_str());
            assert_eq!(
                serde_json::from_value::<HookEventName>(word).unwrap(),
                event
            );
        }
    }
}
