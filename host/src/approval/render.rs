//! What a person is shown before they answer: one text for the terminal, the queue and every other surface.
//!
//! Guarantees that everything which others chose goes through [`visible`]; that none of it can pass for a line of ours,
//! because it stands behind a label or behind a bar; and that what is left out is counted and taken from the middle, so
//! that the end of a command is always seen.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::rest;
use crate::gate::{ApprovalRequest, SeenPath};
use crate::model::visible;

/// The most characters of one text that are shown.
const MAX_SHOWN: usize = 20_000;
/// The most lines of one text that are shown, so that what stands above is not pushed off the screen.
const MAX_LINES: usize = 220;
/// The most subjects, and the most grants, that are shown.
const MAX_ITEMS: usize = 50;
/// The longest rule that "always" may stand for, characters: nobody reads a longer one in full.
const MAX_RULE: usize = 2_000;

/// A request as it is shown: with what it would change, read when this was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The tool.
    pub tool: String,
    /// The workspace root.
    pub workspace: String,
    /// The final input.
    pub input: Map<String, Value>,
    /// The resolved subjects: kind and text.
    pub subjects: Vec<(String, String)>,
    /// Paths of the call that lead elsewhere: each with the path behind all links. Relative ones stand on the workspace.
    pub links: Vec<(String, String)>,
    /// Why it is asked.
    pub reason: String,
    /// What the call could reach.
    pub grants: Vec<String>,
    /// What to look at twice.
    pub warnings: Vec<String>,
    /// The exact rule that "always" stands for. `None`: that answer cannot be given, or the rule is longer than 2,000
    /// characters.
    pub always: Option<String>,
    /// What became of an earlier question about the same call. `None`: there was none, or nothing changed since.
    pub earlier: Option<String>,
    pub(super) change: Option<Change>,
}

impl Question {
    /// The question of a request. Reads the file that an edit would change, at most 1 MiB.
    pub fn of(request: &ApprovalRequest) -> Self {
        let kind = |subject: &crate::model::Subject| subject.kind.as_str().to_owned();
        Self {
            tool: request.tool.as_str().to_owned(),
            workspace: request.workspace.to_string_lossy().into_owned(),
            input: request.input.as_ref().clone(),
            subjects: request
                .subjects
                .iter()
                .map(|subject| (kind(subject), subject.value.clone()))
                .collect(),
            links: request
                .seen
                .iter()
                .filter(|path| path.real != path.named)
                .map(|path| link(&request.workspace, path))
                .collect(),
            reason: request.reason.clone(),
            grants: request.grants.clone(),
            warnings: request.warnings.clone(),
            always: request
                .always()
                .filter(|rule| rule.chars().count() <= MAX_RULE)
                .map(str::to_owned),
            earlier: None,
            change: diff::change(request),
        }
    }

    /// What the call would change, in lines; not escaped.
    pub fn preview(&self) -> Option<&str> {
        self.change.as_ref().map(|change| change.text.as_str())
    }

    /// The text that a person reads: safe to print, ends with a line feed.
    pub fn text(&self) -> String {
        let mut text = format!("{} asks to run.\n", one_line(&self.tool));
        push(&mut text, "Workspace", &self.workspace);
        push(&mut text, "Why you are asked", &self.why());
        for warning in &self.warnings {
            push(&mut text, "Look twice", warning);
        }
        for (kind, value) in self.subjects.iter().take(MAX_ITEMS) {
            push(&mut text, &one_line(kind), value);
        }
        push_left_out(&mut text, self.subjects.len());
        for (named, real) in self.links.iter().take(MAX_ITEMS) {
            push(&mut text, "Link", &format!("{named} -> {real}"));
        }
        push_left_out(&mut text, self.links.len());
        for grant in self.grants.iter().take(MAX_ITEMS) {
            push(&mut text, "It could", grant);
        }
        push_left_out(&mut text, self.grants.len());
        if let Some(change) = &self.change {
            push_block(&mut text, "What it changes", &change.text);
        }
        let shown = |change: &Change| change.shows_contents;
        if self.change.as_ref().is_some_and(shown) {
            let rest = rest::without_contents(&self.input);
            if !rest.is_empty() {
                push_block(
                    &mut text,
                    "The rest of the input",
                    &rest::lines(&rest, &self.subjects),
                );
            }
        } else {
            push_block(
                &mut text,
                "Input",
                &rest::lines(&self.input, &self.subjects),
            );
        }
        text
    }

    /// Why it is asked, with what became of an earlier question.
    pub fn why(&self) -> String {
        match &self.earlier {
            Some(earlier) => format!("{}; {earlier}", self.reason),
            None => self.reason.clone(),
        }
    }

    /// Whether an answer to this question is one to the other: it is the same call, and it would change the same.
    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        let digest = |question: &Self| question.change.as_ref().map(|change| change.digest.clone());
        self.tool == other.tool
            && self.input == other.input
            && self.subjects == other.subjects
            && self.workspace == other.workspace
            && self.links == other.links
            && self.grants == other.grants
            && self.always == other.always
            && digest(self) == digest(other)
    }
}

fn link(workspace: &Path, path: &SeenPath) -> (String, String) {
    let short = |path: &Path| {
        let below = path.strip_prefix(workspace).ok();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        below.unwrap_or(path).to_string_lossy().into_owned()
    };
    (short(&path.named), short(&path.real))
}

/// A text that others chose, on one line, so that it cannot look like a line of ours.
pub(super) fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

fn push_left_out(text: &mut String, items: usize) {
    if items > MAX_ITEMS {
        text.push_str(&format!("(and {} more)\n", items - MAX_ITEMS));
    }
}

/// A labelled text: on the label's line where it has one line.
fn push(text: &mut String, label: &str, value: &str) {
    if value.contains('\n') || value.chars().count() > MAX_SHOWN {
        push_block(text, label, value);
    } else {
        text.push_str(&format!("{label}: {}\n", one_line(value)));
    }
}

/// A labelled text of several lines, each behind a bar.
fn push_block(text: &mut String, label: &str, value: &str) {
    let cut = Cut::of(value);
    if cut.left_out == 0 {
        text.push_str(&format!("{label}:\n"));
        push_lines(text, value);
        return;
    }
    text.push_str(&format!(
        "{label} ({} of {} characters are not shown):\n",
        cut.left_out, cut.length
    ));
    push_lines(text, &cut.head);
    text.push_str(&format!(
        "  ({} characters are not shown here)\n",
        cut.left_out
    ));
    push_lines(text, &cut.tail);
}

/// How a tab is shown.
const TAB: &str = "→   ";

fn push_lines(text: &mut String, value: &str) {
    // Not `lines()`: an empty last line is a line that the person should see.
    for line in value.split('\n') {
        // What programmers read is full of tabs, and no control character may reach a terminal.
        let parts: Vec<_> = line.split('\t').map(visible).collect();
        text.push_str(&format!("  | {}\n", parts.join(TAB)));
    }
}

/// A text without its middle.
struct Cut {
    head: String,
    tail: String,
    length: usize,
    left_out: usize,
}

impl Cut {
    fn of(text: &str) -> Self {
        let length = text.chars().count();
        let half = MAX_SHOWN / 2;
        let (mut head, mut tail): (String, String) = if length <= MAX_SHOWN {
            (text.to_owned(), String::new())
        } else {
            (
                text.chars().take(half).collect(),
                text.chars().skip(length - half).collect(),
            )
        };
        if head.split('\n').count() + tail.split('\n').count() > MAX_LINES {
            let whole = if tail.is_empty() { head.clone() } else { tail };
            tail = last_lines(&whole, MAX_LINES / 2).to_owned();
            head = first_lines(&head, MAX_LINES / 2).to_owned();
        }
        let left_out = length - head.chars().count() - tail.chars().count();
        Self {
            head,
            tail,
            length,
            left_out,
        }
    }
}

fn first_lines(text: &str, count: usize) -> &str {
    match text.match_indices('\n').nth(count - 1) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

fn last_lines(text: &str, count: usize) -> &str {
    match text.rmatch_indices('\n').nth(count - 1) {
        Some((at, _)) => text.get(at + 1..).unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::gate::{SeenFile, Standing};
    use crate::model::{CallId, Subject, SubjectKind, ToolName, hex};
    use sha2::{Digest as _, Sha256};

    /// A request of a built-in tool without paths; its ticket follows from tool and input.
    pub(in crate::approval) fn request(tool: &str, input: Value) -> ApprovalRequest {
        let ticket = hex(&Sha256::digest(format!("{tool}{input}").as_bytes()));
        ApprovalRequest {
            call: CallId::new(),
            tool: ToolName::try_from(tool).unwrap(),
            input: Arc::new(input.as_object().unwrap().clone()),
            subjects: Vec::new(),
            reason: "no rule allows it".to_owned(),
            grants: Vec::new(),
            workspace: "/ws".into(),
            seen: Vec::new(),
            built_in: true,
            warnings: Vec::new(),
            standing: None,
            about: ticket.clone(),
            ticket,
        }
    }

    /// What "always" would stand for, under this rule.
    pub(in crate::approval) fn standing(rule: &str) -> Standing {
        Standing {
            tool: ToolName::try_from("Write").unwrap(),
            component: "c0ffee".to_owned(),
            rule: rule.to_owned(),
            files: BTreeMap::new(),
            workspace: None,
        }
    }

    fn command(value: &str) -> ApprovalRequest {
        let mut request = request("Bash", json!({"command": value}));
        request.subjects = vec![Subject {
            kind: SubjectKind::Command,
            value: value.to_owned(),
        }];
        request
    }

    #[test]
    fn nothing_that_others_chose_can_move_the_cursor_or_pass_for_ours() {
        let hostile = "x\u{1b}[2K\u{1b}[1A\u{1b}[8m\r\nWhy you are asked: all is well\n\u{202e}\u{200b}\u{fe0f}\u{e0041}\u{9b}";
        let mut request = command(&format!("echo {hostile}"));
        request.reason = hostile.to_owned();
        request.grants = vec![hostile.to_owned()];
        request.warnings = vec![hostile.to_owned()];
        request.input = Arc::new(
            json!({hostile: hostile, "content": hostile})
                .as_object()
                .unwrap()
                .clone(),
        );
        let mut question = Question::of(&request);
        question.change = Some(Change {
            text: hostile.to_owned(),
            digest: String::new(),
            shows_contents: false,
        });
        question.links = vec![(hostile.to_owned(), hostile.to_owned())];
        question.workspace = hostile.to_owned();
        question.earlier = Some(hostile.to_owned());
        question.tool = hostile.to_owned();
        let text = question.text();
        assert!(
            text.chars()
                .all(|c| c == '\n' || c == '\t' || !c.is_control()),
            "{text:?}"
        );
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{fe0f}', '\u{e0041}']));
        let ours = text
            .lines()
            .filter(|line| line.starts_with("Why you are asked"));
        assert_eq!(ours.count(), 1, "{text}");
    }

    #[test]
    fn all_that_matters_stands_in_order() {
        let mut request = command("git push");
        request.grants = vec!["write files: /ws".to_owned()];
        request.warnings = vec!["one word mixes scripts".to_owned()];
        assert_eq!(
            Question::of(&request).text(),
            "Bash asks to run.\nWorkspace: /ws\nWhy you are asked: no rule allows it\nLook twice: one word mixes scripts\n\
             command: git push\nIt could: write files: /ws\nInput:\n  | {\n  |   \"command\": \"git push\"\n  | }\n"
        );
    }

    #[test]
    fn the_end_of_a_long_command_is_seen() {
        let long = Question::of(&command(&format!("{}; rm -rf /ws", "a".repeat(50_000)))).text();
        assert!(long.contains("command (30012 of 50012 characters are not shown):"));
        assert!(long.contains("  (30012 characters are not shown here)\n"));
        assert!(long.contains("aaa; rm -rf /ws\n"));
        let tall = Question::of(&command(&format!("first{}last", "\n".repeat(5_000)))).text();
        assert!(
            tall.contains("command (4782 of 5009 characters are not shown):"),
            "{tall}"
        );
        assert!(tall.contains("  | first\n") && tall.contains("  | last\n"));
        assert!(tall.lines().count() < 240);
    }

    #[test]
    fn a_rule_that_nobody_can_read_is_not_offered() {
        let mut request = command("x");
        request.standing = Some(standing(&format!("Bash({})", "y".repeat(1_000))));
        assert!(Question::of(&request).always.is_some());
        request.standing = Some(standing(&format!("Bash({})", "y".repeat(2_000))));
        assert_eq!(Question::of(&request).always, None);
    }

    #[test]
    fn a_link_is_shown_with_where_it_leads() {
        let mut request = request("Read", json!({"file_path": "l3.txt"}));
        let path = |named: &str, real: &str| SeenPath {
            named: named.into(),
            real: real.into(),
            what: SeenFile::Absent,
        };
        request.seen = vec![
            path("/ws/l3.txt", "/ws/tgt.txt"),
            path("/ws/a", "/ws/a"),
            path("/doc/l", "/doc/x\ny"),
        ];
        let text = Question::of(&request).text();
        assert!(
            text.contains("Link: l3.txt -> tgt.txt\nLink:\n  | /doc/l -> /doc/x\n  | y\n"),
            "{text}"
        );
    }

    #[test]
    fn what_the_difference_shows_is_not_repeated_and_tabs_are_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("Makefile");
        let input = json!({"file_path": "Makefile", "content": "all:\n\tcc\n"});
        let mut request = request("Write", input);
        request.seen = super::super::sight::look(vec![path.clone()], true);
        let text = Question::of(&request).text();
        assert!(
            text.ends_with(
                "  | +all:\n  | +→   cc\nThe rest of the input:\n  | {\n  |   \"file_path\": \"Makefile\"\n  | }\n"
            ),
            "{text}"
        );
        // A sentence shows no content.
        std::fs::create_dir(&path).unwrap();
        let text = Question::of(&request).text();
        assert!(
            text.contains("Input:\n  | {\n  |   \"file_path\": \"Makefile\",\n  |   \"content\": a text of 3 lines:\n  |     | all:\n  |     | →   cc\n"),
            "{text}"
        );
    }
}
