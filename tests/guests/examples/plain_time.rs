//! A component that was not made for Toolgate: one interface, with a function of no parameters.
#![allow(unsafe_code, reason = "what wit-bindgen makes of an export")]
#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "native linkers do not take the export's name")
)]

wit_bindgen::generate!({
    inline: r#"
        package example:clock@0.2.0;

        interface time {
            get-current-time: func() -> string;
            seconds-since: func(then: u64) -> option<u64>;
        }

        world clock {
            export time;
        }
    "#,
});

use std::time::{SystemTime, UNIX_EPOCH};

use exports::example::clock::time::Guest;

#[derive(Debug)]
struct Clock;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

impl Guest for Clock {
    fn get_current_time() -> String {
        format!("{} seconds since 1970", now())
    }

    fn seconds_since(then: u64) -> Option<u64> {
        now().checked_sub(then)
    }
}

#[cfg(target_family = "wasm")]
export!(Clock);
