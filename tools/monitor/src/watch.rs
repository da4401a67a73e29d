//! Lines as they come, and which of them hold a text.
//!
//! Guarantees that a line is judged whole, however it was cut on its way. Never calls the host.

/// The most lines that are given; the first ones.
pub const MAX_LINES: usize = 100;
/// The most characters of one line that are given.
pub const MAX_LINE: usize = 250;
/// The longest line that is kept whole, bytes: what is over is judged in parts.
const MAX_KEPT: usize = 64 << 10;

/// A watch over a task's output.
#[derive(Debug)]
pub struct Watch {
    text: String,
    rest: String,
    lines: Vec<String>,
    more: u64,
}

impl Watch {
    /// Waits for lines with this text; for any line if it is empty.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self {
            text,
            rest: String::new(),
            lines: Vec::new(),
            more: 0,
        }
    }

    /// The next output.
    pub fn push(&mut self, output: &str) {
        self.rest.push_str(output);
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            self.line(&line);
            self.rest = rest;
        }
        if self.rest.len() > MAX_KEPT {
            self.end();
        }
    }

    /// Nothing more comes: what is there is a line.
    pub fn end(&mut self) {
        let line = std::mem::take(&mut self.rest);
        if !line.is_empty() {
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        if !line.contains(&self.text) {
            return;
        }
        if self.lines.len() < MAX_LINES {
            self.lines.push(line.chars().take(MAX_LINE).collect());
        } else {
            self.more += 1;
        }
    }

    /// Whether there was such a line.
    #[must_use]
    pub fn found(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The reply, with a last line.
    #[must_use]
    pub fn finish(mut self, last: &str) -> String {
        if self.lines.is_empty() {
            self.lines.push("[no such line]".to_owned());
        }
        if self.more > 0 {
            self.lines.push(format!("[{} more lines]", self.more));
        }
        self.lines.push(last.to_owned());
        self.lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_judged_whole() {
        let mut watch = Watch::new("ready".to_owned());
        watch.push("not yet\nrea");
        assert!(!watch.found());
        watch.push("dy now\nready");
        assert!(watch.found());
        watch.end();
        assert_eq!(watch.finish("[x]"), "ready now\nready\n[x]");
    }

    #[test]
    fn lines_are_bounded() {
        let mut watch = Watch::new(String::new());
        watch.push(&format!("{}\n", "x".repeat(1_000)));
        watch.push(&"a\n".repeat(MAX_LINES + 9));
        let said = watch.finish("[x]");
        assert!(said.contains("[10 more lines]") && said.lines().count() == MAX_LINES + 2);
        assert_eq!(said.lines().next().map(str::len), Some(MAX_LINE));
        assert!(
            Watch::new("b".to_owned())
                .finish("[x]")
                .starts_with("[no such line]")
        );
    }
}
