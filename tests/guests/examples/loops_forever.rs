//! Says that it begins, then never yields and never ends.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct LoopsForever;

impl Tool for LoopsForever {
    const DECLARATION: Declaration = Declaration::read_only("LoopsForever", "Loops.");
    type Input = Input;

    fn run(_input: Input, context: &Context) -> Result<Output, ToolError> {
        context.progress(0, None, "looping");
        let mut count: u64 = 0;
        loop {
            count = std::hint::black_box(count.wrapping_add(1));
        }
    }
}

toolgate_guest::export!(LoopsForever);
