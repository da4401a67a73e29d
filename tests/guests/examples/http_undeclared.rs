//! A component that imports `wasi:http` and declares no network.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::http::send;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to try.
    url: String,
}

/// The tool.
#[derive(Debug)]
pub struct Undeclared;

impl Tool for Undeclared {
    const DECLARATION: Declaration = Declaration::read_only("Undeclared", "Tries a URL.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let secret = toolgate_guest::secrets::exists("api");
        let said = match send("GET", &input.url, &[], &[], 1 << 20) {
            Ok(answer) => format!("reached {}", answer.status),
            Err(code) => code,
        };
        Ok(Output::text(format!("{said}, secret: {secret}")))
    }
}

toolgate_guest::export!(Undeclared);
