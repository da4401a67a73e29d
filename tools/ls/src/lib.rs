//! The LS tool: the entries of one directory.
//!
//! Guarantees that nothing is hidden for its name or by ignore files, and that what is not shown is counted.
#![forbid(unsafe_code)]

pub mod listing;

use listing::{Kind, Listing};
use toolgate_guest::files::{self, EntryKind, Selection};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};

/// Entries after which the listing ends: a directory of that size is not read by listing it.
const MAX_COUNTED: usize = 100_000;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the directory to list: absolute, or relative to the workspace root.
    #[input(default = ".".to_owned())]
    path: String,
    /// Globs of entries to leave out, such as `*.log`.
    ignore: Option<Vec<String>>,
}

/// The tool.
#[derive(Debug)]
pub struct Ls;

impl Tool for Ls {
    // Read-only and idempotent: it lists and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "LS",
        "Lists one directory, sorted by name: directories end in /, links in @. Hidden and ignored files are listed \
         too; leave entries out with ignore. At most 1,000 entries are shown, the rest is counted. To find files at \
         any depth by a pattern, use Glob.",
    )
    .idempotent()
    .subject(SubjectKind::Path, "path")
    .capability(Capability::new("fs-read", "subject", "lists the directory that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let selection = Selection {
            exclude: input.ignore.unwrap_or_default(),
            directories: true,
            max_depth: 1,
            ..Selection::default()
        };
        let mut walker = files::walk(&input.path, &selection)?;
        let mut listing = Listing::new();
        for entry in walker.by_ref().take(MAX_COUNTED) {
            let kind = match entry.kind {
                EntryKind::File => Kind::File,
                EntryKind::Directory => Kind::Directory,
                EntryKind::Link => Kind::Link,
            };
            listing.push(kind, &entry.path);
        }
        let more = walker.next().is_some();
        let summary = walker.summary();
        Ok(Output::text(listing.finish(
            u64::from(summary.skipped),
            summary.truncated || more,
        )))
    }
}

toolgate_guest::export!(Ls);
