//! Prints and logs without measure.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How many lines by each way.
    lines: u32,
    /// Bytes of each logged line.
    width: u32,
}

/// The tool.
#[derive(Debug)]
pub struct FloodsOutput;

impl Tool for FloodsOutput {
    const DECLARATION: Declaration = Declaration::read_only("FloodsOutput", "Prints and logs.");
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let long = "é".repeat(input.width as usize / 2);
        for _ in 0..input.lines {
            context.info(&long);
            println!("out");
            eprintln!("err");
        }
        Ok(Output::text("flooded"))
    }
}

toolgate_guest::export!(FloodsOutput);
