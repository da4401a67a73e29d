//! The built-in tools, as the build script left them: compiled, and with what they declare. Nothing of them is loaded before
//! the first call.

use crate::model::{Declaration, DeclarationParts};
use crate::runtime::{ComponentError, Source};

/// One built-in tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltIn {
    /// The name it declares.
    pub(super) name: &'static str,
    /// It is of no use without a shell.
    pub(super) needs_shell: bool,
    /// It exports `subjects`.
    pub(super) computes_subjects: bool,
    /// SHA-256 of the component, in hexadecimal.
    pub(super) digest: &'static str,
    /// What it declares: [`DeclarationParts`] as JSON.
    declaration: &'static str,
    /// Machine code.
    compiled: &'static [u8],
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

    pub(super) fn source(&self) -> Source {
        Source::BuiltIn {
            compiled: self.compiled,
            digest: self.digest,
        }
    }

    /// What it declares, checked like any declaration.
    pub(super) fn declaration(&self) -> Result<Declaration, ComponentError> {
        let parts: DeclarationParts = serde_json::from_str(self.declaration)
            .map_err(|error| ComponentError::Describe(error.to_string()))?;
        Ok(Declaration::check(parts)?)
    }
}

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// All of them.
pub(super) fn all() -> &'static [BuiltIn] {
    BUILT_IN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{LoadedComponent, ToolEngine};

    #[tokio::test]
    async fn what_was_said_at_build_time_is_what_each_tool_says() {
        let engine = ToolEngine::new(4).unwrap();
        assert_eq!(all().len(), 20);
        for tool in all() {
            let component = LoadedComponent::load(&engine, tool.source()).unwrap();
            let said = component.describe().await.unwrap();
            assert_eq!(tool.declaration().unwrap(), said);
            assert_eq!(said.name.as_str(), tool.name);
            assert_eq!(tool.computes_subjects, component.computes_subjects());
            assert_eq!(
                tool.needs_shell,
                component.needs_shell(&said),
                "{}",
                tool.name
            );
        }
    }
}
