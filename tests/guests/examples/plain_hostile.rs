//! A component that was not made for Toolgate, nor for anybody's good.
#![allow(unsafe_code, reason = "what wit-bindgen makes of an export")]
#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "native linkers do not take the exports' names")
)]

wit_bindgen::generate!({
    inline: r#"
        package example:hostile;

        world hostile {
            export spin: func();
            export die: func();
            export leave: func(code: u8);
            export eat: func();
            export give: func(mebibytes: u32) -> string;
            export give-bytes: func(mebibytes: u32) -> list<u8>;
            export fail: func(mebibytes: u32) -> result<_, string>;
            export count: func() -> u32;
        }
    "#,
});

use std::sync::atomic::{AtomicU32, Ordering};

static CALLS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
struct Hostile;

fn long(mebibytes: u32) -> String {
    "x".repeat((mebibytes as usize) << 20)
}

impl Guest for Hostile {
    fn spin() {
        let mut count: u64 = 0;
        loop {
            count = std::hint::black_box(count.wrapping_add(1));
        }
    }

    fn die() {
        panic!("the guest's own words");
    }

    fn leave(code: u8) {
        std::process::exit(code.into());
    }

    fn eat() {
        let mut eaten = Vec::new();
        loop {
            eaten.push(std::hint::black_box(vec![1_u8; 1 << 20]));
        }
    }

    fn give(mebibytes: u32) -> String {
        long(mebibytes)
    }

    fn give_bytes(mebibytes: u32) -> Vec<u8> {
        long(mebibytes).into_bytes()
    }

    fn fail(mebibytes: u32) -> Result<(), String> {
        Err(long(mebibytes))
    }

    fn count() -> u32 {
        CALLS.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(target_family = "wasm")]
export!(Hostile);
