//! The built-in tools, as the build script left them.

/// One built-in tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltIn {
    /// The name it declares.
    pub(super) name: &'static str,
    /// It is of no use without a shell.
    pub(super) needs_shell: bool,
    /// SHA-256 of the component, in hexadecimal.
    pub(super) digest: &'static str,
    /// Machine code.
    pub(super) compiled: &'static [u8],
}

/// Those that are of no use without terminals.
const TERMINAL_TOOLS: [&str; 5] = [
    "ShellClose",
    "ShellRead",
    "ShellResize",
    "ShellStart",
    "ShellWrite",
];

impl BuiltIn {
    /// It is of no use without terminals.
    pub(super) fn needs_terminal(&self) -> bool {
        TERMINAL_TOOLS.contains(&self.name)
    }
}

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// All of them.
pub(super) fn all() -> &'static [BuiltIn] {
    BUILT_IN
}
