//! Bytes of a peer to one message, or to the answer that they get instead.
//!
//! Guarantees that whoever waits for an answer gets one where its id can be read, that an answer is never answered, and
//! that the arguments of a call reach the first gate as the bytes that they were: its promises (no duplicate key, no
//! rounded number) hold for them too.

use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, GetExtensions as _, RequestId};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// The arguments of a call, byte for byte.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(pub(super) Arc<[u8]>);

/// What a line or a body holds.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message.
    Message {
        /// The message.
        message: Box<ClientJsonRpcMessage>,
        /// Of a call: its arguments.
        arguments: Option<RawArguments>,
    },
    /// Something that gets this answer.
    Refused(Refusal),
    /// Nothing that could be answered.
    Nothing,
}

/// The answer to what is no message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    /// Whose answer it is; none where it could not be read.
    pub(super) id: Option<RequestId>,
    /// What is wrong.
    pub(super) error: ErrorData,
}

impl Refusal {
    fn invalid(id: Option<RequestId>, what: impl Into<String>) -> Self {
        let error = ErrorData::invalid_request(what.into(), None);
        Self { id, error }
    }

    fn params(id: RequestId, what: impl Into<String>) -> Self {
        let error = ErrorData::invalid_params(what.into(), None);
        Self {
            id: Some(id),
            error,
        }
    }

    /// What a line or a body gets that is longer than `most` bytes.
    pub(super) fn too_long(most: usize) -> Self {
        Self::invalid(None, format!("the message has more than {most} bytes"))
    }

    /// As JSON, without a line feed. An id that could not be read is null.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let answer = serde_json::json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": self.error,
        });
        answer.to_string().into_bytes()
    }
}

/// The members of a JSON object as far as they can be read: its keys, and the text of its values.
#[derive(Debug, Default)]
struct Members<'a> {
    found: Vec<(String, &'a [u8])>,
    /// Not all of it is a JSON object.
    broken: bool,
    /// The key whose value was being read.
    unfinished: Option<String>,
}

impl<'a> Members<'a> {
    /// Never recurses, whatever stands in the values.
    fn of(text: &'a [u8]) -> Self {
        let mut members = Self::default();
        members.broken = members.read(text).is_none();
        members
    }

    fn read(&mut self, text: &'a [u8]) -> Option<()> {
        let mut rest = text.trim_ascii().strip_prefix(b"{")?.trim_ascii_start();
        if let Some(end) = rest.strip_prefix(b"}") {
            return end.is_empty().then_some(());
        }
        loop {
            let mut key = Deserializer::from_slice(rest).into_iter::<String>();
            self.unfinished = Some(key.next()?.ok()?);
            rest = rest.get(key.byte_offset()..)?.trim_ascii_start();
            rest = rest.strip_prefix(b":")?.trim_ascii_start();
            let mut value = Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
            value.next()?.ok()?;
            let (text, behind) = rest.split_at_checked(value.byte_offset())?;
            let name = self.unfinished.take()?;
            self.found.push((name, text));
            rest = behind.trim_ascii_start();
            match rest.split_first()? {
                (b',', more) => rest = more.trim_ascii_start(),
                (b'}', []) => return Some(()),
                _ => return None,
            }
        }
    }

    fn get(&self, name: &str) -> Option<&'a [u8]> {
        let found = self.found.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| *value)
    }

    /// Whether there is such a member, whole or not.
    fn begins(&self, name: &str) -> bool {
        self.get(name).is_some() || self.unfinished.as_deref() == Some(name)
    }

    /// A key of these that stands there twice.
    fn twice(&self, names: &[&'static str]) -> Option<&'static str> {
        let count = |name: &str| self.found.iter().filter(|(key, _)| key == name).count();
        names.iter().copied().find(|name| count(name) > 1)
    }
}

/// Reads what a line or a body holds. Not longer than its transport lets it be.
pub(super) fn read(bytes: &[u8]) -> Frame {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let bytes = bytes.trim_ascii();
    match bytes.first() {
        None => return Frame::Nothing,
        Some(b'[') => {
            let what = "batches are not part of this protocol: send one message at a time";
            return Frame::Refused(Refusal::invalid(None, what));
        }
        Some(_) => {}
    }
    let envelope = Members::of(bytes);
    let answers = envelope.begins("result") || envelope.begins("error");
    match (envelope.get("method"), envelope.get("id")) {
        (None, _) if answers => answer(bytes),
        _ if envelope.broken => Frame::Refused(Refusal {
            id: envelope.get("id").and_then(id_of),
            error: ErrorData::parse_error("the message is not one JSON object", None),
        }),
        (None, id) => {
            let what = "the message has neither a 'method' nor a 'result' nor an 'error'";
            Frame::Refused(Refusal::invalid(id.and_then(id_of), what))
        }
        (Some(_), None) => answer(bytes),
        (Some(method), Some(id)) => match id_of(id) {
            Some(id) => request(bytes, &envelope, method, id),
            None => {
                let what = "the 'id' of a request is a text or a whole number";
                Frame::Refused(Refusal::invalid(None, what))
            }
        },
    }
}

fn id_of(text: &[u8]) -> Option<RequestId> {
    serde_json::from_slice(text).ok()
}

/// An answer or a notification: nobody waits for a reply to it.
fn answer(bytes: &[u8]) -> Frame {
    match serde_json::from_slice(bytes) {
        Ok(message) => Frame::Message {
            message: Box::new(message),
            arguments: None,
        },
        Err(error) => {
            tracing::debug!("a message without an answer is not understood: {error}");
            Frame::Nothing
        }
    }
}

fn request(bytes: &[u8], envelope: &Members<'_>, method: &[u8], id: RequestId) -> Frame {
    if let Some(name) = envelope.twice(&["jsonrpc", "id", "method", "params"]) {
        let what = format!("'{name}' stands in the message twice");
        return Frame::Refused(Refusal::invalid(Some(id), what));
    }
    let Ok(method) = serde_json::from_slice::<String>(method) else {
        return Frame::Refused(Refusal::invalid(Some(id), "the 'method' is a text"));
    };
    let params = envelope.get("params");
    let judged = match method.as_str() {
        "tools/call" => call(params).map(Some),
        "tools/list" => list(params).map(|()| None),
        _ => Ok(None),
    };
    let arguments = match judged {
        Ok(arguments) => arguments,
        Err(what) => return Frame::Refused(Refusal::params(id, what)),
    };
    match serde_json::from_slice(bytes) {
        Ok(message) => Frame::Message {
            message: Box::new(message),
            arguments,
        },
        Err(error) if error.is_data() => {
            let what = format!("the message is no request: {error}");
            Frame::Refused(Refusal::invalid(Some(id), what))
        }
        Err(error) => Frame::Refused(Refusal {
            id: Some(id),
            error: ErrorData::parse_error(format!("the message is not JSON: {error}"), None),
        }),
    }
}

/// The arguments of a call.
///
/// # Errors
/// What is wrong with its parameters.
fn call(params: Option<&[u8]>) -> Result<RawArguments, String> {
    let params = params.ok_or("tools/call needs 'params' with the tool's 'name'")?;
    let members = Members::of(params);
    if members.broken {
        return Err("the 'params' of tools/call are an object".to_owned());
    }
    let known = [
        "name",
        "arguments",
        "_meta",
        "requestState",
        "inputResponses",
    ];
    if let Some(name) = members.twice(&known) {
        return Err(format!("'{name}' stands in 'params' twice"));
    }
    let name = members
        .get("name")
        .ok_or("'name' is missing: the tool's name")?;
    serde_json::from_slice::<String>(name)
        .map_err(|error| format!("'name' is the tool's name, a text: {error}"))?;
    let raw = match members.get("arguments") {
        None | Some(b"null") => b"{}".as_slice(),
        Some(object) if object.starts_with(b"{") => object,
        Some(_) => return Err("'arguments' is an object with the tool's input".to_owned()),
    };
    Ok(RawArguments(raw.into()))
}

/// A cursor that is none would be passed over, and the client would get the first page again and again.
fn list(params: Option<&[u8]>) -> Result<(), String> {
    let members = params.map(Members::of).unwrap_or_default();
    match members.get("cursor") {
        None | Some(b"null") => Ok(()),
        Some(cursor) => serde_json::from_slice::<String>(cursor)
            .map(drop)
            .map_err(|error| format!("'cursor' is a text that this server gave: {error}")),
    }
}

/// Puts the arguments where the handler finds them.
pub(super) fn attach(message: &mut ClientJsonRpcMessage, arguments: Option<RawArguments>) {
    if let (ClientJsonRpcMessage::Request(request), Some(arguments)) = (message, arguments) {
        request.request.extensions_mut().insert(arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (serde_json::Value, i32) {
        match read(text.as_bytes()) {
            Frame::Refused(refusal) => {
                let answer: serde_json::Value = serde_json::from_slice(&refusal.to_json()).unwrap();
                let code = answer["error"]["code"].as_i64().unwrap();
                (answer["id"].clone(), i32::try_from(code).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    fn arguments(text: &str) -> String {
        match read(text.as_bytes()) {
            Frame::Message {
                arguments: Some(RawArguments(raw)),
                ..
            } => String::from_utf8(raw.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arguments_are_kept_byte_for_byte() {
        let call = |arguments: &str| {
            format!(
                r#" {{"jsonrpc":"2.0", "params" : {{"arguments": {arguments} ,"name":"Read"}},"id":1,"method":"tools/call"}}"#
            )
        };
        for raw in [
            r#"{"a":1,"a":2}"#,
            r#"{"n":123456789012345678901234567890}"#,
            r#"{ "x" : "}\"{" }"#,
        ] {
            assert_eq!(arguments(&call(raw)), raw);
        }
        assert_eq!(arguments(&call("null")), "{}");
        let none = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read"}}"#;
        assert_eq!(arguments(none), "{}");
    }

    #[test]
    fn whoever_waits_gets_an_answer_under_their_id() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let nested = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"x","params":{deep}}}"#);
        let lone = r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\ud800"}}"#;
        let cases = [
            (lone, 7.into(), -32700),
            (&nested, 8.into(), -32700),
            ("not json", serde_json::Value::Null, -32700),
            (r#"{"id":9,"method":"#, 9.into(), -32700),
            ("[]", serde_json::Value::Null, -32600),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                serde_json::Value::Null,
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                serde_json::Value::Null,
                -32600,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                serde_json::Value::Null,
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, 1.into(), -32600),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                1.into(),
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, 1.into(), -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
                1.into(),
                -32600,
            ),
        ];
        for (text, id, code) in cases {
            assert_eq!(refused(text), (id, code), "{text}");
        }
    }

    #[test]
    fn parameters_of_calls_are_judged_here() {
        let call = |params: &str| {
            refused(&format!(
                r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{params}}}"#
            ))
        };
        for params in [
            r#"{"name":5}"#,
            "{}",
            "[]",
            "7",
            r#"{"name":"Read","arguments":[1]}"#,
            r#"{"name":"Read","arguments":"{}"}"#,
            r#"{"name":"Read","arguments":7}"#,
            r#"{"name":"Read","name":"Write"}"#,
            r#"{"name":"Read","arguments":{},"arguments":{"a":1}}"#,
        ] {
            assert_eq!(call(params), ("a".into(), -32602), "{params}");
        }
    }

    #[test]
    fn answers_and_blank_lines_are_never_answered() {
        for text in [
            "",
            "  \r",
            "\u{feff}",
            r#"{"jsonrpc":"2.0","id":1,"error":"\ud800"}"#,
            r#"{"jsonrpc":"2.0","error":7}"#,
            r#"{"error":{"code":-32700,"message":"x"},"#,
            r#"{"error":{"code":1,"#,
            r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        ] {
            assert!(matches!(read(text.as_bytes()), Frame::Nothing), "{text}");
        }
    }
}
