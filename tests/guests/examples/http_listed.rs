//! A stranger that lists the hosts that it reaches, and tries more.

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::http::send;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to try.
    urls: Vec<String>,
    /// With which method.
    method: Option<String>,
    /// How often each.
    times: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct Listed;

impl Tool for Listed {
    const DECLARATION: Declaration = Declaration::mutating("Listed", "Tries URLs.")
        .open_world()
        .capability(Capability::new(
            "net",
            "http://*.test:*/**",
            "asks the hosts of a test",
        ))
        .capability(Capability::new(
            "net",
            "http://127.0.0.1:*/**",
            "asks this machine",
        ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let method = input.method.as_deref().unwrap_or("GET");
        let mut lines = Vec::new();
        for url in &input.urls {
            for _ in 0..input.times.unwrap_or(1) {
                let said = match send(method, url, &[], &[], 1 << 20) {
                    Ok(answer) => format!(
                        "{} {}",
                        answer.status,
                        String::from_utf8_lossy(&answer.body)
                    ),
                    Err(code) => code,
                };
                lines.push(format!("{url}: {said}"));
            }
        }
        Ok(Output::text(lines.join("\n")))
    }
}

toolgate_guest::export!(Listed);
