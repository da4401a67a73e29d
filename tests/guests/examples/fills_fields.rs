//! Builds HTTP fields without measure.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::wasi::Fields;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How many fields.
    entries: u32,
    /// Bytes of each value.
    width: u32,
}

/// The tool.
#[derive(Debug)]
pub struct FillsFields;

impl Tool for FillsFields {
    const DECLARATION: Declaration = Declaration::read_only("FillsFields", "Builds HTTP fields.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let fields = Fields::new();
        let value = vec![b'v'; input.width as usize];
        for number in 0..input.entries {
            fields
                .append(&format!("x-{number}"), &value)
                .map_err(|error| ToolError::failed(format!("{number}: {error:?}")))?;
        }
        Ok(Output::text("all were taken"))
    }
}

toolgate_guest::export!(FillsFields);
