//! The Glob tool: files by the pattern of their paths.
//!
//! Guarantees a stable order, that ignored files are left out and counted, and that a path named exactly is found
//! although it is ignored.
#![forbid(unsafe_code)]

pub mod found;
pub mod plan;

use found::{Found, LeftOut};
use plan::{Ignored, Plan};
use toolgate_guest::files::{self, Selection};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Glob that the files' paths must match, such as `**/*.rs` or `src/**/*.{ts,tsx}`. Without a slash it matches
    /// file names at any depth.
    pattern: String,
    /// Directory to search: absolute, or relative to the workspace root.
    #[input(default = ".".to_owned())]
    path: String,
}

/// The tool.
#[derive(Debug)]
pub struct Glob;

impl Tool for Glob {
    // Read-only and idempotent: it lists and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "Glob",
        "Finds files by a pattern of their paths. * matches within a path component, ** across them, {a,b} either. \
         Gives absolute paths, one a line, sorted, at most 1,000. Ignored and hidden files are left out and counted; \
         a pattern without wildcards finds them too. To search in the contents of files, use Grep.",
    )
    .idempotent()
    .subject(SubjectKind::Path, "path")
    .capability(Capability::new("fs-read", "subject", "lists what is below the directory that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let plan = plan::plan(&input.pattern, &input.path).map_err(ToolError::invalid_input)?;
        let (mut found, mut left_out) = walk(&plan, plan.ignored != Ignored::In)?;
        if found.is_empty() && plan.ignored == Ignored::IfNothingElse {
            (found, left_out) = walk(&plan, false)?;
        }
        Ok(Output::text(found.finish(&input.pattern, left_out)))
    }
}

fn walk(plan: &Plan, respect_ignore: bool) -> Result<(Found, LeftOut), ToolError> {
    let selection = Selection {
        include: vec![plan.include.clone()],
        respect_ignore,
        max_depth: plan.max_depth,
        ..Selection::default()
    };
    let mut walker = files::walk(&plan.start, &selection)?;
    let mut found = Found::new();
    for entry in walker.by_ref() {
        if !found.push(&entry.path) {
            break;
        }
    }
    let summary = walker.summary();
    let left_out = LeftOut {
        ignored: u64::from(summary.ignored),
        skipped: u64::from(summary.skipped),
        truncated: summary.truncated,
    };
    Ok((found, left_out))
}

toolgate_guest::export!(Glob);
