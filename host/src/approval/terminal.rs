//! The terminal: shows the exact call and waits for a yes.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use async_trait::async_trait;

use crate::gate::{Answer, ApprovalRequest, Approver};
use crate::model::visible;

/// How long a person has to answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most characters of an input that are shown.
const MAX_SHOWN: usize = 4_000;

/// Asks at the controlling terminal, whatever stdin and stdout are connected to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal;

impl Terminal {
    /// Whether there is a terminal to ask at.
    pub fn is_there() -> bool {
        open().is_some()
    }
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        // One question at a time: an answer must not reach another one.
        static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _turn = TURN.lock().await;
        let prompt = prompt(request);
        let asked = tokio::task::spawn_blocking(move || ask(&prompt));
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(Some(true))) => Answer::Approved {
                by: "the terminal".to_owned(),
                always: false,
            },
            Ok(Ok(Some(false))) => Answer::Refused {
                by: "the terminal".to_owned(),
                message: None,
            },
            Ok(Ok(None) | Err(_)) => Answer::Nobody,
            Err(_) => Answer::TimedOut { after: PATIENCE },
        }
    }
}

fn open() -> Option<std::fs::File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()
}

/// Only `y` and `yes` are a yes.
fn ask(prompt: &str) -> Option<bool> {
    let mut terminal = open()?;
    terminal.write_all(prompt.as_bytes()).ok()?;
    terminal.flush().ok()?;
    let mut line = String::new();
    let read = BufReader::new(terminal).read_line(&mut line).ok()?;
    (read > 0).then(|| matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What the person sees. Everything that others chose goes through [`visible`].
fn prompt(request: &ApprovalRequest) -> String {
    let input = serde_json::to_string_pretty(request.input.as_ref()).unwrap_or_default();
    let shown: String = input.chars().take(MAX_SHOWN).collect();
    let left_out = input.chars().count() - shown.chars().count();
    let mut prompt = format!("\n{} asks to run.\n", one_line(request.tool.as_str()));
    prompt.push_str(&format!(
        "Why you are asked: {}\n",
        one_line(&request.reason)
    ));
    for subject in &request.subjects {
        prompt.push_str(&format!("{}: {}\n", subject.kind, one_line(&subject.value)));
    }
    for grant in &request.grants {
        prompt.push_str(&format!("It could {}\n", one_line(grant)));
    }
    prompt.push_str(&format!("Input: {}\n", visible(&shown)));
    if left_out > 0 {
        prompt.push_str(&format!(
            "({left_out} more characters of the input are not shown)\n"
        ));
    }
    prompt.push_str("Run it once? [y/N] ");
    prompt
}

/// A text that others chose, on one line, so that it cannot look like a line of ours.
fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{CallId, ToolName};

    #[test]
    fn nothing_that_others_chose_can_move_the_cursor() {
        let input = serde_json::json!({"content": "echo x\u{1b}[2K\u{1b}[1A; rm -rf /ws\u{202e}"});
        let request = ApprovalRequest {
            call: CallId::new(),
            tool: ToolName::try_from("Write").unwrap(),
            input: Arc::new(input.as_object().unwrap().clone()),
            subjects: Vec::new(),
            reason: "a hook said \u{1b}[8m".to_owned(),
            paths: Vec::new(),
            built_in: true,
            warnings: Vec::new(),
            always: None,
            grants: vec!["write files: /ws/a\u{200b}b\nRun it once? [y/N] ".to_owned()],
            ticket: String::new(),
        };
        let prompt = prompt(&request);
        assert!(
            prompt.chars().all(|c| c == '\n' || !c.is_control()),
            "{prompt:?}"
        );
        assert!(!prompt.contains(['\u{202e}', '\u{200b}']));
        let asks = prompt
            .lines()
            .filter(|line| line.starts_with("Run it once?"));
        assert_eq!(asks.count(), 1, "{prompt}");
    }
}
