//! Hooks of Claude Code, as hooks of ours.
//!
//! There, a command is a line for a shell; here it is a program with arguments. What a hook prints is read in that format
//! (`format = "claude"`), in which it can deny, ask and rewrite here, and never allow.

use std::path::Path;

use super::ImportError;
use super::draft::{Draft, Hook};
use super::json::At;
use crate::config::runs::simple_command;

/// Milliseconds that a hook may take there where its settings say nothing.
const TIMEOUT_THERE: u64 = 60_000;
/// The most milliseconds that a hook may take here.
const MAX_TIMEOUT: u64 = 600_000;

/// Commands that a shell has in itself: there may be no such program, or another one.
const IN_SHELL: &[&str] = &[
    ".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare",
    "echo", "eval", "exec", "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill",
    "let", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source",
    "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// An event that hooks are called for.
#[derive(Clone, Copy, Debug)]
struct Event {
    there: &'static str,
    table: &'static str,
    /// It is about one call, and its matcher about tools.
    of_a_tool: bool,
    /// Hooks can refuse what happens.
    guards: bool,
}

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { there: "PreToolUse", table: "pre_tool_use", of_a_tool: true, guards: true },
    Event { there: "PostToolUse", table: "post_tool_use", of_a_tool: true, guards: false },
    Event { there: "PostToolUseFailure", table: "post_tool_use_failure", of_a_tool: true, guards: false },
    Event { there: "PermissionRequest", table: "permission_request", of_a_tool: true, guards: true },
    Event { there: "SessionStart", table: "session_start", of_a_tool: false, guards: false },
    Event { there: "SessionEnd", table: "session_end", of_a_tool: false, guards: false },
    Event { there: "Stop", table: "stop", of_a_tool: false, guards: true },
    Event { there: "UserPromptSubmit", table: "user_prompt_submit", of_a_tool: false, guards: true },
    Event { there: "SubagentStart", table: "subagent_start", of_a_tool: false, guards: false },
];

/// What hooks are read for.
#[derive(Debug)]
pub(super) struct Hooks<'a> {
    /// The project of the settings file.
    pub(super) project: Option<&'a Path>,
    /// The names of the tools of this host.
    pub(super) tools: &'a [&'a str],
}

impl Hooks<'_> {
    /// Carries `/hooks` over.
    pub(super) fn import(&self, draft: &mut Draft, at: &At<'_>) -> Result<(), ImportError> {
        let events = at.entries()?;
        if events.is_empty() {
            draft.carried(&at.pointer, "no hooks", Vec::new(), None);
        }
        for (name, groups) in events {
            let Some(event) = EVENTS.iter().find(|event| event.there == name) else {
                draft.left(
                    &groups.pointer,
                    groups.shown(),
                    "this host has no such event",
                    false,
                );
                continue;
            };
            let groups_of = groups.items()?;
            if groups_of.is_empty() {
                draft.carried(&groups.pointer, "no hooks", Vec::new(), None);
            }
            for group in groups_of {
                self.group(draft, *event, &group)?;
            }
        }
        Ok(())
    }

    fn group(&self, draft: &mut Draft, event: Event, group: &At<'_>) -> Result<(), ImportError> {
        let mut hooks = Vec::new();
        let mut matcher = None;
        let mut unknown = None;
        for (key, value) in group.entries()? {
            match key {
                "hooks" => hooks = value.items()?,
                "matcher" => matcher = Some((value.text()?, value)),
                _ => unknown = Some(key),
            }
        }
        if let Some(key) = unknown {
            let why = format!("has '{}', which is not known", key.escape_debug());
            draft.left(&group.pointer, group.shown(), why, event.guards);
            return Ok(());
        }
        if hooks.is_empty() {
            draft.carried(&group.pointer, "no hooks", Vec::new(), None);
            return Ok(());
        }
        let tools = match &matcher {
            None => Vec::new(),
            Some((text, at)) => match self.matcher(draft, event, text, at) {
                Ok(tools) => tools,
                Err((why, weaker)) => {
                    draft.left(&group.pointer, group.shown(), why, weaker);
                    return Ok(());
                }
            },
        };
        for hook in hooks {
            self.hook(draft, event, &tools, &hook)?;
        }
        Ok(())
    }

    /// The tools that a matcher names; none are all.
    fn matcher(
        &self,
        draft: &mut Draft,
        event: Event,
        text: &str,
        at: &At<'_>,
    ) -> Result<Vec<String>, (String, bool)> {
        if text.is_empty() || text == "*" {
            draft.carried(&at.pointer, text, Vec::new(), None);
            return Ok(Vec::new());
        }
        if !event.of_a_tool {
            return Err((
                "has a matcher, and hooks for this event are called each time here".to_owned(),
                event.guards,
            ));
        }
        let is_name = |name: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            !name.is_empty() && name.chars().all(plain)
        };
        let names: Vec<&str> = text.split('|').collect();
        if !names.iter().all(|name| is_name(name)) {
            return Err((
                "has a regular expression as its matcher, and hooks here name their tools"
                    .to_owned(),
                event.guards,
            ));
        }
        let (known, absent): (Vec<&str>, Vec<&str>) = names
            .into_iter()
            .partition(|name| self.tools.contains(name));
        let absent = absent.join(", ");
        if known.is_empty() {
            return Err((format!("this host has no tool '{absent}'"), false));
        }
        let mut tools: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        let mut note = None;
        // What guards edits must guard every way to edit.
        if known.contains(&"Edit")
            && !known.contains(&"MultiEdit")
            && self.tools.contains(&"MultiEdit")
        {
            tools.push("MultiEdit".to_owned());
            note = Some("hears of more: MultiEdit edits files too".to_owned());
        }
        if !absent.is_empty() {
            let why = format!("this host has no tool '{absent}'");
            draft.left(&at.pointer, text, why, false);
        }
        draft.carried(&at.pointer, text, vec![format!("tools = {tools:?}")], note);
        Ok(tools)
    }

    fn hook(
        &self,
        draft: &mut Draft,
        event: Event,
        tools: &[String],
        at: &At<'_>,
    ) -> Result<(), ImportError> {
        let settings = Settings::read(draft, at)?;
        let command = settings
            .refused
            .map_or_else(|| self.command(settings.command), Err);
        let command = match command {
            Ok(command) => command,
            Err(why) => {
                draft.left(&at.pointer, at.shown(), why, event.guards);
                return Ok(());
            }
        };
        let shown = format!("[[hooks.{}]] command = {command:?}", event.table);
        let mut notes = Vec::new();
        if event.guards {
            notes.push("refuses more: a hook that fails refuses here, whatever its exit code");
        }
        if settings.timeout_ms > MAX_TIMEOUT {
            notes.push("may take at most 600 s here");
        }
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        draft.carried(&at.pointer, at.shown(), vec![shown], note);
        draft.hook(Hook {
            pointer: at.pointer.clone(),
            table: event.table,
            command,
            tools: tools.to_vec(),
            timeout_ms: settings.timeout_ms.clamp(1, MAX_TIMEOUT),
        });
        Ok(())
    }

    /// The program for a line that a shell reads there, with the one variable of that host that can be given here.
    fn command(&self, line: &str) -> Result<Vec<String>, String> {
        const PROJECT: &str = "CLAUDE_PROJECT_DIR";
        if line.trim().is_empty() || line.contains('\0') {
            return Err("has no command".to_owned());
        }
        if line.replace(PROJECT, "").contains("CLAUDE_") {
            return Err("uses a variable of that host (CLAUDE_…) that is not set here".to_owned());
        }
        if !line.contains(PROJECT) {
            return Ok(program(line));
        }
        let project = self
            .project
            .and_then(Path::to_str)
            .ok_or_else(|| format!("uses {PROJECT}, and it is not known which project that is"))?;
        let mut command = vec!["/usr/bin/env".to_owned(), format!("{PROJECT}={project}")];
        command.extend(program_with(line, PROJECT, project).unwrap_or_else(|| in_shell(line)));
        Ok(command)
    }
}

/// A line as a program with its arguments, where a shell would run exactly that; else as a text for a shell. What trust
/// is bound to is known only of a program.
fn program(line: &str) -> Vec<String> {
    plain(line).unwrap_or_else(|| in_shell(line))
}

/// The same with a variable's value in the variable's place, if the value is one that stays a word.
fn program_with(line: &str, variable: &str, value: &str) -> Option<Vec<String>> {
    let stays = |c: char| c.is_ascii_alphanumeric() || "/._-+,@".contains(c);
    // Where a variable stands in single quotes or behind a backslash, it is none.
    if !value.chars().all(stays) || line.contains(['\'', '\\']) {
        return None;
    }
    let braced = line.replace(&format!("${{{variable}}}"), value);
    let line = braced.replace(&format!("${variable}/"), &format!("{value}/"));
    // In quotes, or as a whole word.
    let line = line.replace(&format!("\"${variable}\""), value);
    (!line.contains(variable)).then(|| plain(&line)).flatten()
}

fn plain(line: &str) -> Option<Vec<String>> {
    let words = simple_command(line)?;
    let in_the_shell = words
        .first()
        .is_none_or(|first| IN_SHELL.contains(&first.as_str()));
    (!in_the_shell).then_some(words)
}

fn in_shell(line: &str) -> Vec<String> {
    ["/bin/sh", "-c", line].map(str::to_owned).to_vec()
}

/// The settings of one hook.
struct Settings<'a> {
    command: &'a str,
    timeout_ms: u64,
    /// Why it is not carried over.
    refused: Option<String>,
}

impl<'a> Settings<'a> {
    fn read(draft: &mut Draft, at: &At<'a>) -> Result<Self, ImportError> {
        let mut settings = Self {
            command: "",
            timeout_ms: TIMEOUT_THERE,
            refused: None,
        };
        let mut kind = "";
        for (key, value) in at.entries()? {
            match key {
                "type" => kind = value.text()?,
                "command" => settings.command = value.text()?,
                "timeout" => {
                    let seconds = value.number()?;
                    match std::time::Duration::try_from_secs_f64(seconds) {
                        Ok(time) if !time.is_zero() => {
                            settings.timeout_ms =
                                u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                        }
                        Ok(_) | Err(_) => settings.refused = Some("has no time to run".to_owned()),
                    }
                }
                "async" if !value.truth()? => {}
                "async" => {
                    settings.refused =
                        Some("runs beside the call, and hooks here are waited for".to_owned());
                }
                "statusMessage" => {
                    let why = "this host shows nothing while a hook runs";
                    draft.left(&value.pointer, value.text()?, why, false);
                }
                key => {
                    let why = format!("has '{}', which hooks here do not have", key.escape_debug());
                    settings.refused = Some(why);
                }
            }
        }
        if kind != "command" {
            let why = format!(
                "is of type '{}', and hooks here are commands",
                kind.escape_debug()
            );
            settings.refused = Some(why);
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Imported, claude};
    use super::*;

    fn imported(settings: &Value, file: &str) -> Imported {
        let tools = ["Read", "Write", "Edit", "MultiEdit", "Bash"];
        let home = Some(Path::new("/home/u"));
        claude::import(&settings.to_string(), Path::new(file), home, &tools).unwrap()
    }

    #[test]
    fn hooks_that_cannot_run_here_are_reported() {
        let left = |hook: Value| {
            let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
            let imported = imported(&settings, "/p/.claude/settings.json");
            assert!(!imported.toml.contains("[[hooks"), "{}", imported.toml);
            imported
                .left
                .iter()
                .map(|left| left.why.clone())
                .collect::<String>()
        };
        for (hook, why) in [
            (
                json!({"type": "http", "url": "https://a.b"}),
                "of type 'http'",
            ),
            (json!({"command": "x"}), "of type ''"),
            (json!({"type": "command"}), "no command"),
            (
                json!({"type": "command", "command": "x", "if": "Bash(git *)"}),
                "has 'if'",
            ),
            (
                json!({"type": "command", "command": "x", "async": true}),
                "beside the call",
            ),
            (
                json!({"type": "command", "command": "x", "timeout": 0}),
                "no time to run",
            ),
            (
                json!({"type": "command", "command": "x", "timeout": -1}),
                "no time to run",
            ),
            (
                json!({"type": "command", "command": "$CLAUDE_PLUGIN_ROOT/x"}),
                "a variable of that host",
            ),
        ] {
            let said = left(hook);
            assert!(said.contains(why), "{why}: {said}");
        }
        let line = json!({"type": "command", "command": "x"});
        let hooks = json!({"PreToolUse": [{"hooks": [line.clone()]}]});
        let off = json!({"hooks": hooks, "disableAllHooks": true});
        let off = imported(&off, "/p/.claude/settings.json");
        assert!(!off.toml.contains("[[hooks"));
        assert_eq!(off.left.len(), 1);
        let stop = json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "$CLAUDE_PROJECT_DIR/x"},
            {"type": "command", "command": "y", "timeout": 1e9, "async": false}
        ]}]}});
        let of_a_person = imported(&stop, "/home/u/.claude/settings.json");
        assert_eq!(of_a_person.left.len(), 1);
        assert!(of_a_person.toml.contains("timeout_ms = 600000"));
        assert_eq!(of_a_person.toml.matches("[[hooks.stop]]").count(), 1);
    }

    #[test]
    fn a_line_that_is_one_command_becomes_a_program() {
        let hooks = Hooks {
            project: Some(Path::new("/p")),
            tools: &[],
        };
        for (line, words) in [
            ("scripts/hook.sh pre", &["scripts/hook.sh", "pre"][..]),
            ("python3 'a b.py'", &["python3", "a b.py"]),
            ("exit 2", &["/bin/sh", "-c", "exit 2"]),
            ("a.sh; b.sh", &["/bin/sh", "-c", "a.sh; b.sh"]),
            ("a.sh *.txt", &["/bin/sh", "-c", "a.sh *.txt"]),
            ("~/a.sh", &["/bin/sh", "-c", "~/a.sh"]),
            ("X=1 a.sh", &["/bin/sh", "-c", "X=1 a.sh"]),
            (
                "'$CLAUDE_PROJECT_DIR/a.sh'",
                &[
                    "/usr/bin/env",
                    "CLAUDE_PROJECT_DIR=/p",
                    "/bin/sh",
                    "-c",
                    "'$CLAUDE_PROJECT_DIR/a.sh'",
                ],
            ),
            ("a.sh > log", &["/bin/sh", "-c", "a.sh > log"]),
            (
                "\"$CLAUDE_PROJECT_DIR\"/.claude/a.sh x",
                &[
                    "/usr/bin/env",
                    "CLAUDE_PROJECT_DIR=/p",
                    "/p/.claude/a.sh",
                    "x",
                ],
            ),
            (
                "${CLAUDE_PROJECT_DIR}/a.sh || exit 2",
                &[
                    "/usr/bin/env",
                    "CLAUDE_PROJECT_DIR=/p",
                    "/bin/sh",
                    "-c",
                    "${CLAUDE_PROJECT_DIR}/a.sh || exit 2",
                ],
            ),
        ] {
            assert_eq!(hooks.command(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn matchers_name_tools() {
        let tools = |event: &str, matcher: &str| {
            let line = json!({"type": "command", "command": "x"});
            let groups = json!([{"matcher": matcher, "hooks": [line]}]);
            let imported = imported(
                &json!({"hooks": {event: groups}}),
                "/p/.claude/settings.json",
            );
            let table: toml::Table = imported.toml.parse().unwrap();
            let hook = table
                .get("hooks")?
                .as_table()?
                .values()
                .next()?
                .get(0)?
                .clone();
            Some(hook.get("tools").map_or(String::new(), ToString::to_string))
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(tools("PreToolUse", ""), text(""));
        assert_eq!(tools("PreToolUse", "*"), text(""));
        assert_eq!(tools("PreToolUse", "Bash"), text("[\"Bash\"]"));
        assert_eq!(
            tools("PostToolUse", "Write|Read"),
            text("[\"Write\", \"Read\"]")
        );
        assert_eq!(
            tools("PreToolUse", "Edit"),
            text("[\"Edit\", \"MultiEdit\"]")
        );
        assert_eq!(tools("PreToolUse", "Task|Read"), text("[\"Read\"]"));
        for none in ["Task", ".*", "Edit.*", "Edit|", "^Bash$", "Bash Read"] {
            assert_eq!(tools("PreToolUse", none), None, "{none}");
        }
        assert_eq!(tools("SessionStart", "*"), text(""));
        assert_eq!(tools("SessionStart", "startup"), None);
    }
}
