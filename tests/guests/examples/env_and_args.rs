//! Says what it finds of the process around it.

use std::io::Read as _;

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput, json};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct EnvAndArgs;

impl Tool for EnvAndArgs {
    const DECLARATION: Declaration = Declaration::read_only("EnvAndArgs", "Looks around.");
    type Input = Input;

    fn run(_input: Input, _context: &Context) -> Result<Output, ToolError> {
        let mut stdin = Vec::new();
        let read = std::io::stdin().read_to_end(&mut stdin);
        let variables: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
        let arguments: Vec<String> = std::env::args().collect();
        Ok(Output::json(json!({
            "variables": variables,
            "arguments": arguments,
            "stdin": stdin.len(),
            "stdin_read": read.is_ok(),
            "root": std::fs::read_dir("/").is_ok(),
        })))
    }
}

toolgate_guest::export!(EnvAndArgs);
