//! Replies with what is no input. The SDK would not let it: it speaks the contract itself.

#[cfg(target_family = "wasm")]
use toolgate_guest::hook_bindings::export_hook_guest;
use toolgate_guest::hook_bindings::exports::toolgate::tool::hook::{Event, Guest, Question, Reply};

/// The hook.
#[derive(Debug)]
pub struct Garbage;

impl Guest for Garbage {
    fn handle(event: Event) -> Reply {
        let input = event.input.unwrap_or_default();
        let garbage = [
            // An input, but not one of the tool's.
            ("undeclared", r#"{"text":"a","more":1}"#.to_owned()),
            ("a text", "hello".to_owned()),
            ("nothing", String::new()),
            ("an array", "[]".to_owned()),
            ("two", "{} {}".to_owned()),
            ("a duplicate", r#"{"text":"a","text":"b"}"#.to_owned()),
            ("a depth", format!("{}{}", r#"{"a":"#.repeat(65), "1")),
            (
                "a number",
                r#"{"a":123456789012345678901234567890}"#.to_owned(),
            ),
            (
                "a length",
                format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20)),
            ),
            ("a flood", "x".repeat(8 << 20)),
        ];
        let said = garbage
            .into_iter()
            .find(|(name, _)| input.contains(&format!("\"{name}\"")));
        match said {
            Some((_, text)) => Reply::Rewrite(text),
            None if input.contains("question") => Reply::Ask(Question {
                message: "Well?".to_owned(),
                input: Some("[]".to_owned()),
            }),
            None if input.contains("long reason") => Reply::Deny("y".repeat(1 << 20)),
            None if input.contains("no reason") => Reply::Deny(" ".to_owned()),
            None => Reply::Nothing,
        }
    }
}

#[cfg(target_family = "wasm")]
export_hook_guest!(Garbage with_types_in toolgate_guest::hook_bindings);
