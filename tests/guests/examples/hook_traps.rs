//! Dies of itself, in the way that the text names.

use toolgate_guest::Context;
use toolgate_guest::hook::{Event, Reply};

fn die(event: &Event, _context: &Context) -> Reply {
    match event.text("text") {
        Some("panic") => panic!("the hook's own words"),
        Some("exit") => std::process::exit(0),
        Some("stack") => Reply::deny(deeper(1).to_string()),
        Some("memory") => {
            let eaten = std::hint::black_box(vec![1_u8; 100 << 20]);
            Reply::deny(eaten.len().to_string())
        }
        _ => std::process::abort(),
    }
}

fn deeper(depth: u64) -> u64 {
    if std::hint::black_box(depth) == 0 {
        0
    } else {
        deeper(depth + 1) + std::hint::black_box(depth)
    }
}

toolgate_guest::hook!(die);
