//! Takes memory until there is none.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct EatsMemory;

impl Tool for EatsMemory {
    const DECLARATION: Declaration = Declaration::read_only("EatsMemory", "Takes memory.");
    type Input = Input;

    fn run(_input: Input, _context: &Context) -> Result<Output, ToolError> {
        let mut held: Vec<Vec<u8>> = Vec::new();
        loop {
            held.push(std::hint::black_box(vec![1; 1 << 20]));
        }
    }
}

toolgate_guest::export!(EatsMemory);
