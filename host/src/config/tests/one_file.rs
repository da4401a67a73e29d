//! One file: what it says, and what is said of its mistakes.

use std::path::Path;

use crate::config::HookFormat;
use crate::config::settings::{ApproverKind, Config, HookRun};
use crate::config::source::Layer;
use crate::config::{approval, merge};
use crate::model::{HookEventName, SubjectKind};
use crate::policy::Mode;

fn read(text: &str) -> Result<Config, String> {
    let mut config = Config::default();
    let path = Path::new("/etc/toolgate.toml");
    merge::add(&mut config, Layer::User, path, text)
        .and_then(|()| approval::check(&config))
        .map_err(|error| error.to_string())?;
    Ok(config)
}

const FULL: &str = r#"
[permissions]
mode = "accept-edits"
ceiling = "mutating"
allow = ["Write(src/**)"]
deny = [
    "Read(.env)",
    { rule = "Bash(git:*)", denies = ["git status"],
      allows = ["gitk"] },
]
[files]
read = ["docs"]
[approval]
exempt_at_or_below = "none"
approvers = ["program", "queue"]
program = ["./approve.sh", "x"]
program_timeout_ms = 500
[schema]
mode = "warn"
[schema.tools]
Read = "off"
[subjects.mcp__git__push]
kind = "command"
field = "line"
[limits]
timeout_ms = 5000
[limits.tools.Grep]
fuel = 1000000
[[hooks.pre_tool_use]]
command = ["./check.sh", "x"]
[[hooks.pre_tool_use]]
component = "hook.wasm"
tools = ["Read"]
timeout_ms = 1
[[hooks.session_end]]
command = ["bye"]
format = "claude"
[components]
files = ["mine.wasm"]
trusted = ["Mine"]
[journal]
file = "journal.jsonl"
"#;

#[test]
fn a_full_file_is_read() {
    let config = read(FULL).unwrap();
    let mode = config.mode.as_ref().unwrap();
    assert_eq!(mode.value, Mode::AcceptEdits);
    assert_eq!(mode.source.to_string(), "/etc/toolgate.toml:3 (user)");
    assert_eq!(
        config.rules[1].source.to_string(),
        "deny Read(.env) (/etc/toolgate.toml:7)"
    );
    let with_examples = &config.rules[2];
    assert_eq!(with_examples.source.line, 8);
    assert_eq!(with_examples.source.rule, "Bash(git:*)");
    assert_eq!(with_examples.examples.denies, ["git status"]);
    assert_eq!(with_examples.examples.allows, ["gitk"]);
    assert_eq!(config.read[0].value, Path::new("/etc/docs"));
    assert_eq!(config.read[0].source.line, 12);
    let approval = &config.approval;
    assert_eq!(
        approval.approvers(),
        [ApproverKind::Program, ApproverKind::Queue]
    );
    let program = approval.program.as_ref().unwrap();
    assert_eq!(program.value, ["/etc/./approve.sh", "x"]);
    assert_eq!(approval.program_timeout_ms(), 500);
    let subject = &config.subjects["mcp__git__push"];
    assert_eq!(subject.value.kind, SubjectKind::Command);
    assert_eq!(subject.value.field, "line");
    assert_eq!(subject.source.line, 22);
    assert_eq!(config.limits("Read").timeout_ms.unwrap().value, 5000);
    let grep = config.limits("Grep");
    assert_eq!(grep.fuel.as_ref().unwrap().value, 1_000_000);
    assert_eq!(grep.fuel.unwrap().source.line, 28);
    assert_eq!(grep.timeout_ms.unwrap().source.line, 26);
    assert_eq!(config.components[0].value, Path::new("/etc/mine.wasm"));
    assert_eq!(config.trusted[0].value, "Mine");
    assert_eq!(
        config.journal.unwrap().value,
        Path::new("/etc/journal.jsonl")
    );
}

#[test]
fn hooks_are_read_in_their_order() {
    let hooks = read(FULL).unwrap().hooks;
    let events: Vec<_> = hooks.iter().map(|hook| hook.event).collect();
    assert_eq!(
        events,
        [
            HookEventName::PreToolUse,
            HookEventName::PreToolUse,
            HookEventName::SessionEnd
        ]
    );
    let command = vec!["/etc/./check.sh".to_owned(), "x".to_owned()];
    assert_eq!(hooks[0].run, HookRun::command(command));
    assert_eq!(hooks[0].timeout_ms, 10_000);
    assert_eq!(hooks[0].source.line, 29);
    let file = Path::new("/etc/hook.wasm").to_owned();
    assert_eq!(hooks[1].run, HookRun::Component { file });
    assert_eq!(hooks[1].tools, ["Read"]);
    assert_eq!(hooks[1].timeout_ms, 1);
    let command = vec!["bye".to_owned()];
    let format = HookFormat::Claude;
    assert_eq!(hooks[2].run, HookRun::Command { command, format });
}

/// A file, and the whole message.
type Mistake = (&'static str, &'static str);

#[track_caller]
fn assert_mistakes(mistakes: &[Mistake]) {
    for (text, message) in mistakes {
        assert_eq!(read(text).unwrap_err(), *message, "{text}");
    }
}

#[test]
fn what_is_not_known_stops_with_file_line_and_nearest_key() {
    assert_mistakes(&[
        (
            "[permissions]\nalow = []",
            "/etc/toolgate.toml:2: unknown key 'permissions.alow'. Did you mean 'allow'?",
        ),
        (
            "\n[permision]",
            "/etc/toolgate.toml:2: unknown key 'permision'. Did you mean 'permissions'?",
        ),
        (
            "[[hooks.pre_tool_use]]\ncommand = [\"x\"]\ntimout_ms = 3",
            "/etc/toolgate.toml:3: unknown key 'hooks.pre_tool_use.timout_ms'. Did you mean 'timeout_ms'?",
        ),
        (
            "[limits.tools.Read]\nfule = 3",
            "/etc/toolgate.toml:2: unknown key 'limits.tools.Read.fule'. Did you mean 'fuel'?",
        ),
        (
            "[subjects.X]\nkind = \"path\"\nfeild = \"f\"",
            "/etc/toolgate.toml:3: unknown key 'subjects.X.feild'. Did you mean 'field'?",
        ),
        (
            "[permissions]\nallow = [\"Read\",\n{ rule = \"Read\",\nalows = [] }]",
            "/etc/toolgate.toml:4: unknown key 'permissions.allow.alows'. Did you mean 'allows'?",
        ),
    ]);
}

#[test]
fn an_unknown_value_stops_with_the_nearest_one() {
    assert_mistakes(&[
        (
            "[shell]\nkind = \"bublewrap\"",
            "/etc/toolgate.toml:2: unknown variant `bublewrap`, expected one of `local`, `bubblewrap`, `docker`, `podman`, `none`. Did you mean \
             'bubblewrap'?",
        ),
        (
            "[shell]\nnetwork = \"qqq\"",
            "/etc/toolgate.toml:2: unknown variant `qqq`, expected `off` or `full`",
        ),
        (
            "[shell.limits]\nprocesses = 1",
            "/etc/toolgate.toml:2: 'processes' of [shell.limits] is 1, and it is from 512 to 100000",
        ),
    ]);
}

#[test]
fn what_runs_outside_of_the_sandbox_is_the_operators() {
    let set = [
        ("program", "program = \"/ws/bwrap\""),
        ("image", "image = \"x:1\""),
        ("arguments", "arguments = [\"--privileged\"]"),
        ("limits.processes", "limits.processes = 600"),
    ];
    for (key, text) in set {
        for layer in [Layer::Project, Layer::Local] {
            let mut config = Config::default();
            let path = Path::new("/ws/.toolgate/toolgate.toml");
            let text = format!("\n[shell]\n{text}");
            let said = merge::add(&mut config, layer, path, &text).unwrap_err();
            let said = said.to_string();
            let begins = format!("/ws/.toolgate/toolgate.toml:3: '{key}' of [shell]");
            assert!(said.starts_with(&begins), "{said}");
            assert!(said.ends_with("set it in your own file"), "{said}");
        }
    }
    let text = "\n[shell]\nprogram = \"/ws/bwrap\"";
    let config = read(text).unwrap();
    assert_eq!(config.shell.program.unwrap().value, Path::new("/ws/bwrap"));
}

#[test]
fn a_rule_is_never_repaired() {
    assert_mistakes(&[
        (
            "[permissions]\nallow = [\n\"Read(\",\n]",
            "/etc/toolgate.toml:3: the rule 'Read(' has an opening parenthesis and does not end in a closing one",
        ),
        (
            "[permissions]\nallow = [\"Bash()\"]",
            "/etc/toolgate.toml:2: the rule 'Bash()' has an empty pattern: write the name alone for every call",
        ),
        (
            "[permissions]\nask = [{ rule = \"Bash(gh:*\" }]",
            "/etc/toolgate.toml:2: the rule 'Bash(gh:*' has an opening parenthesis and does not end in a closing one",
        ),
        (
            "[permissions]\nask = [\n  { allows = [\"x\"] },\n]",
            "/etc/toolgate.toml:3: this table has no key 'rule', which holds the rule itself",
        ),
        (
            "[permissions]\nask = [{ rule = 3 }]",
            "/etc/toolgate.toml:2: the key 'rule' of a rule must be a text, but is of type integer",
        ),
        (
            "[permissions]\nask = [{ rule = \"Bash\",\n denies = \"x\" }]",
            "/etc/toolgate.toml:3: the key 'denies' of a rule must be a list of texts, but is no list",
        ),
        (
            "[permissions]\nask = [{ rule = \"Bash\", denies = [true] }]",
            "/etc/toolgate.toml:2: the key 'denies' of a rule must be a list of texts, but holds a value of type boolean",
        ),
        (
            "[permissions]\nask = [\n\"Bash\",\n7]",
            "/etc/toolgate.toml:4: invalid type: integer `7`, expected a rule: a text such as \"Read(docs/**)\", or a \
             table with the key 'rule'",
        ),
        (
            "[permissions]\nmode = \"bypass\"",
            "/etc/toolgate.toml:2: mode 'bypass' can only be given as a start flag (--mode bypass)",
        ),
    ]);
}

#[test]
fn what_cannot_be_kept_is_no_setting() {
    assert_mistakes(&[
        (
            "[[hooks.stop]]\ncommand = [\"x\"]\ntools = [\"Read\"]",
            "/etc/toolgate.toml:3: the event Stop belongs to no tool: leave 'tools' out",
        ),
        (
            "[[hooks.stop]]\ntimeout_ms = 5",
            "/etc/toolgate.toml:1: this hook runs nothing: it needs a 'command' or a 'component'",
        ),
        (
            "[[hooks.stop]]\ncommand = [\"x\"]\ncomponent = \"y\"",
            "/etc/toolgate.toml:3: a hook has either a 'command' or a 'component', not both",
        ),
        (
            "[[hooks.stop]]\ncomponent = \"y\"\nformat = \"claude\"",
            "/etc/toolgate.toml:3: 'format' belongs to a hook with a 'command': a component's reply is typed",
        ),
        (
            "[[hooks.stop]]\ncommand = []",
            "/etc/toolgate.toml:2: the command is empty: name a program",
        ),
        (
            "[[hooks.stop]]\ncommand = [\"x\"]\ntimeout_ms = 0",
            "/etc/toolgate.toml:3: 'timeout_ms' is 0, but must be from 1 to 600000",
        ),
        (
            "[[hooks.stop]]\ncommand = [\"x\"]\ntimeout_ms = 600001",
            "/etc/toolgate.toml:3: 'timeout_ms' is 600001, but must be from 1 to 600000",
        ),
        (
            "[limits.tools.Grep]\nfuel = 5",
            "/etc/toolgate.toml:2: in [limits.tools.Grep], the fuel is 5, but must be from 1000000 to 1000000000000000",
        ),
        (
            "[subjects.X]\nkind = \"url\"\nfield = \"\"",
            "/etc/toolgate.toml:3: 'field' is empty: name the input field that holds the subject",
        ),
    ]);
}

#[test]
fn approvers_and_the_program_need_each_other() {
    assert_mistakes(&[
        (
            "[approval]\napprovers = [\"queue\", \"queue\"]",
            "/etc/toolgate.toml:2: 'queue' stands twice in 'approvers'",
        ),
        (
            "[approval]\n\napprovers = [\"program\"]",
            "/etc/toolgate.toml:3: 'approvers' names 'program', and [approval] has no 'program'",
        ),
        (
            "[approval]\nprogram = [\"x\"]",
            "/etc/toolgate.toml:2: 'program' of [approval] is never asked: 'approvers' does not name it",
        ),
        (
            "[approval]\nprogram_timeout_ms = 7",
            "/etc/toolgate.toml:2: 'program_timeout_ms' of [approval] bounds nothing: there is no 'program'",
        ),
        (
            "[approval]\napprovers = [\"program\"]\nprogram = [\"x\"]\nprogram_timeout_ms = 700000",
            "/etc/toolgate.toml:4: 'program_timeout_ms' is 700000, but must be from 1 to 600000",
        ),
    ]);
    let nobody = read("[approval]\napprovers = []").unwrap();
    assert!(nobody.approval.approvers().is_empty());
    let default = read("").unwrap();
    assert_eq!(default.approval.approvers(), [ApproverKind::Terminal]);
}

#[test]
fn what_toml_refuses_has_a_line() {
    for (text, line) in [
        ("[permissions]\nmode = \"acceptEdits\"", 2),
        ("[permissions", 1),
        ("[permissions]\nallow = \"Read\"", 2),
        ("[subjects.X]\n\nkind = \"file\"\nfield = \"f\"", 3),
        ("[approval]\napprovers = [\n\"me\"]", 3),
        ("[limits]\nfuel = -1", 2),
    ] {
        let message = read(text).unwrap_err();
        let place = format!("/etc/toolgate.toml:{line}: ");
        assert!(message.starts_with(&place), "{text}: {message}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    fn check(schema: &serde_json::Value, path: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let described = property["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            assert!(described, "{path}.{key} has no description");
        }
    }
    let schema = crate::config::schema();
    check(&schema, "");
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        check(definition, name);
    }
    let rule = &schema["$defs"]["RuleEntry"]["anyOf"];
    assert_eq!(rule[0]["type"], "string");
    assert_eq!(rule[1]["required"][0], "rule");
}
