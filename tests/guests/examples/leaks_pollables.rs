//! Makes pollables and never drops one.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::wasi::subscribe_duration;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How many.
    times: u32,
}

/// The tool.
#[derive(Debug)]
pub struct LeaksPollables;

impl Tool for LeaksPollables {
    const DECLARATION: Declaration =
        Declaration::read_only("LeaksPollables", "Makes pollables and keeps them.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        for _ in 0..input.times {
            std::mem::forget(subscribe_duration(u64::MAX));
        }
        Ok(Output::text("all were given"))
    }
}

toolgate_guest::export!(LeaksPollables);
