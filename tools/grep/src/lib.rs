//! The Grep tool: a regular expression in the contents of files.
//!
//! Guarantees a search in linear time, in bounded memory, in a stable order, and a reply that says what it leaves out.
//! No field's text ever becomes an option of anything.
#![forbid(unsafe_code)]

pub mod context;
mod input;
pub mod pattern;
pub mod report;
pub mod search;

use search::{LeftOut, Searcher, Want};
use toolgate_guest::files::{self, Batch, Scanner};
use toolgate_guest::{Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError};

pub use input::{Input, OutputMode};

/// The tool.
#[derive(Debug)]
pub struct Grep;

impl Tool for Grep {
    // Read-only and idempotent: it searches and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "Grep",
        "Searches the contents of files with a regular expression (Rust's syntax: no look-around, no \
         back-references). Gives the paths of files with a match, or with output_mode the matching lines or counts. \
         Narrow it with path, glob or type. Ignored, hidden and binary files are left out. A long reply is cut and \
         says how to go on with offset.",
    )
    .idempotent()
    .subject(SubjectKind::Path, "path")
    .capability(Capability::new("fs-read", "subject", "searches the file or directory that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let pattern = input.pattern().map_err(ToolError::invalid_input)?;
        let mut searcher = Searcher::new(pattern, input.mode(), input.paging());
        let mut scanner = files::scan(&input.path, &input.selection())?;
        while let Some(batch) = scanner.next_batch() {
            if !search(&batch, &mut searcher, &mut scanner) {
                break;
            }
        }
        let summary = scanner.summary();
        let left_out = LeftOut {
            ignored: u64::from(summary.ignored),
            skipped: u64::from(summary.skipped),
            truncated: summary.truncated,
        };
        Ok(Output::text(searcher.finish(left_out)))
    }
}

/// Searches one batch. False if nothing more is wanted.
fn search(batch: &Batch, searcher: &mut Searcher, scanner: &mut Scanner) -> bool {
    let mut rest_is_wanted = true;
    for (chunk, bytes) in batch.pieces() {
        match searcher.feed(&chunk.path, bytes, chunk.offset, chunk.last) {
            Want::Nothing => return false,
            want => rest_is_wanted = want == Want::More || chunk.last,
        }
    }
    if !rest_is_wanted {
        scanner.skip();
    }
    true
}

toolgate_guest::export!(Grep);
