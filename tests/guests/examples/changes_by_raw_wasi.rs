//! Changes files by raw WASI calls.

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::raw;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to do.
    act: Act,
    /// Below the given directory.
    path: String,
}

/// What to do.
#[derive(Clone, Copy, Debug, ToolInput)]
pub enum Act {
    /// Names the directories that it was given.
    Given,
    /// Opens for reading, and reads.
    Read,
    /// Lists.
    List,
    /// Lists the given directory by its own handle, whatever the path.
    ListGiven,
    /// Says where a link leads.
    Link,
    /// Opens with nothing but the wish to truncate.
    TruncateOnly,
    /// Opens with nothing but the wish to create.
    CreateOnly,
    /// Opens a directory with the right to change it.
    MutateDirectory,
    /// Opens for reading, and writes by the handle.
    WriteByReadHandle,
    /// Opens for reading, and cuts by the handle.
    CutByReadHandle,
    /// Opens for reading, and sets the times by the handle.
    TimesByReadHandle,
    /// Opens for writing, and writes.
    Write,
    /// Opens for writing what may be a link, following it, and writes.
    WriteFollowing,
    /// Sets the times.
    Times,
    /// Makes a second name `stolen`.
    HardLink,
    /// Renames to `stolen`.
    Rename,
    /// Makes a directory.
    MakeDirectory,
    /// Removes.
    Unlink,
}

/// The tool.
#[derive(Debug)]
pub struct ChangesByRawWasi;

impl Tool for ChangesByRawWasi {
    const DECLARATION: Declaration =
        Declaration::mutating("ChangesByRawWasi", "Changes by raw calls.")
            .destructive()
            .capability(Capability::new("fs-write", "workspace", "changes any path"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let act = match input.act {
            Act::Given => raw::Act::Given,
            Act::Read => raw::Act::Read,
            Act::List => raw::Act::List,
            Act::ListGiven => raw::Act::ListGiven,
            Act::Link => raw::Act::Link,
            Act::TruncateOnly => raw::Act::TruncateOnly,
            Act::CreateOnly => raw::Act::CreateOnly,
            Act::MutateDirectory => raw::Act::MutateDirectory,
            Act::WriteByReadHandle => raw::Act::WriteByReadHandle,
            Act::CutByReadHandle => raw::Act::CutByReadHandle,
            Act::TimesByReadHandle => raw::Act::TimesByReadHandle,
            Act::Write => raw::Act::Write,
            Act::WriteFollowing => raw::Act::WriteFollowing,
            Act::Times => raw::Act::Times,
            Act::HardLink => raw::Act::HardLink,
            Act::Rename => raw::Act::Rename,
            Act::MakeDirectory => raw::Act::MakeDirectory,
            Act::Unlink => raw::Act::Unlink,
        };
        match raw::act(act, &input.path) {
            Ok(text) => Ok(Output::text(text)),
            Err(code) => Err(ToolError::failed(format!("wasi: {code:?}"))),
        }
    }
}

toolgate_guest::export!(ChangesByRawWasi);
