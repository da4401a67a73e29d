//! Denies a text that says so, and has nothing to say of others.

use toolgate_guest::Context;
use toolgate_guest::hook::{Event, Reply};

fn deny(event: &Event, context: &Context) -> Reply {
    context.info(format!("{} of {:?}", event.name, event.tool));
    match event.text("text") {
        Some(text) if text.contains("forbidden") => Reply::deny(format!("{text} may not be said")),
        _ => Reply::Nothing,
    }
}

toolgate_guest::hook!(deny);
