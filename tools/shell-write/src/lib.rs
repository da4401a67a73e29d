//! The ShellWrite tool: typing into a session.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, sessions,
};

/// The most bytes of a call.
const MOST: usize = 64 << 10;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that ShellStart gave.
    session: String,
    /// What to type, at most 65536 bytes. Control characters are keys: \\u0003 is ctrl-c, \\u0004 ctrl-d, \\u001b escape, \\t
    /// tab.
    text: String,
    /// Press the return key after it.
    #[input(default = true)]
    enter: bool,
}

/// The tool.
#[derive(Debug)]
pub struct ShellWrite;

impl Tool for ShellWrite {
    // Destructive and not idempotent: what is typed into a shell does anything that its sandbox lets it, and does it again.
    // Open-world: the operator may give commands the network. Not exclusive: the terminal takes one writer after the other.
    const DECLARATION: Declaration = Declaration::mutating(
        "ShellWrite",
        "Types into a session of ShellStart. No rule reads what is typed, so each call asks for approval unless a rule \
         allows the whole tool. Programs answer when they do: read with ShellRead. Lines over 4,095 bytes are cut unless \
         the session is raw or its program edits lines itself, as an interactive bash does.",
    )
    .destructive()
    .open_world()
    .capability(Capability::new("shell", "run", "types into a running command, which may run others"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let keys = keys(input.text, input.enter)?;
        let typed = sessions::write(&input.session, keys.as_bytes())?;
        let text = toolgate_sessions::typed(&input.session, &typed);
        if typed.bytes < keys.len() as u64 {
            return Err(ToolError::failed(text));
        }
        Ok(Output::text(text))
    }
}

/// The keys that are pressed.
fn keys(mut text: String, enter: bool) -> Result<String, ToolError> {
    if text.len() > MOST {
        return Err(ToolError::invalid_input(format!(
            "text has {} bytes, and a call types at most {MOST}: type it in parts, or write a file",
            text.len()
        )));
    }
    if enter {
        text.push('\r');
    }
    if text.is_empty() {
        return Err(ToolError::invalid_input(
            "there is nothing to type: give text, or enter",
        ));
    }
    Ok(text)
}

toolgate_guest::export!(ShellWrite);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_text_and_the_return_key() {
        assert_eq!(keys("ls".to_owned(), true).unwrap(), "ls\r");
        assert_eq!(keys("\u{3}".to_owned(), false).unwrap(), "\u{3}");
        assert_eq!(keys(String::new(), true).unwrap(), "\r");
        assert!(keys(String::new(), false).is_err());
        assert!(keys("x".repeat(MOST + 1), true).is_err());
    }
}
