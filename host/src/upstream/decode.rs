//! One line of a server's to one message: what is no message is junk, and an answer that cannot be understood is an error
//! to the request that waits for it, so that nobody waits in vain.

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcResponse, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The code of errors that stand for an answer which is none. Outside of what a server may use for its own.
pub(super) const INVALID_REPLY: ErrorCode = ErrorCode(i32::MIN);

/// What a line is.
#[derive(Debug)]
pub(super) enum Decoded {
    /// A message.
    Message(Box<ServerJsonRpcMessage>),
    /// Nothing that belongs here.
    Junk,
}

/// Enough of a message to know whom it answers, however deep or odd the rest is.
#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    #[serde(default, rename = "result")]
    _result: Option<IgnoredAny>,
}

/// Reads a line. `keeps_raw` says of a request whether its answer is wanted as it stands.
pub(super) fn decode(line: &[u8], keeps_raw: impl FnOnce(&RequestId) -> bool) -> Decoded {
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(message)) => of_object(message, keeps_raw),
        Ok(_) => Decoded::Junk,
        Err(error) => match serde_json::from_slice::<Envelope>(line) {
            Ok(Envelope {
                id: Some(id),
                method: None,
                ..
            }) => no_answer(id, &format!("it cannot be read ({error})")),
            Ok(_) | Err(_) => Decoded::Junk,
        },
    }
}

fn of_object(
    mut message: Map<String, Value>,
    keeps_raw: impl FnOnce(&RequestId) -> bool,
) -> Decoded {
    if message.contains_key("method") {
        return typed(Value::Object(message));
    }
    let id = message.get("id").cloned().map(serde_json::from_value);
    let Some(Ok(id)) = id else {
        // An error without an id answers whatever is waiting for the handshake.
        return typed(Value::Object(message));
    };
    match (
        message.contains_key("result"),
        message.contains_key("error"),
    ) {
        (true, true) => no_answer(id, "it has both a result and an error"),
        (false, false) => no_answer(id, "it has neither a result nor an error"),
        (false, true) => match typed(Value::Object(message)) {
            Decoded::Junk => no_answer(id, "its error is none"),
            decoded => decoded,
        },
        (true, false) => match message.get_mut("result").map(Value::take) {
            Some(result) if result.is_object() => answer(id, result, keeps_raw),
            _ => no_answer(id, "its result is no object"),
        },
    }
}

fn answer(id: RequestId, result: Value, keeps_raw: impl FnOnce(&RequestId) -> bool) -> Decoded {
    let result = match keeps_raw(&id) {
        true => ServerResult::CustomResult(CustomResult(result)),
        false => match serde_json::from_value(result) {
            Ok(result) => result,
            Err(error) => return no_answer(id, &format!("its result cannot be read ({error})")),
        },
    };
    let response = JsonRpcResponse {
        jsonrpc: Default::default(),
        id,
        result,
    };
    Decoded::Message(Box::new(ServerJsonRpcMessage::Response(response)))
}

fn typed(message: Value) -> Decoded {
    match serde_json::from_value(message) {
        Ok(message) => Decoded::Message(Box::new(message)),
        Err(_) => Decoded::Junk,
    }
}

fn no_answer(id: RequestId, what: &str) -> Decoded {
    let error = ErrorData::new(INVALID_REPLY, what.to_owned(), None);
    Decoded::Message(Box::new(ServerJsonRpcMessage::error(error, Some(id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<String> {
        match decode(line.as_bytes(), |_| true) {
            Decoded::Junk => None,
            Decoded::Message(message) => Some(match *message {
                ServerJsonRpcMessage::Error(error) if error.error.code == INVALID_REPLY => {
                    error.error.message.into_owned()
                }
                ServerJsonRpcMessage::Error(_) => "error".to_owned(),
                ServerJsonRpcMessage::Response(_) => "answer".to_owned(),
                ServerJsonRpcMessage::Request(_) => "request".to_owned(),
                ServerJsonRpcMessage::Notification(_) => "notification".to_owned(),
            }),
        }
    }

    #[test]
    fn every_line_is_a_message_or_junk() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{}1{}}}"#,
            "[".repeat(300),
            "]".repeat(300)
        );
        for (line, is) in [
            ("Server ready!", None),
            ("5", None),
            ("[]", None),
            ("{}", None),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
                Some("answer"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
                Some("its result is no object"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
                Some("its result is no object"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
                Some("it has both a result and an error"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                Some("it has neither a result nor an error"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
                Some("error"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
                Some("its error is none"),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
                Some("notification"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
                Some("request"),
            ),
        ] {
            assert_eq!(said(line).as_deref(), is, "{line}");
        }
        assert!(
            said(&deep)
                .unwrap()
                .starts_with("it cannot be read (recursion limit")
        );
    }

    #[test]
    fn lists_and_results_stay_as_they_stand() {
        let line = br#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":5}],"x":null}}"#;
        let Decoded::Message(message) = decode(line, |id| *id == RequestId::Number(7)) else {
            panic!("junk");
        };
        let ServerJsonRpcMessage::Response(response) = *message else {
            panic!("{message:?}");
        };
        let ServerResult::CustomResult(CustomResult(raw)) = response.result else {
            panic!("{:?}", response.result);
        };
        assert_eq!(raw["tools"][0]["name"], 5);
    }
}
