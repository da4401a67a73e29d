//! What the fixture tools share: the smallest contents of each kind.

pub mod raw;

use toolgate_guest::ToolInput;

/// No input.
#[derive(Debug, ToolInput)]
pub struct Nothing {}

/// Makes a component of a tool that changes nothing and says that it may, so that a person is asked.
#[macro_export]
macro_rules! asked_about {
    ($tool:ident, $name:literal) => {
        /// The tool.
        #[derive(Debug)]
        pub struct $tool;

        impl toolgate_guest::Tool for $tool {
            const DECLARATION: toolgate_guest::Declaration =
                toolgate_guest::Declaration::mutating($name, "Runs when somebody allows it.");
            type Input = $crate::Nothing;

            fn run(
                _input: $crate::Nothing,
                _context: &toolgate_guest::Context,
            ) -> Result<toolgate_guest::Output, toolgate_guest::ToolError> {
                Ok(toolgate_guest::Output::text("allowed"))
            }
        }

        toolgate_guest::export!($tool);
    };
}

/// A red pixel: a PNG of 1 by 1.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d, 0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A WAV of one silent sample: 8 bits, one channel, 8,000 Hz.
pub const SILENCE: &[u8] = b"RIFF\x25\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x01\0\0\0\x80";
