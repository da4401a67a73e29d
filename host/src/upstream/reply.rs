//! What a server answers to a call, as a result of ours: all that it says is data, and what is no answer is said to be none.

use base64::Engine as _;
use serde_json::{Map, Value};

use crate::gate::ProviderEnd;
use crate::model::{Content, ServerAlias, ToolFailure, ToolOutput};

/// The most parts of one result.
const MAX_PARTS: usize = 1_000;
/// The longest address, type or label, characters.
const MAX_LABEL: usize = 2_048;

/// A failure of this kind of the host's own words.
pub(super) fn failure(kind: &str, message: impl Into<String>) -> ProviderEnd {
    ProviderEnd::Failed(ToolFailure {
        kind: kind.to_owned(),
        message: message.into(),
    })
}

/// A reply that is none.
pub(super) fn invalid(alias: &ServerAlias, what: &str) -> ProviderEnd {
    let message = format!(
        "The reply of the server '{alias}' is invalid: {what}. Whether the call took effect is not known."
    );
    failure("invalid-reply", message)
}

/// The end of a call that was answered.
pub(super) fn ended(alias: &ServerAlias, reply: &Value) -> ProviderEnd {
    let Some(reply) = reply.as_object() else {
        return invalid(alias, "it is no object");
    };
    match reply.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => {
            return failure(
                "input-required",
                format!(
                    "The server '{alias}' asks for input from a person or a model, which the host does not pass on. The call \
                     did not complete."
                ),
            );
        }
        Some(_) => return invalid(alias, "its 'resultType' is not one that the host knows"),
    }
    let parts = match reply.get("content") {
        Some(Value::Array(parts)) => parts,
        Some(_) => return invalid(alias, "its 'content' is no list"),
        None => return invalid(alias, "it has no 'content'"),
    };
    let mut content: Vec<Content> = parts.iter().take(MAX_PARTS).map(part).collect();
    if parts.len() > MAX_PARTS {
        let text = format!("[{} more parts were left out]", parts.len() - MAX_PARTS);
        content.push(Content::Text { text });
    }
    if content.is_empty()
        && let Some(structured) = reply.get("structuredContent").filter(|it| !it.is_null())
    {
        let text = structured.to_string();
        content.push(Content::Text { text });
    }
    let output = ToolOutput {
        content,
        structured: None,
        capped: false,
    };
    match reply.get("isError") {
        Some(Value::Bool(true)) => {
            let text = output.text();
            match text.is_empty() {
                true => failure(
                    "failed",
                    format!("The server '{alias}' says that the call failed."),
                ),
                false => failure("failed", text),
            }
        }
        None | Some(Value::Bool(false) | Value::Null) => ProviderEnd::Done(output),
        Some(_) => invalid(alias, "its 'isError' is neither true nor false"),
    }
}

fn part(part: &Value) -> Content {
    let Some(said) = part.as_object() else {
        return unknown("is no object");
    };
    match text(said, "type") {
        Some("text") => match text(said, "text") {
            Some(words) => Content::Text {
                text: words.to_owned(),
            },
            None => unknown("of the type 'text' has no text"),
        },
        Some("image" | "audio") => blob(said, "data", None),
        Some("resource") => match said.get("resource").and_then(Value::as_object) {
            Some(resource) => embedded(resource),
            None => unknown("of the type 'resource' has no resource"),
        },
        Some("resource_link") => Content::Link {
            uri: label(said, "uri").unwrap_or_default(),
            name: label(said, "name").unwrap_or_default(),
            mime: label(said, "mimeType"),
        },
        Some(other) => {
            let shown: String = other.chars().take(40).collect();
            unknown(&format!(
                "is of the type '{}', which the host does not know",
                crate::model::visible(&shown)
            ))
        }
        None => unknown("has no type"),
    }
}

fn embedded(resource: &Map<String, Value>) -> Content {
    match text(resource, "text") {
        Some(words) => Content::Text {
            text: match label(resource, "uri") {
                Some(uri) => format!("[{uri}]\n{words}"),
                None => words.to_owned(),
            },
        },
        None => blob(resource, "blob", label(resource, "uri")),
    }
}

fn blob(said: &Map<String, Value>, field: &str, uri: Option<String>) -> Content {
    let Some(encoded) = text(said, field) else {
        return unknown(&format!("has no '{field}'"));
    };
    match base64::engine::general_purpose::STANDARD.decode(encoded) {
        Ok(data) => Content::Blob {
            mime: label(said, "mimeType").unwrap_or_else(|| "application/octet-stream".to_owned()),
            uri,
            data,
        },
        Err(_) => unknown(&format!("has a '{field}' that is no base64")),
    }
}

fn text<'a>(said: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    said.get(field).and_then(Value::as_str)
}

/// A short text of one line.
fn label(said: &Map<String, Value>, field: &str) -> Option<String> {
    let label: String = text(said, field)?.chars().take(MAX_LABEL).collect();
    Some(crate::model::strip(&label).replace('\n', " "))
}

fn unknown(what: &str) -> Content {
    Content::Text {
        text: format!("[a part of the result {what}, and was left out]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(reply: Value) -> ProviderEnd {
        ended(&ServerAlias::try_from("s").unwrap(), &reply)
    }

    fn failed(reply: Value) -> ToolFailure {
        match of(reply) {
            ProviderEnd::Failed(failure) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_content_has_its_place() {
        let ProviderEnd::Done(output) = of(
            json!({"structuredContent": {"n": 1}, "isError": false, "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "AAE=", "mimeType": "image/png"},
                {"type": "audio", "data": "?", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "file:///x", "text": "b"}},
                {"type": "resource", "resource": {"uri": "file:///y", "blob": "AAE="}},
                {"type": "resource_link", "uri": "file:///z", "name": "z\u{202e}\n"},
                {"type": "video"}, 5,
            ]}),
        ) else {
            panic!("not done");
        };
        assert_eq!(output.structured, None);
        let shown = serde_json::to_value(&output.content).unwrap();
        assert_eq!(
            shown,
            json!([
                {"type": "text", "text": "a"},
                {"type": "blob", "mime": "image/png", "uri": null, "data": "AAE="},
                {"type": "text", "text": "[a part of the result has a 'data' that is no base64, and was left out]"},
                {"type": "text", "text": "[file:///x]\nb"},
                {"type": "blob", "mime": "application/octet-stream", "uri": "file:///y", "data": "AAE="},
                {"type": "link", "uri": "file:///z", "name": "z ", "mime": null},
                {"type": "text", "text":
                    "[a part of the result is of the type 'video', which the host does not know, and was left out]"},
                {"type": "text", "text": "[a part of the result is no object, and was left out]"},
            ])
        );
        let ProviderEnd::Done(output) = of(json!({"content": [], "structuredContent": {"n": 1}}))
        else {
            panic!("not done");
        };
        assert_eq!(output.text(), r#"{"n":1}"#);
    }

    #[test]
    fn what_is_no_reply_is_said_to_be_none() {
        for reply in [
            json!(null),
            json!(5),
            json!({}),
            json!({"content": "x"}),
            json!({"content": [], "isError": "no"}),
            json!({"content": [], "resultType": "task"}),
        ] {
            assert_eq!(failed(reply.clone()).kind, "invalid-reply", "{reply}");
        }
        let asks = failed(json!({"resultType": "input_required", "inputRequests": {}}));
        assert_eq!(asks.kind, "input-required");
        let said = failed(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!(
            (said.kind.as_str(), said.message.as_str()),
            ("failed", "no")
        );
    }

    #[test]
    fn parts_are_counted() {
        let many: Vec<_> = (0..1_500)
            .map(|_| json!({"type": "text", "text": "a"}))
            .collect();
        let ProviderEnd::Done(output) = of(json!({"content": many})) else {
            panic!("not done");
        };
        assert_eq!(output.content.len(), MAX_PARTS + 1);
        assert!(output.text().ends_with("[500 more parts were left out]"));
    }
}
