//! The components of the built-in tools, as constants.
//!
//! Owns nothing but the bytes. The host's build script compiles them ahead of time.

/// One built-in tool.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// The name that the tool declares.
    pub name: &'static str,
    /// It is of no use without a shell.
    pub needs_shell: bool,
    /// The component for wasm32-wasip2.
    pub wasm: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/components.rs"));

#[cfg(test)]
mod tests {
    use super::COMPONENTS;

    #[test]
    fn every_tool_is_a_component() {
        for tool in COMPONENTS {
            assert_eq!(
                tool.wasm.get(..8),
                Some(b"\0asm\x0d\0\x01\0".as_slice()),
                "{}",
                tool.name
            );
        }
    }
}
