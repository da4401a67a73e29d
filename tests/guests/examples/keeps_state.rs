//! Leaves something in a global and in every directory that it can think of, and says what it found there.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// What an earlier call left.
static LEFT: AtomicU32 = AtomicU32::new(0);
/// Where a file could outlive a call.
const PLACES: [&str; 4] = [
    "left.txt",
    "/left.txt",
    "/tmp/left.txt",
    "/var/tmp/left.txt",
];

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct KeepsState;

impl Tool for KeepsState {
    const DECLARATION: Declaration =
        Declaration::read_only("KeepsState", "Says what an earlier call left.");
    type Input = Input;

    fn run(_input: Input, _context: &Context) -> Result<Output, ToolError> {
        let global = LEFT.fetch_add(1, Ordering::Relaxed);
        let found = PLACES
            .iter()
            .filter(|place| fs::read(place).is_ok())
            .count();
        let written = PLACES
            .iter()
            .filter(|place| fs::write(place, "left").is_ok())
            .count();
        Ok(Output::text(format!(
            "global {global}, files {found}, written {written}"
        )))
    }
}

toolgate_guest::export!(KeepsState);
