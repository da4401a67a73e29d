//! Hooks: components of an operator that hear of events and may take power away. An author writes one function;
//! [`hook!`](crate::hook!) makes a component of it.
//!
//! A hook is told what happened and says nothing, denies, asks, or rewrites the input. It cannot allow. Each event runs
//! in a fresh instance that reaches nothing: no files, no network, no environment.

use serde_json::{Map, Value};

/// What happened.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Event {
    /// `PreToolUse`, `PostToolUse`, `PostToolUseFailure`, `PermissionRequest`, `SessionStart`, `SessionEnd`, `Stop`,
    /// `UserPromptSubmit`, `SubagentStart`, or one that this crate does not know yet.
    pub name: String,
    /// The session.
    pub session: String,
    /// The workspace root. A name only: a hook sees no files.
    pub cwd: String,
    /// The tool, for events of a call.
    pub tool: Option<String>,
    /// The call's id, for events of a call.
    pub tool_use_id: Option<String>,
    /// The input of the call, as it would run.
    pub input: Option<Map<String, Value>>,
    /// What the model is told, after the call.
    pub response: Option<String>,
    /// What else belongs to the event, such as `prompt` or `reason`.
    pub details: Map<String, Value>,
}

impl Event {
    /// A field of the input that is a string.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.input.as_ref()?.get(field)?.as_str()
    }
}

/// What a hook says. There is no way to allow.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Nothing: the decision stays where it is.
    Nothing,
    /// Do not do it, for this reason. The model reads the reason.
    Deny(String),
    /// Ask somebody first. Before a call only.
    Ask {
        /// Why, for the person who answers.
        message: String,
        /// An input that takes the place of the call's.
        input: Option<Map<String, Value>>,
    },
    /// Do it with another input, which is judged like any. Before a call only.
    Rewrite(Map<String, Value>),
}

impl Reply {
    /// A refusal.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(reason.into())
    }

    /// A question about the call as it is.
    #[must_use]
    pub fn ask(message: impl Into<String>) -> Self {
        Self::Ask {
            message: message.into(),
            input: None,
        }
    }
}

/// Makes a component of a function `fn(&Event, &Context) -> Reply`: `toolgate_guest::hook!(guard);`, once in a crate of
/// type `cdylib`.
///
/// It exports on WebAssembly targets only, so the same crate builds and tests natively.
///
/// ```
/// use toolgate_guest::Context;
/// use toolgate_guest::hook::{Event, Reply};
///
/// /// Nobody edits the changelog of a release.
/// fn guard(event: &Event, context: &Context) -> Reply {
///     match event.text("file_path") {
///         Some(path) if path.ends_with("CHANGELOG.md") => {
///             context.info("refused");
///             Reply::deny("The changelog is written by the release.")
///         }
///         _ => Reply::Nothing,
///     }
/// }
///
/// toolgate_guest::hook!(guard);
///
/// # let input = toolgate_guest::json!({ "file_path": "/ws/CHANGELOG.md" });
/// let event = Event {
///     name: "PreToolUse".to_owned(),
///     input: input.as_object().cloned(),
///     ..Event::default()
/// };
/// assert!(matches!(guard(&event, &Context::unhosted()), Reply::Deny(_)));
/// ```
#[macro_export]
macro_rules! hook {
    ($handle:path) => {
        const _: fn(&$crate::hook::Event, &$crate::Context) -> $crate::hook::Reply = $handle;
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Exported;

            impl $crate::hook_bindings::exports::toolgate::tool::hook::Guest for Exported {
                fn handle(
                    event: $crate::hook_bindings::exports::toolgate::tool::hook::Event,
                ) -> $crate::hook_bindings::exports::toolgate::tool::hook::Reply {
                    $crate::__private::handle($handle, event)
                }
            }

    $crate::hook_bindings::export_hook_guest!(Exported with_types_in $crate::hook_bindings);
        };
    };
}
