//! What a hook program may print: a reply of ours, or one in the format that hooks of Claude Code are written for.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::gate::{HookReply, PortError, parse_object};

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
    let printed: Printed = read(stdout)?;
    let message = said(printed.reason);
    match (printed.decision, printed.input) {
        (Some(Word::Deny), None) => Ok(HookReply::Deny { message }),
        (Some(Word::Deny), Some(_)) => Err(PortError("denied and rewrote in one reply".to_owned())),
        (Some(Word::Ask), input) => Ok(HookReply::Ask { message, input }),
        (None, Some(input)) => Ok(HookReply::Rewrite { input }),
        (None, None) => Ok(HookReply::Nothing),
    }
}

/// What a text says in each format, for what is fuzzed.
#[cfg(any(test, fuzzing))]
pub(crate) fn in_both_formats(stdout: &str) -> [Result<HookReply, PortError>; 2] {
    [parse(stdout), parse_claude(stdout)]
}

/// A reply, within the limits of gate 1: its input takes the place of one that passed them.
fn read<T: DeserializeOwned>(stdout: &str) -> Result<T, PortError> {
    let wrong = |what: String| PortError(format!("printed something that is not a reply: {what}"));
    let printed = parse_object(stdout.as_bytes()).map_err(wrong)?;
    serde_json::from_value(Value::Object(printed)).map_err(|error| wrong(error.to_string()))
}

/// A reply in the format of Claude Code. What that format has beside decisions (words for its own screen, context for its
/// model) is read and left alone; a key that it does not have is a typing error, and might have been the decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Claude {
    decision: Option<ClaudeWord>,
    reason: Option<String>,
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    #[serde(rename = "suppressOutput")]
    _suppress_output: Option<IgnoredAny>,
    #[serde(rename = "systemMessage")]
    _system_message: Option<IgnoredAny>,
    #[serde(rename = "additionalContext")]
    _additional_context: Option<IgnoredAny>,
    hook_specific_output: Option<Specific>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClaudeWord {
    Block,
    Approve,
}

/// What belongs to one event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Specific {
    #[serde(rename = "hookEventName")]
    _hook_event_name: Option<String>,
    permission_decision: Option<Permission>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    decision: Option<Behaviour>,
    #[serde(rename = "additionalContext")]
    _additional_context: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Permission {
    Allow,
    Ask,
    Deny,
}

/// The answer to `PermissionRequest`.
#[derive(Debug, Deserialize)]
#[serde(tag = "behavior", deny_unknown_fields, rename_all = "lowercase")]
enum Behaviour {
    #[serde(rename_all = "camelCase")]
    Allow {
        updated_input: Option<Map<String, Value>>,
        #[serde(rename = "updatedPermissions")]
        _updated_permissions: Option<IgnoredAny>,
    },
    Deny {
        message: Option<String>,
        #[serde(rename = "interrupt")]
        _interrupt: Option<IgnoredAny>,
    },
}

/// Reads what a hook printed that was written for Claude Code. Its allow is nothing here; of several words in one reply the
/// strictest counts. That format lets a hook print plain text, which says nothing, but what begins like a reply must be one.
pub(super) fn parse_claude(stdout: &str) -> Result<HookReply, PortError> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    if !stdout.trim_start_matches(blank).starts_with('{') {
        return Ok(HookReply::Nothing);
    }
    let printed: Claude = read(stdout)?;
    let specific = printed.hook_specific_output.unwrap_or_default();
    let deny = |reason| {
        Ok(HookReply::Deny {
            message: said(reason),
        })
    };
    if printed.r#continue == Some(false) {
        return deny(printed.stop_reason);
    }
    if let Some(ClaudeWord::Block) = printed.decision {
        return deny(printed.reason);
    }
    if let Some(Permission::Deny) = specific.permission_decision {
        return deny(specific.permission_decision_reason);
    }
    let answered = match specific.decision {
        Some(Behaviour::Deny { message, .. }) => return deny(message),
        Some(Behaviour::Allow { updated_input, .. }) => updated_input,
        None => None,
    };
    let input = match (specific.updated_input, answered) {
        (Some(_), Some(_)) => {
            return Err(PortError("rewrote the input twice in one reply".to_owned()));
        }
        (input, None) | (None, input) => input,
    };
    match (specific.permission_decision, input) {
        (Some(Permission::Ask), input) => Ok(HookReply::Ask {
            message: said(specific.permission_decision_reason),
            input,
        }),
        (_, Some(input)) => Ok(HookReply::Rewrite { input }),
        (_, None) => Ok(HookReply::Nothing),
    }
}

fn said(reason: Option<String>) -> String {
    reason.unwrap_or_else(|| "no reason given".to_owned())
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

    fn deny(message: &str) -> HookReply {
        HookReply::Deny {
            message: message.to_owned(),
        }
    }

    fn rewrite() -> HookReply {
        HookReply::Rewrite {
            input: Map::from_iter([("a".to_owned(), 1.into())]),
        }
    }

    fn ask(input: Option<Map<String, Value>>) -> HookReply {
        HookReply::Ask {
            message: "sure?".to_owned(),
            input,
        }
    }

    fn all_read(replies: &[(&str, HookReply)]) {
        for (printed, reply) in replies {
            assert_eq!(&parse_claude(printed).unwrap(), reply, "{printed}");
        }
    }

    #[test]
    fn replies_of_the_other_format_never_allow() {
        all_read(&[
            ("", HookReply::Nothing),
            ("checked 3 files", HookReply::Nothing),
            ("[1]", HookReply::Nothing),
            ("{}", HookReply::Nothing),
            (
                r#"{"decision":"approve","reason":"fine"}"#,
                HookReply::Nothing,
            ),
            (
                r#"{"continue":true,"suppressOutput":true}"#,
                HookReply::Nothing,
            ),
            (
                r#"{"systemMessage":"x","additionalContext":"y"}"#,
                HookReply::Nothing,
            ),
            (r#" {"decision":"block","reason":"no"}"#, deny("no")),
            (r#"{"decision":"block"}"#, deny("no reason given")),
            (r#"{"continue":false,"stopReason":"stop"}"#, deny("stop")),
            (
                r#"{"continue":false,"decision":"approve"}"#,
                deny("no reason given"),
            ),
        ]);
    }

    #[test]
    fn of_several_words_the_strictest_counts() {
        all_read(&[
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",
                    "permissionDecisionReason":"no"}}"#,
                deny("no"),
            ),
            (
                r#"{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
                deny("no reason given"),
            ),
            (
                r#"{"decision":"block","reason":"no","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
                deny("no"),
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"deny","updatedInput":{"a":1},
                    "permissionDecisionReason":"no"}}"#,
                deny("no"),
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#,
                HookReply::Nothing,
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1}}}"#,
                rewrite(),
            ),
            (
                r#"{"hookSpecificOutput":{"updatedInput":{"a":1},"additionalContext":"x"}}"#,
                rewrite(),
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
                ask(None),
            ),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?",
                    "updatedInput":{}}}"#,
                ask(Some(Map::new())),
            ),
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest",
                    "decision":{"behavior":"deny","message":"no","interrupt":true}}}"#,
                deny("no"),
            ),
            (
                r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":1}}}}"#,
                rewrite(),
            ),
        ]);
    }

    #[test]
    fn garbage_of_the_other_format_is_no_reply() {
        for garbage in [
            "{",
            "{deny}",
            "\u{feff}{\"decision\":\"block\"}",
            r#"{"decision":"deny"}"#,
            r#"{"decision":"allow"}"#,
            r#"{"decision":"Block"}"#,
            r#"{"decision":1}"#,
            r#"{"descision":"block"}"#,
            r#"{"continue":"false"}"#,
            r#"{"permissionDecision":"deny"}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"block"}}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"defer"}}"#,
            r#"{"hookSpecificOutput":{"permission_decision":"deny"}}"#,
            r#"{"hookSpecificOutput":{"updatedInput":[]}}"#,
            r#"{"hookSpecificOutput":{"updatedInput":{},"decision":{"behavior":"allow","updatedInput":{}}}}"#,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"maybe"}}}"#,
            r#"{"hookSpecificOutput":{"decision":{}}}"#,
            r#"{"decision":"block"} trailing"#,
        ] {
            assert!(parse_claude(garbage).is_err(), "{garbage}");
        }
    }
}
