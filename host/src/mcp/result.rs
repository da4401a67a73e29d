//! An outcome as a client gets it.
//!
//! Guarantees that what a gate, a bound or the tool refused is a result that the model reads (`isError`), that a call
//! which is none is an error of the protocol, and that no message has more than [`MAX_RESULT`] bytes: there are clients
//! that end a session over a larger one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, Resource, ResourceContents};
use serde_json::Value;

use crate::model::{Content, Denial, DenialReason, Ending, Outcome, ToolOutput};

/// The most bytes of a result as JSON. One million is what strict clients take for a whole message.
pub(super) const MAX_RESULT: usize = 990_000;

/// The answer to a call. `promised`: the tool was listed with an output schema, so that every success carries a value.
///
/// # Errors
/// The call is none: there is no such tool, or its input is not one JSON object.
pub(super) fn answer(outcome: Outcome, promised: bool) -> Result<CallToolResult, ErrorData> {
    let text = outcome.ending.text();
    match outcome.ending {
        Ending::Done(output) => Ok(fitted(done(output, promised))),
        Ending::Denied(denial) => denied(&denial, text),
        Ending::Failed(_) | Ending::Stopped(_) | Ending::Trapped(_) | Ending::HostError(_) => Ok(
            fitted(CallToolResult::error(vec![ContentBlock::text(text)])),
        ),
    }
}

fn denied(denial: &Denial, text: String) -> Result<CallToolResult, ErrorData> {
    match (&denial.reason, &denial.hint) {
        (DenialReason::UnknownTool { .. } | DenialReason::Malformed { .. }, _) => {
            Err(ErrorData::invalid_params(text, None))
        }
        // The person at the client reads this too, and there is no other place to tell them.
        (DenialReason::NoApprover | DenialReason::ApprovalTimeout { .. }, Some(hint)) => {
            let told = format!("{text}\nFor the operator: {hint}");
            Ok(CallToolResult::error(vec![ContentBlock::text(told)]))
        }
        _ => Ok(CallToolResult::error(vec![ContentBlock::text(text)])),
    }
}

fn done(output: ToolOutput, promised: bool) -> CallToolResult {
    let mut content: Vec<ContentBlock> = output
        .content
        .into_iter()
        .enumerate()
        .map(|(at, part)| block(at, part))
        .collect();
    match output.structured {
        Some(value) => {
            if content.is_empty() {
                content.push(ContentBlock::text(value.to_string()));
            }
            let mut result = CallToolResult::success(content);
            result.structured_content = Some(value);
            result
        }
        // A client would refuse it as a success.
        None if promised => {
            content.push(ContentBlock::text(
                "[The tool ran, and what it promised to give programs is missing or too long to be passed on.]",
            ));
            CallToolResult::error(content)
        }
        None => CallToolResult::success(content),
    }
}

fn block(at: usize, part: Content) -> ContentBlock {
    match part {
        Content::Text { text } => ContentBlock::text(text),
        Content::Blob { mime, uri, data } => {
            let encoded = STANDARD.encode(data);
            if mime.starts_with("image/") {
                return ContentBlock::image(encoded, mime);
            }
            if mime.starts_with("audio/") {
                return ContentBlock::audio(encoded, mime);
            }
            let uri = uri.unwrap_or_else(|| format!("toolgate:result/{at}"));
            let blob = ResourceContents::blob(encoded, uri).with_mime_type(mime);
            ContentBlock::resource(blob)
        }
        Content::Link { uri, name, mime } => {
            let mut link = Resource::new(uri, name);
            if let Some(mime) = mime {
                link = link.with_mime_type(mime);
            }
            ContentBlock::resource_link(link)
        }
    }
}

/// The result without its largest parts, until it fits. What is left out is named.
fn fitted(mut result: CallToolResult) -> CallToolResult {
    let mut sizes: Vec<usize> = result.content.iter().map(size).collect();
    let structured = result.structured_content.as_ref().map_or(0, size);
    let mut total = structured + sizes.iter().sum::<usize>();
    while total > MAX_RESULT {
        let Some((at, largest)) = largest(&sizes) else {
            break;
        };
        let Some(part) = result.content.get_mut(at) else {
            break;
        };
        let left_out = ContentBlock::text(format!(
            "[{} left out: with {largest} bytes it is more than a client takes]",
            kind(part)
        ));
        total -= largest;
        let small = size(&left_out);
        total += small;
        *part = left_out;
        if let Some(slot) = sizes.get_mut(at) {
            *slot = small;
        }
        if small >= largest {
            break;
        }
    }
    result
}

fn largest(sizes: &[usize]) -> Option<(usize, usize)> {
    let sizes = sizes.iter().copied().enumerate();
    sizes.max_by_key(|(_, size)| *size)
}

/// Bytes as JSON.
fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 4, |json| json.len())
}

fn kind(part: &ContentBlock) -> String {
    let value = serde_json::to_value(part).unwrap_or_default();
    let word = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let mime = word(&value, "mimeType").or_else(|| word(value.get("resource")?, "mimeType"));
    mime.or_else(|| word(&value, "type"))
        .unwrap_or_else(|| "a part".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{CallId, Gate, Stop, Usage};

    fn outcome(ending: Ending) -> Outcome {
        Outcome {
            id: CallId::new(),
            tool: "Read".to_owned(),
            ending,
            usage: Usage::default(),
            log: Vec::new(),
        }
    }

    fn output(content: Vec<Content>, structured: Option<Value>) -> Ending {
        Ending::Done(ToolOutput {
            content,
            structured,
            capped: false,
        })
    }

    fn said(ending: Ending, promised: bool) -> Value {
        serde_json::to_value(answer(outcome(ending), promised).unwrap()).unwrap()
    }

    fn text(text: &str) -> Content {
        Content::Text {
            text: text.to_owned(),
        }
    }

    fn blob(mime: &str, bytes: usize) -> Content {
        Content::Blob {
            mime: mime.to_owned(),
            uri: None,
            data: vec![7; bytes],
        }
    }

    #[test]
    fn every_kind_of_content_has_its_block() {
        let link = Content::Link {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            mime: Some("text/plain".to_owned()),
        };
        let all = vec![
            text("t"),
            blob("image/png", 3),
            blob("audio/wav", 3),
            blob("application/pdf", 3),
            link,
        ];
        let result = said(output(all, Some(json!({"n": 1}))), true);
        let kinds: Vec<&str> = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            ["text", "image", "audio", "resource", "resource_link"]
        );
        assert_eq!(result["structuredContent"], json!({"n": 1}));
        assert_eq!(result["isError"], json!(false));
    }

    #[test]
    fn a_promised_value_that_is_missing_is_no_success() {
        assert_eq!(
            said(output(vec![text("t")], None), true)["isError"],
            json!(true)
        );
        assert_eq!(
            said(output(vec![text("t")], None), false)["isError"],
            json!(false)
        );
        let value = said(output(Vec::new(), Some(json!([1]))), false);
        assert_eq!(value["content"][0]["text"], json!("[1]"));
    }

    #[test]
    fn no_result_is_more_than_a_client_takes() {
        let parts = vec![
            text("first"),
            blob("image/png", 700_000),
            blob("application/pdf", 600_000),
            text("last"),
        ];
        let result = said(output(parts, None), false);
        assert!(result.to_string().len() <= MAX_RESULT);
        let content = result["content"].as_array().unwrap();
        assert_eq!(content[0]["text"], "first");
        assert!(
            content[1]["text"]
                .as_str()
                .unwrap()
                .starts_with("[image/png left out")
        );
        assert_eq!(content[2]["type"], "resource");
        assert_eq!(content[3]["text"], "last");
    }

    #[test]
    fn what_is_no_call_is_an_error_and_the_rest_is_for_the_model() {
        let denial = |reason| Ending::Denied(Denial::new(Gate::Resolve, reason));
        let unknown = denial(DenialReason::UnknownTool {
            name: "Raed".to_owned(),
            nearest: Some("Read".to_owned()),
        });
        let error = answer(outcome(unknown), false).unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert!(error.message.contains("'Read'"), "{}", error.message);
        let malformed = denial(DenialReason::Malformed {
            what: "a key stands there twice".to_owned(),
        });
        assert_eq!(
            answer(outcome(malformed), false).unwrap_err().code.0,
            -32602
        );
        for ending in [
            denial(DenialReason::PolicyChanged),
            denial(DenialReason::InvalidInput {
                violations: vec!["x".to_owned()],
            }),
            Ending::Stopped(Stop::Stack),
        ] {
            assert_eq!(said(ending, false)["isError"], json!(true));
        }
        let nobody = Denial::new(Gate::Approval, DenialReason::NoApprover).with_hint("--allow 'X'");
        let told = said(Ending::Denied(nobody), false);
        let told = told["content"][0]["text"].as_str().unwrap();
        assert!(told.ends_with("For the operator: --allow 'X'"), "{told}");
    }
}
