//! Puts everything that it was told in the place of the text.

use toolgate_guest::hook::{Event, Reply};
use toolgate_guest::{Context, Value, json};

fn rewrite(event: &Event, _context: &Context) -> Reply {
    let Some(mut input) = event.input.clone() else {
        return Reply::Nothing;
    };
    let told_before = event.text("text").is_some_and(|text| text.starts_with('{'));
    if told_before {
        return Reply::Nothing;
    }
    let told = json!({
        "name": event.name,
        "session": event.session,
        "cwd": event.cwd,
        "tool": event.tool,
        "tool_use_id": event.tool_use_id,
        "input": event.input,
        "response": event.response,
        "details": event.details,
    });
    input.insert("text".to_owned(), Value::String(told.to_string()));
    Reply::Rewrite(input)
}

toolgate_guest::hook!(rewrite);
