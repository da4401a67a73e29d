//! One function a parser: any bytes go in, and what must hold for every input is asserted.
//!
//! The host's own tests compile this folder too and replay the kept corpus with it, so that `crate` is either of the two.

mod calls;
mod declared;
mod files;
mod rules;

pub use calls::{hook_reply, input, normalise};
pub use declared::declaration;
pub use files::{config, journal};
pub use rules::{command, path, rule, url};

/// The text up to the first line end, and the rest.
fn first_line(data: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(data).ok()?;
    Some(text.split_once('\n').unwrap_or((text, "")))
}
