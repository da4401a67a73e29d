//! The `settings.json` of Claude Code.
//!
//! Rules, mode, directories and hooks have a counterpart here. Everything else is reported.

use std::path::Path;

use super::claude_hooks::Hooks;
use super::claude_paths::Places;
use super::claude_rules::Rules;
use super::draft::Draft;
use super::json::{self, At};
use super::{ImportError, Imported};
use crate::model::nearest;
use crate::policy::{Decision, fold};

/// Settings that have no counterpart, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("$schema", "names the format of that file"),
    (
        "env",
        "tools here get no environment, and hooks that of the host",
    ),
    ("model", "this host runs tools and no model"),
    (
        "sandbox",
        "every tool here runs in a sandbox, whose reach is set by rules and [files]",
    ),
    (
        "enableAllProjectMcpServers",
        "servers are named in this host's own configuration",
    ),
    (
        "enabledMcpjsonServers",
        "servers are named in this host's own configuration",
    ),
    (
        "disabledMcpjsonServers",
        "servers are named in this host's own configuration",
    ),
    ("apiKeyHelper", "this host runs tools and no model"),
    ("statusLine", "this host has no such line"),
];

/// Reads a settings file's text. Its path and the home directory say where its patterns stand; `tools` are the names of
/// the tools of the host that will read the new file, since a rule for any other would stop its start.
///
/// # Errors
/// The text is no JSON, has a key twice, or has a value of another type than the format.
pub fn import(
    text: &str,
    file: &Path,
    home: Option<&Path>,
    tools: &[&str],
) -> Result<Imported, ImportError> {
    let value = json::read(text, file)?;
    let places = Places::new(file, home);
    let mut draft = Draft::default();
    let sections = At::root(&value, file).entries()?;
    let mut hooks_off = false;
    for (_, at) in sections.iter().filter(|(key, _)| *key == "disableAllHooks") {
        hooks_off = at.truth()?;
        let note = hooks_off.then(|| "no hook is carried over".to_owned());
        draft.carried(&at.pointer, at.shown(), Vec::new(), note);
    }
    for (key, at) in sections {
        match key {
            "permissions" => permissions(&mut draft, &at, &places, tools)?,
            "disableAllHooks" => {}
            "hooks" if hooks_off => {
                at.object()?;
                draft.left(
                    &at.pointer,
                    at.shown(),
                    "'disableAllHooks' turns them off",
                    false,
                );
            }
            "hooks" => Hooks {
                project: places.project(),
                tools,
            }
            .import(&mut draft, &at)?,
            key => {
                let known = WITHOUT.iter().find(|(known, _)| *known == key);
                let why = known.map(|(_, why)| (*why).to_owned());
                let guards = nearest(key, ["permissions", "hooks"]).filter(|_| why.is_none());
                let why = why.unwrap_or_else(|| unknown(guards));
                draft.left(&at.pointer, at.kind(), why, guards.is_some());
            }
        }
    }
    Ok(draft.finish(file, "which has the format of Claude Code's settings"))
}

fn permissions(
    draft: &mut Draft,
    at: &At<'_>,
    places: &Places,
    tools: &[&str],
) -> Result<(), ImportError> {
    let rules = Rules { places, tools };
    let entries = at.entries()?;
    if entries.is_empty() {
        draft.carried(&at.pointer, "no settings", Vec::new(), None);
    }
    for (key, at) in entries {
        match key {
            "allow" => list(draft, Decision::Allow, &at, &rules)?,
            "ask" => list(draft, Decision::Ask, &at, &rules)?,
            "deny" => list(draft, Decision::Deny, &at, &rules)?,
            "defaultMode" => mode(draft, &at)?,
            "additionalDirectories" => directories(draft, &at, places)?,
            "disableBypassPermissionsMode" => draft.left(
                &at.pointer,
                at.text()?,
                "this host cannot forbid mode bypass, which is only on where a start flag says so",
                true,
            ),
            _ => {
                let meant = nearest(key, ["allow", "ask", "deny", "defaultMode"]);
                let weaker = meant.is_some_and(|meant| meant != "allow");
                draft.left(&at.pointer, at.kind(), unknown(meant), weaker);
            }
        }
    }
    Ok(())
}

/// Why a setting that nobody knows is left; with what was probably meant.
fn unknown(meant: Option<&str>) -> String {
    let near = meant.map(|meant| format!(". Did you mean '{meant}'?"));
    format!("this host has no such setting{}", near.unwrap_or_default())
}

fn list(
    draft: &mut Draft,
    effect: Decision,
    at: &At<'_>,
    rules: &Rules<'_>,
) -> Result<(), ImportError> {
    let items = at.items()?;
    if items.is_empty() {
        draft.carried(&at.pointer, "no rules", Vec::new(), None);
    }
    for item in items {
        let text = item.text()?;
        match rules.translate(effect, text) {
            Ok(lines) => {
                draft.rules(effect, &at.pointer, &lines.rules);
                draft.carried(&item.pointer, text, lines.rules, lines.note);
                if let Some(missing) = lines.missing {
                    draft.left(&item.pointer, text, missing, true);
                }
            }
            Err(left) => draft.left(&item.pointer, text, left.why, left.weaker),
        }
    }
    Ok(())
}

fn mode(draft: &mut Draft, at: &At<'_>) -> Result<(), ImportError> {
    let word = at.text()?;
    let (mode, note) = match word {
        "default" => ("default", None),
        "acceptEdits" => ("accept-edits", None),
        "plan" => ("plan", None),
        "dontAsk" => ("dont-ask", None),
        "auto" => (
            "auto",
            Some("allows less: what would be asked is denied here".to_owned()),
        ),
        "bypassPermissions" => {
            let why = "mode bypass can only be given as a start flag (--mode bypass)";
            draft.left(&at.pointer, word, why, false);
            return Ok(());
        }
        _ => {
            draft.left(&at.pointer, word, "this host has no such mode", true);
            return Ok(());
        }
    };
    draft.mode(&at.pointer, mode);
    draft.carried(&at.pointer, word, vec![format!("mode = \"{mode}\"")], note);
    Ok(())
}

/// Directories stand on the working directory there, and on the folder of the configuration file here.
fn directories(draft: &mut Draft, at: &At<'_>, places: &Places) -> Result<(), ImportError> {
    let items = at.items()?;
    if items.is_empty() {
        draft.carried(&at.pointer, "no directories", Vec::new(), None);
    }
    for item in items {
        let text = item.text()?;
        let directory = match places.project() {
            _ if text.is_empty() || text.starts_with('~') => None,
            _ if text.starts_with('/') => Some(Path::new(text).to_owned()),
            project => project.map(|project| fold(project, Path::new(text))),
        };
        match directory.as_deref().and_then(Path::to_str) {
            Some(directory) => {
                draft.write(&at.pointer, directory);
                draft.carried(
                    &item.pointer,
                    text,
                    vec![format!("write = [{directory:?}]")],
                    None,
                );
            }
            None => {
                let why = "it is not known what it stands on: write the whole path";
                draft.left(&item.pointer, text, why, false);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config;

    const TOOLS: &[&str] = &[
        "Read",
        "Write",
        "Edit",
        "MultiEdit",
        "LS",
        "Glob",
        "Grep",
        "Bash",
        "WebFetch",
    ];

    fn imported(settings: &Value) -> Imported {
        import(
            &settings.to_string(),
            Path::new("/p/.claude/settings.json"),
            Some(Path::new("/home/u")),
            TOOLS,
        )
        .unwrap()
    }

    /// Everything that holds no other value.
    fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(object) if !object.is_empty() => {
                for (key, value) in object {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    leaves(value, &format!("{pointer}/{key}"), found);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    leaves(item, &format!("{pointer}/{at}"), found);
                }
            }
            _ => found.push(pointer.to_owned()),
        }
    }

    fn sample() -> Value {
        let check = json!({"type": "command", "command": "./check.sh \"$CLAUDE_PROJECT_DIR\" 'x'", "timeout": 5});
        json!({
            "$schema": "https://json.example/settings.json",
            "permissions": {
                "allow": ["Bash(git push:*)", "Bash(npm run test *)", "Edit(src/**)", "Task", "mcp__git",
                    "WebFetch(domain:example.com)", "Read(/docs/**)", "Bash(git * main)"],
                "ask": ["Bash(rm *)", "Write(//etc/**)"],
                "deny": ["Read(./.env)", "Read(~/.ssh/**)", "Read(!x)", "WebFetch(domain:*.evil.example)"],
                "defaultMode": "acceptEdits",
                "additionalDirectories": ["/data", "../docs", "~/x"],
                "disableBypassPermissionsMode": "disable",
                "other": {"a": [1, null]}
            },
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Edit|Write|NotebookEdit", "hooks": [check, {"type": "prompt", "prompt": "ok?"}]},
                    {"matcher": "mcp__.*", "hooks": [{"type": "command", "command": "x"}]},
                    {"hooks": []}
                ],
                "PostToolUse": [{"matcher": "*", "hooks": [
                    {"type": "command", "command": "fmt", "statusMessage": "…"}]}],
                "SessionStart": [
                    {"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]},
                    {"matcher": "", "hooks": [{"type": "command", "command": "hello"}]}
                ],
                "PreCompact": [{"hooks": [{"type": "command", "command": "x"}]}],
                "Stop": []
            },
            "env": {"TOKEN": "x"},
            "model": "opus",
            "sandbox": {"enabled": true},
            "new/thing": {}
        })
    }

    #[test]
    fn nothing_is_dropped_silently() {
        for settings in [sample(), json!({}), json!({"permissions": {}, "hooks": {}})] {
            let imported = imported(&settings);
            let mut found = Vec::new();
            leaves(&settings, "", &mut found);
            let named: Vec<&str> = imported
                .carried
                .iter()
                .map(|carried| carried.pointer.as_str())
                .chain(imported.left.iter().map(|left| left.pointer.as_str()))
                .collect();
            for leaf in found.iter().filter(|leaf| !leaf.is_empty()) {
                let covers = |named: &str| {
                    leaf.strip_prefix(named)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                assert!(named.iter().any(|named| covers(named)), "{leaf}");
            }
            for named in named {
                assert!(settings.pointer(named).is_some(), "{named}");
            }
        }
    }

    #[test]
    fn a_misspelt_key_that_guards_is_less_strict() {
        for (text, meant) in [
            (r#"{"permisions": {"deny": ["Read(.env)"]}}"#, "permissions"),
            (r#"{"permissions": {"denny": ["Read(.env)"]}}"#, "deny"),
        ] {
            let imported = import(text, Path::new("/p/s.json"), None, &["Read"]).unwrap();
            let [left] = imported.left.as_slice() else {
                panic!("{:?}", imported.left);
            };
            assert!(left.weaker, "{text}");
            assert!(
                left.why.contains(&format!("Did you mean '{meant}'?")),
                "{}",
                left.why
            );
        }
    }

    #[test]
    fn what_is_carried_over_is_in_the_new_file() {
        let imported = imported(&sample());
        let table: toml::Table = imported.toml.parse().unwrap();
        let expected = toml::toml! {
            [permissions]
            mode = "accept-edits"
            allow = [
                "Bash(git push:*)", "Bash(npm run test:*)", "Edit(src/**)", "Write(src/**)", "MultiEdit(src/**)",
                "mcp__git__*", "WebFetch(https://example.com/**)", "Read(/p/docs/**)", "Grep(/p/docs/**)",
                "Glob(/p/docs/**)", "LS(/p/docs/**)",
            ]
            ask = ["Bash(rm:*)", "Write(/etc/**)"]
            [files]
            write = ["/data", "/docs"]
            [[hooks.pre_tool_use]]
            format = "claude"
            command = [
                "/usr/bin/env", "CLAUDE_PROJECT_DIR=/p", "/bin/sh", "-c",
                "./check.sh \"$CLAUDE_PROJECT_DIR\" 'x'",
            ]
            tools = ["Edit", "Write", "MultiEdit"]
            timeout_ms = 5000
            [[hooks.post_tool_use]]
            format = "claude"
            command = ["fmt"]
            timeout_ms = 60000
            [[hooks.session_start]]
            format = "claude"
            command = ["hello"]
            timeout_ms = 60000
        };
        let mut without_deny = table.clone();
        let permissions = without_deny["permissions"].as_table_mut().unwrap();
        let deny = permissions.remove("deny").unwrap();
        assert_eq!(without_deny, expected);
        // 2 forms of one pattern and 1 of the other for 4 tools, and 2 schemes with up to 4 labels.
        assert_eq!(deny.as_array().unwrap().len(), 4 * 2 + 4 + 2 * 4);
        let weaker: Vec<&str> = imported
            .left
            .iter()
            .filter(|left| left.weaker)
            .map(|left| left.pointer.as_str())
            .collect();
        assert_eq!(
            weaker,
            [
                "/permissions/deny/2",
                "/permissions/deny/3",
                "/permissions/disableBypassPermissionsMode",
                "/hooks/PreToolUse/0/hooks/1",
                "/hooks/PreToolUse/1",
            ]
        );
        assert_eq!(
            imported.toml.matches("LESS STRICT WITHOUT IT").count(),
            weaker.len()
        );
    }

    #[test]
    fn values_of_other_settings_are_not_told_on() {
        let settings =
            json!({"env": {"TOKEN": "s3cret"}, "apiKeyHelper": "s3cret", "x": ["s3cret"]});
        let imported = imported(&settings);
        let told = serde_json::to_string(&imported).unwrap();
        assert!(!told.contains("s3cret"), "{told}");
        assert_eq!(imported.left[0].what, "an object with TOKEN");
    }

    #[test]
    fn the_new_file_is_read_by_this_host() {
        let imported = imported(&sample());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolgate.toml");
        std::fs::write(&file, &imported.toml).unwrap();
        let layers = config::Layers {
            named: vec![file],
            ..config::Layers::default()
        };
        let config = layers.load().unwrap().config;
        assert_eq!(config.rules.len(), 11 + 2 + 20);
        let write: Vec<&Path> = config
            .write
            .iter()
            .map(|path| path.value.as_path())
            .collect();
        assert_eq!(write, [Path::new("/data"), Path::new("/docs")]);
        assert_eq!(
            config.hooks.len(),
            imported.toml.matches("[[hooks.").count()
        );
        assert!(!config.hooks.is_empty());
    }

    #[test]
    fn modes_and_directories_are_never_more() {
        let mode = |word: &str| imported(&json!({"permissions": {"defaultMode": word}}));
        assert!(mode("dontAsk").toml.contains("mode = \"dont-ask\""));
        assert!(mode("auto").carried[0].note.is_some());
        for word in ["bypassPermissions", "delegate", "Plan"] {
            assert!(!mode(word).toml.contains("\nmode"), "{word}");
            assert_eq!(mode(word).left.len(), 1);
        }
        let of_a_person = import(
            r#"{"permissions":{"additionalDirectories":["../docs"]}}"#,
            Path::new("/home/u/.claude/settings.json"),
            Some(Path::new("/home/u")),
            TOOLS,
        )
        .unwrap();
        assert_eq!((of_a_person.carried.len(), of_a_person.left.len()), (0, 1));
    }

    #[test]
    fn wrong_types_are_named_by_their_place() {
        for (text, message) in [
            ("[]", "s.json: / must be an object, but is a list"),
            (
                r#"{"permissions":[]}"#,
                "s.json: /permissions must be an object, but is a list",
            ),
            (
                r#"{"permissions":{"deny":"Read"}}"#,
                "s.json: /permissions/deny must be a list, but is a text",
            ),
            (
                r#"{"permissions":{"deny":["Read",null]}}"#,
                "s.json: /permissions/deny/1 must be a text, but is null",
            ),
            (
                r#"{"hooks":{"PreToolUse":[{"hooks":[{"timeout":"5"}]}]}}"#,
                "s.json: /hooks/PreToolUse/0/hooks/0/timeout must be a number, but is a text",
            ),
            (
                r#"{"disableAllHooks":1}"#,
                "s.json: /disableAllHooks must be true or false, but is a number",
            ),
            ("{\n\"a\": tru }", "s.json:2:9: expected ident"),
            ("// x\n{}", "s.json:1:1: expected value"),
        ] {
            let error = import(text, Path::new("s.json"), None, TOOLS).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
