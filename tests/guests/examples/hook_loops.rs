//! Never answers: it computes, or waits where the host has to wait with it.

use std::time::Duration;

use toolgate_guest::Context;
use toolgate_guest::hook::{Event, Reply};

fn stay(event: &Event, _context: &Context) -> Reply {
    if event.text("text") == Some("wait") {
        std::thread::sleep(Duration::from_secs(3_600));
    }
    let mut count: u64 = 0;
    loop {
        count = std::hint::black_box(count.wrapping_add(1));
    }
}

toolgate_guest::hook!(stay);
