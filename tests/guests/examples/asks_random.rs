//! Asks for random bytes, as many and as often as it is told.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::wasi::{get_insecure_random_bytes, get_random_bytes};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Each time as many bytes as two to this.
    exponent: u32,
    /// How often.
    times: u32,
    /// Whether to ask for bytes that need not be secret.
    insecure: bool,
}

/// The tool.
#[derive(Debug)]
pub struct AsksRandom;

impl Tool for AsksRandom {
    const DECLARATION: Declaration = Declaration::read_only("AsksRandom", "Asks for random bytes.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let ask = match input.insecure {
            true => get_insecure_random_bytes,
            false => get_random_bytes,
        };
        let length = 1_u64
            .checked_shl(input.exponent)
            .ok_or_else(|| ToolError::failed("no such number"))?;
        let mut last = Vec::new();
        for _ in 0..input.times {
            let bytes = ask(length);
            if bytes == last {
                return Err(ToolError::failed("the same bytes came twice"));
            }
            last = bytes;
        }
        Ok(Output::text(format!("{} bytes at last", last.len())))
    }
}

toolgate_guest::export!(AsksRandom);
