//! Asks whether something may be said, about the call as it is or with another text in its place.

use toolgate_guest::hook::{Event, Reply};
use toolgate_guest::{Context, json};

fn ask(event: &Event, _context: &Context) -> Reply {
    match event.text("text") {
        Some("change me") => Reply::Ask {
            message: "May this be said instead?".to_owned(),
            input: json!({ "text": "changed" }).as_object().cloned(),
        },
        Some("changed") => Reply::Nothing,
        _ => Reply::ask("May this be said?"),
    }
}

toolgate_guest::hook!(ask);
