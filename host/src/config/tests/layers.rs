//! Several layers: whose value is in force, and what adds up.

use std::path::Path;

use super::Desk;
use crate::config::source::Layer;
use crate::model::SideEffect;
use crate::policy::{Decision, Mode, SchemaMode};

fn mode(word: &str) -> String {
    format!("[permissions]\nmode = \"{word}\"\n")
}

#[test]
fn the_greatest_layer_sets_a_single_setting() {
    let mut desk = Desk::new();
    let in_force = |desk: &Desk| {
        let mode = desk.load().config.mode.unwrap();
        (mode.value, mode.source.layer)
    };
    desk.file("user.toml", &mode("plan"));
    assert_eq!(in_force(&desk), (Mode::Plan, Layer::User));
    desk.file("ws/toolgate.toml", &mode("auto"));
    desk.trust_all();
    assert_eq!(in_force(&desk), (Mode::Auto, Layer::Project));
    desk.file("ws/.toolgate/local.toml", &mode("dont-ask"));
    desk.trust_all();
    assert_eq!(in_force(&desk), (Mode::DontAsk, Layer::Local));
    let (one, two) = (mode("default"), mode("accept-edits"));
    desk.layers.named = vec![desk.file("one.toml", &one), desk.file("two.toml", &two)];
    assert_eq!(in_force(&desk), (Mode::AcceptEdits, Layer::CommandLine));
    desk.layers.flags.mode = Some(Mode::Bypass);
    assert_eq!(in_force(&desk), (Mode::Bypass, Layer::CommandLine));
    assert_eq!(
        desk.load().config.mode.unwrap().source.to_string(),
        "--mode (command line)"
    );
    desk.layers.flags.mode = None;
    desk.layers.named.clear();
    desk.file("managed.toml", &mode("default"));
    assert_eq!(in_force(&desk), (Mode::Default, Layer::Managed));
}

#[test]
fn a_flag_does_not_override_an_administrator() {
    let mut desk = Desk::new();
    desk.file(
        "managed.toml",
        "[permissions]\nmode = \"default\"\nceiling = \"read-only\"\n",
    );
    desk.layers.flags.mode = Some(Mode::Bypass);
    assert_eq!(
        desk.error(),
        "--mode: the mode 'bypass' cannot be had here: /managed.toml:2 (managed) sets 'default', which only an \
         administrator can change"
    );
    desk.layers.flags.mode = Some(Mode::Default);
    desk.layers.flags.ceiling = Some(SideEffect::Mutating);
    assert_eq!(
        desk.error(),
        "--ceiling: the ceiling 'mutating' cannot be had here: /managed.toml:3 (managed) sets 'read-only', which only \
         an administrator can change"
    );
    desk.layers.flags.ceiling = Some(SideEffect::ReadOnly);
    desk.load();
    desk.layers.named = vec![desk.file("named.toml", &mode("plan"))];
    assert_eq!(
        desk.error(),
        "/named.toml:2: the mode 'plan' cannot be had here: /managed.toml:2 (managed) sets 'default', which only an \
         administrator can change"
    );
}

#[test]
fn rules_add_up_and_hooks_run_from_the_outside_in() {
    let mut desk = Desk::new();
    for (file, name) in [
        ("managed.toml", "managed"),
        ("user.toml", "user"),
        ("ws/toolgate.toml", "project"),
        ("ws/.toolgate/local.toml", "local"),
        ("named.toml", "named"),
    ] {
        let text = format!(
            "[permissions]\nallow = [\"Read({name})\"]\n[[hooks.pre_tool_use]]\ncommand = [\"{name}\"]\n\
             [[hooks.stop]]\ncommand = [\"{name}\"]\n"
        );
        desk.file(file, &text);
    }
    desk.layers.named = vec![desk.base.join("named.toml")];
    desk.layers.flags.rules = vec![(Decision::Deny, "Read(flag)".to_owned())];
    desk.trust_all();
    let loaded = desk.load();
    let order = ["managed", "user", "project", "local", "named"];
    let words: Vec<String> = loaded
        .config
        .hooks
        .iter()
        .map(|hook| hook.run.words())
        .collect();
    assert_eq!(words, order.map(|name| [name, name]).concat());
    assert_eq!(loaded.config.rules.len(), 6);
    assert_eq!(
        loaded.config.rules[5].source.to_string(),
        "deny Read(flag) (command line)"
    );
    let layers: Vec<Layer> = loaded.in_force.iter().map(|file| file.layer).collect();
    assert_eq!(
        layers,
        [
            Layer::Managed,
            Layer::User,
            Layer::Project,
            Layer::Local,
            Layer::CommandLine
        ]
    );
    assert!(loaded.not_in_force.is_empty());
}

#[test]
fn tables_of_tools_merge_key_by_key() {
    let desk = Desk::new();
    desk.file(
        "user.toml",
        "[limits.tools.Grep]\nfuel = 2000000\ntimeout_ms = 2000\n[schema.tools]\nRead = \"off\"\nGrep = \"off\"\n",
    );
    desk.file(
        "ws/toolgate.toml",
        "[limits.tools.Grep]\nfuel = 3000000\n[schema.tools]\nRead = \"warn\"\n",
    );
    desk.trust_all();
    let config = desk.load().config;
    let grep = config.limits("Grep");
    assert_eq!(grep.fuel.unwrap().value, 3_000_000);
    assert_eq!(grep.timeout_ms.unwrap().value, 2_000);
    assert_eq!(config.schema_of["Read"].value, SchemaMode::Warn);
    assert_eq!(config.schema_of["Grep"].value, SchemaMode::Off);

    desk.file(
        "managed.toml",
        "[limits]\ntimeout_ms = 9000\n[schema]\nmode = \"enforce\"\n",
    );
    let config = desk.load().config;
    assert_eq!(config.limits("Grep").timeout_ms.unwrap().value, 9_000);
    assert_eq!(
        config.schema_mode("Read").unwrap().value,
        SchemaMode::Enforce
    );
}

#[test]
fn approvers_chosen_above_make_no_mistake_of_a_program_below() {
    let desk = Desk::new();
    desk.file(
        "user.toml",
        "[approval]\napprovers = [\"program\"]\nprogram = [\"x\"]\n",
    );
    desk.file("managed.toml", "[approval]\napprovers = [\"terminal\"]\n");
    let config = desk.load().config;
    assert!(config.approval.program.is_some());
    desk.file("managed.toml", "[approval]\napprovers = [\"program\"]\n");
    desk.load();
    desk.file("user.toml", "");
    assert_eq!(
        desk.error(),
        "/managed.toml:2: 'approvers' names 'program', and [approval] has no 'program'"
    );
}

#[test]
fn a_malformed_flag_stops_with_its_name() {
    let mut desk = Desk::new();
    for text in ["Bash(gh:*", "Bash()"] {
        desk.layers.flags.rules = vec![(Decision::Allow, text.to_owned())];
        let error = desk.error();
        assert!(
            error.starts_with(&format!("--allow: the rule '{text}' ")),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_ordinary_file_is_not_read() {
    let mut desk = Desk::new();
    desk.layers.named = vec![desk.base.join("none.toml")];
    assert_eq!(
        desk.error(),
        "/none.toml: cannot be read: there is no such file"
    );
    desk.layers.named = vec![desk.base.clone()];
    assert_eq!(desk.error(), ": is a directory, not a file");
    desk.layers.named = vec!["/dev/zero".into()];
    assert_eq!(desk.error(), "/dev/zero: is no regular file");
    let large = "#".repeat((1 << 20) + 1);
    desk.layers.named = vec![desk.file("large.toml", &large)];
    assert_eq!(desk.error(), "/large.toml: is larger than 1 MiB");
    desk.layers.named = vec![desk.file("full.toml", &large[1..])];
    desk.load();
    std::fs::write(desk.base.join("latin.toml"), b"# \xe9").unwrap();
    desk.layers.named = vec![desk.base.join("latin.toml")];
    assert_eq!(desk.error(), "/latin.toml: is not UTF-8 (byte 2)");
    desk.layers.named.clear();
    // The person's own file may be a link, as those who keep such files in one place have it.
    let kept = desk.file("kept.toml", &mode("plan"));
    std::os::unix::fs::symlink(&kept, desk.base.join("user.toml")).unwrap();
    assert_eq!(desk.load().config.mode.unwrap().value, Mode::Plan);
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(desk.error(), "/user.toml: is a link that leads nowhere");
}

#[test]
fn every_place_joins_the_protected_set() {
    let desk = Desk::new();
    let files = desk.load().config.files;
    for below in [
        "managed.toml",
        "user.toml",
        "ws/toolgate.toml",
        "ws/.toolgate/toolgate.toml",
        "ws/.toolgate/config.toml",
        "ws/.toolgate/local.toml",
    ] {
        assert!(files.contains(&desk.base.join(below)), "{below}");
    }
}

#[test]
fn no_layer_is_read_unasked() {
    let loaded = crate::config::Layers::default().load().unwrap();
    assert!(loaded.in_force.is_empty() && loaded.config.files.is_empty());
    let standard = crate::config::Layers::standard("/ws", Path::new("/state"));
    assert_eq!(
        standard.managed.as_deref(),
        Some(Path::new("/etc/toolgate/toolgate.toml"))
    );
}
