//! What the host calls of a hook: read the event, run the author's function, write the reply.

use serde_json::{Map, Value};

use crate::Context;
use crate::hook::{Event, Reply};
use crate::hook_bindings::exports::toolgate::tool::hook as wit;

/// Runs an author's function on what the host handed over. An event that cannot be read is denied: a hook that did not
/// understand must not look like one that had nothing to say.
pub fn handle(handle: impl Fn(&Event, &Context) -> Reply, event: wit::Event) -> wit::Reply {
    match read(event) {
        Ok(event) => handle(&event, &Context::hosted()).into(),
        Err(what) => wit::Reply::Deny(format!("The hook cannot read the event: {what}.")),
    }
}

fn read(event: wit::Event) -> Result<Event, String> {
    let input = match event.input.as_deref().map(serde_json::from_str) {
        None => None,
        Some(Ok(input)) => Some(input),
        Some(Err(error)) => return Err(format!("its input: {error}")),
    };
    let mut details = Map::new();
    for (key, json) in event.details {
        let value = serde_json::from_str(&json).map_err(|error| format!("its {key}: {error}"))?;
        details.insert(key, value);
    }
    Ok(Event {
        name: event.name,
        session: event.session,
        cwd: event.cwd,
        tool: event.tool,
        tool_use_id: event.tool_use_id,
        input,
        response: event.response,
        details,
    })
}

impl From<Reply> for wit::Reply {
    fn from(reply: Reply) -> Self {
        let text = |input| Value::Object(input).to_string();
        match reply {
            Reply::Nothing => Self::Nothing,
            Reply::Deny(reason) => Self::Deny(reason),
            Reply::Ask { message, input } => Self::Ask(wit::Question {
                message,
                input: input.map(text),
            }),
            Reply::Rewrite(input) => Self::Rewrite(text(input)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(input: Option<&str>, details: &[(&str, &str)]) -> wit::Event {
        let details = details.iter();
        wit::Event {
            name: "PreToolUse".to_owned(),
            session: "s".to_owned(),
            cwd: "/ws".to_owned(),
            tool: Some("Write".to_owned()),
            tool_use_id: Some("7".to_owned()),
            input: input.map(str::to_owned),
            response: None,
            details: details
                .map(|(key, json)| ((*key).to_owned(), (*json).to_owned()))
                .collect(),
        }
    }

    /// Gives back what it was told, as a refusal.
    fn telling(event: &Event, _context: &Context) -> Reply {
        Reply::deny(format!(
            "{} {:?} {:?} {}",
            event.name,
            event.tool,
            event.text("file_path"),
            Value::Object(event.details.clone())
        ))
    }

    fn refusal(reply: wit::Reply) -> String {
        match reply {
            wit::Reply::Deny(reason) => reason,
            wit::Reply::Nothing | wit::Reply::Ask(_) | wit::Reply::Rewrite(_) => {
                panic!("not denied")
            }
        }
    }

    #[test]
    fn an_event_arrives_whole() {
        let told = event(Some(r#"{"file_path":"a"}"#), &[("prompt", "\"hi\"")]);
        assert_eq!(
            refusal(handle(telling, told)),
            r#"PreToolUse Some("Write") Some("a") {"prompt":"hi"}"#
        );
        assert!(refusal(handle(telling, event(None, &[]))).contains("None"));
    }

    #[test]
    fn an_event_that_cannot_be_read_is_denied() {
        let nothing = |_: &Event, _: &Context| Reply::Nothing;
        for broken in [
            event(Some("[]"), &[]),
            event(Some("{"), &[]),
            event(None, &[("prompt", "hi")]),
        ] {
            let reason = refusal(handle(nothing, broken));
            assert!(
                reason.starts_with("The hook cannot read the event: its "),
                "{reason}"
            );
        }
    }

    #[test]
    fn an_input_is_replied_as_the_text_of_an_object() {
        let input = || {
            let mut input = Map::new();
            input.insert("a".to_owned(), 1.into());
            input
        };
        let rewrite = wit::Reply::from(Reply::Rewrite(input()));
        assert!(matches!(rewrite, wit::Reply::Rewrite(text) if text == r#"{"a":1}"#));
        let ask = wit::Reply::from(Reply::Ask {
            message: "m".to_owned(),
            input: Some(input()),
        });
        assert!(
            matches!(ask, wit::Reply::Ask(question) if question.input.as_deref() == Some(r#"{"a":1}"#))
        );
    }
}
