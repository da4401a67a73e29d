//! What a hook program may print.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::gate::{HookReply, PortError};

/// One JSON object on stdout; no output says nothing. It is applied whole or not at all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Printed {
    decision: Option<Word>,
    reason: Option<String>,
    input: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Deny,
    Ask,
}

/// Reads what a hook printed.
pub(super) fn parse(stdout: &str) -> Result<HookReply, PortError> {
    if stdout.trim().is_empty() {
        return Ok(HookReply::Nothing);
    }
    let printed: Printed = serde_json::from_str(stdout)
        .map_err(|error| PortError(format!("printed something that is not a reply: {error}")))?;
    let message = printed
        .reason
        .unwrap_or_else(|| "no reason given".to_owned());
    match (printed.decision, printed.input) {
        (Some(Word::Deny), None) => Ok(HookReply::Deny { message }),
        (Some(Word::Deny), Some(_)) => Err(PortError("denied and rewrote in one reply".to_owned())),
        (Some(Word::Ask), input) => Ok(HookReply::Ask { message, input }),
        (None, Some(input)) => Ok(HookReply::Rewrite { input }),
        (None, None) => Ok(HookReply::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_or_refused_whole() {
        assert_eq!(parse("").unwrap(), HookReply::Nothing);
        assert_eq!(parse("{}").unwrap(), HookReply::Nothing);
        let deny = parse(r#"{"decision":"deny","reason":"no"}"#).unwrap();
        assert_eq!(
            deny,
            HookReply::Deny {
                message: "no".into()
            }
        );
        assert!(matches!(
            parse(r#"{"input":{"a":1}}"#).unwrap(),
            HookReply::Rewrite { .. }
        ));
        for garbage in [
            "hello",
            r#"{"decision":"maybe"}"#,
            r#"{"decision":"allow"}"#,
            r#"{"decision":"allow","input":{}}"#,
            r#"{"decision":"deny","input":{}}"#,
            r#"{"decision":"deny"} trailing"#,
            r#"{"descision":"deny"}"#,
            "[]",
        ] {
            assert!(parse(garbage).is_err(), "{garbage}");
        }
    }
}
