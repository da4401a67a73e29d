//! Gate 1: bytes to one JSON object.
//!
//! Refuses what is not UTF-8, not exactly one JSON object, larger than 1 MiB, nested deeper than 64 levels, has
//! duplicate keys at any level, or numbers beyond 64 bits.

use serde_json::{Map, Value};

use super::json;
use crate::model::{CallId, Denial, DenialReason, Gate, RawCall};

/// The largest input, bytes.
pub(super) const MAX_INPUT: usize = 1 << 20;

/// Prefixes that model providers put before a tool's name. A correction of theirs, not an alias of ours.
const PROVIDER_PREFIXES: [&str; 1] = ["functions."];

/// What every stage keeps of the call.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// The call's id.
    pub(super) id: CallId,
}

/// A call whose input is one JSON object.
#[derive(Debug)]
pub(super) struct Parsed {
    header: Header,
    name: String,
    input: Map<String, Value>,
}

impl Parsed {
    pub(super) fn into_parts(self) -> (Header, String, Map<String, Value>) {
        (self.header, self.name, self.input)
    }
}

/// Parses a call.
pub(super) fn parse(raw: &RawCall) -> Result<Parsed, Denial> {
    let input = object(&raw.input).map_err(|what| {
        let denial = Denial::new(Gate::Parse, DenialReason::Malformed { what });
        if raw.input.trim_ascii().is_empty() {
            denial.with_hint("a tool without parameters takes {}")
        } else {
            denial
        }
    })?;
    Ok(Parsed {
        header: Header { id: raw.id },
        name: PROVIDER_PREFIXES
            .iter()
            .find_map(|prefix| raw.name.strip_prefix(prefix))
            .unwrap_or(&raw.name)
            .to_owned(),
        input,
    })
}

/// Reads an input, wherever it comes from: one JSON object within the limits of this gate.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn object(input: &[u8]) -> Result<Map<String, Value>, String> {
    if input.len() > MAX_INPUT {
        return Err(format!(
            "it has {} bytes, and {MAX_INPUT} is the most",
            input.len()
        ));
    }
    let text = std::str::from_utf8(input)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.valid_up_to()))?;
    match json::strict(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(format!("it is {}, and must be an object", kind_of(&other))),
        Err(error) if text.trim().is_empty() => Err(format!("it is empty: {error}")),
        Err(error) if error.is_data() => Err(error.to_string()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(input: &[u8]) -> String {
        parse(&RawCall::new("Read", input)).unwrap_err().to_string()
    }

    #[test]
    fn only_one_object_passes() {
        assert!(parse(&RawCall::new("Read", "{}")).is_ok());
        assert!(refusal(b"[]").contains("it is an array"));
        assert!(refusal(b"\"{}\"").contains("it is a string"));
        assert!(refusal(b"7").contains("it is a number"));
        assert!(refusal(b"").contains("it is empty"));
        assert!(refusal(b"{\"a\":\xff}").contains("not UTF-8 at byte 5"));
        assert!(refusal(b"{'a':1}").contains("line 1 column 2"));
        assert!(refusal(&vec![b' '; MAX_INPUT + 1]).contains("1048576 is the most"));
    }

    #[test]
    fn the_provider_prefix_is_stripped_once() {
        let name = |name: &str| parse(&RawCall::new(name, "{}")).unwrap().into_parts().1;
        assert_eq!(name("functions.Read"), "Read");
        assert_eq!(name("functions.functions.Read"), "functions.Read");
        assert_eq!(name("Read"), "Read");
    }
}
