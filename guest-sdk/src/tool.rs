//! What an author writes: a declaration, an input type and a body. Parsing, binding and rendering are not here and
//! cannot be overridden.

use crate::{Context, Declaration, Output, SubjectKind, ToolError, ToolInput};

/// A tool. [`export!`](crate::export) makes a component of it.
pub trait Tool {
    /// What the tool says of itself. The host reads it once and keeps it.
    const DECLARATION: Declaration;

    /// What a call takes: a struct that derives [`ToolInput`](macro@crate::ToolInput).
    type Input: ToolInput;

    /// One call, with an input that fits. Each call runs in a fresh instance, so nothing outlives it in memory.
    ///
    /// # Errors
    /// Whatever the tool cannot or may not do, as the kind that fits.
    fn run(input: Self::Input, context: &Context) -> Result<Output, ToolError>;
}

/// One permission subject, as the rules will see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSubject {
    /// What it is.
    pub kind: SubjectKind,
    /// The command line, path or URL.
    pub value: String,
}

/// A tool whose permission subjects are more than one input field. [`export_with_subjects!`](crate::export_with_subjects)
/// makes a component of it.
pub trait Subjects: Tool {
    /// The subjects of a call with this input. Runs in an empty sandbox before the decision: no file, no network.
    ///
    /// # Errors
    /// A refusal of the tool's own: the call is denied with this sentence.
    fn subjects(input: Self::Input) -> Result<Vec<ResolvedSubject>, String>;
}

/// Makes a component of a [`Tool`]: `toolgate_guest::export!(WordCount);`, once in a crate of type `cdylib`.
///
/// It exports on WebAssembly targets only, so the same crate builds and tests natively. A subject that names no field
/// of the input, or an input that is not a struct, does not compile.
#[macro_export]
macro_rules! export {
    ($tool:ident) => {
        const _: () = $crate::__private::check::<$tool>();
        #[cfg(target_family = "wasm")]
        $crate::bindings::export_tool_guest!($tool with_types_in $crate::bindings);
    };
}

/// Makes a component of a [`Tool`] that computes its own [`Subjects`]; otherwise as [`export!`](crate::export).
#[macro_export]
macro_rules! export_with_subjects {
    ($tool:ident) => {
        $crate::export!($tool);
        #[cfg(target_family = "wasm")]
        $crate::subjects_bindings::export_subjects_guest!($tool with_types_in $crate::subjects_bindings);
    };
}
