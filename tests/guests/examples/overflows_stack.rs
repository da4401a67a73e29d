//! Calls itself without end.

use std::hint::black_box;

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct OverflowsStack;

impl Tool for OverflowsStack {
    const DECLARATION: Declaration = Declaration::read_only("OverflowsStack", "Calls itself.");
    type Input = Input;

    fn run(_input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(deeper(u64::MAX).to_string()))
    }
}

#[inline(never)]
fn deeper(left: u64) -> u64 {
    if left == 0 {
        return 0;
    }
    // What is done with the answer keeps the call from becoming a loop.
    black_box(deeper(black_box(left - 1))).wrapping_mul(left)
}

toolgate_guest::export!(OverflowsStack);
