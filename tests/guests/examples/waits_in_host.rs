//! Waits inside the host by every way that WASI has.

use std::io::Read as _;
use std::time::Duration;

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::wasi::{poll, subscribe_duration};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// By which way.
    how: How,
    /// How long, milliseconds, where it is a clock that is waited for.
    #[input(default = 60_000)]
    ms: u32,
}

/// Ways to wait.
#[derive(Debug, ToolInput)]
pub enum How {
    /// Sleeps.
    Clock,
    /// Blocks on one pollable that is never ready.
    Block,
    /// Polls a list of pollables of which none is ever ready.
    Poll,
    /// Reads the standard input, then sleeps.
    Stdin,
}

/// The tool.
#[derive(Debug)]
pub struct WaitsInHost;

impl Tool for WaitsInHost {
    const DECLARATION: Declaration = Declaration::read_only("WaitsInHost", "Waits.");
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        context.progress(0, None, "waiting");
        let sleep = || std::thread::sleep(Duration::from_millis(input.ms.into()));
        match input.how {
            How::Clock => sleep(),
            How::Block => subscribe_duration(u64::MAX).block(),
            How::Poll => {
                let never: Vec<_> = (0..100).map(|_| subscribe_duration(u64::MAX)).collect();
                let list: Vec<_> = never.iter().collect();
                poll(&list);
            }
            How::Stdin => {
                let mut bytes = Vec::new();
                std::io::stdin()
                    .read_to_end(&mut bytes)
                    .map_err(|error| ToolError::failed(error.to_string()))?;
                if !bytes.is_empty() {
                    return Err(ToolError::failed("there was something to read"));
                }
                sleep();
            }
        }
        Ok(Output::text("waited"))
    }
}

toolgate_guest::export!(WaitsInHost);
