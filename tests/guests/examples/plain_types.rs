//! A component that was not made for Toolgate: gives back what it is given, of every type that there is; and has functions
//! that no tool can be.
#![allow(unsafe_code, reason = "what wit-bindgen makes of an export")]
#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "native linkers do not take the exports' names")
)]

wit_bindgen::generate!({
    inline: r#"
        package example:types@1.0.0;

        interface values {
            enum color { red, green }
            flags rights { read, write, run-it }
            variant outcome { nothing, text(string), pair(tuple<u8, s64>) }
            record size { width: u32, height: option<f32> }
            record job {
                name: string,
                initial: char,
                wanted: bool,
                small: s8,
                large: u64,
                exact: f64,
                size: size,
                color: color,
                rights: rights,
                outcome: outcome,
                tags: list<tuple<string, u16>>,
                data: list<u8>,
                maybe: option<string>,
                twice: option<option<u32>>,
                done: result<u32, string>,
            }
            echo: func(job: job) -> job;
            whole: func(number: u64, below: option<s64>) -> u64;
            silent: func();
            fails: func(why: option<string>) -> result<string, string>;
            fails-with-record: func() -> result<_, size>;

            resource thing {
                constructor();
                name: func() -> string;
            }
            takes-a-thing: func(of: borrow<thing>) -> u32;
            gives-a-thing: func() -> option<thing>;
        }

        world types {
            export values;
            export a-function-whose-name-is-longer-than-any-tool-may-have: func();
        }
    "#,
});

use exports::example::types::values::{Guest as Values, GuestThing, Job, Size, Thing, ThingBorrow};

#[derive(Debug)]
struct Types;

impl Guest for Types {
    fn a_function_whose_name_is_longer_than_any_tool_may_have() {}
}

impl Values for Types {
    type Thing = OneThing;

    fn echo(job: Job) -> Job {
        job
    }

    fn whole(number: u64, below: Option<i64>) -> u64 {
        number.saturating_add_signed(-below.unwrap_or(0))
    }

    fn silent() {}

    fn fails(why: Option<String>) -> Result<String, String> {
        why.map_or(Ok("it did not".to_owned()), Err)
    }

    fn fails_with_record() -> Result<(), Size> {
        Err(Size {
            width: 1,
            height: None,
        })
    }

    fn takes_a_thing(_of: ThingBorrow<'_>) -> u32 {
        0
    }

    fn gives_a_thing() -> Option<Thing> {
        None
    }
}

#[derive(Debug)]
struct OneThing;

impl GuestThing for OneThing {
    fn new() -> Self {
        Self
    }

    fn name(&self) -> String {
        "a thing".to_owned()
    }
}

#[cfg(target_family = "wasm")]
export!(Types);
