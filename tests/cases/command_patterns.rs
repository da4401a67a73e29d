//! Cases of the family `command` about patterns: what a rule says is what it covers, and nothing beside it.

use std::path::Path;

use serde_json::json;
use toolgate::config::Layers;
use toolgate::model::Ending;
use toolgate::policy::{Decision, Rule};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::command_host::{Shell, with_bash};
use crate::shell_host::with_shell;
use crate::support::{holds, lacks, set_mode};

cases! {
    "C21" => c21_options_before_the_subcommand_break_the_match,
    "C22" => c22_an_option_before_the_subcommand_is_another_option,
    "C31" => c31_the_wildcard_stands_at_the_end_of_a_word,
    "C40" => c40_a_malformed_rule_stops_the_start,
    "C43" => c43_an_option_that_writes_is_stopped_by_the_sandbox,
    "C46" => c46_without_the_wildcard_the_arguments_are_exact,
    "C48" => c48_a_bare_name_in_a_deny_rule_covers_every_argument,
    "C49" => c49_a_script_reaches_no_network_whatever_it_calls,
    "C50" => c50_no_option_is_formed_from_a_field,
}

async fn c21_options_before_the_subcommand_break_the_match() {
    let shell = Shell::new(&["Bash(git status:*)"], &[]).await;
    shell.runs("git status --short").await;
    shell
        .asks("git -c core.fsmonitor='touch /ws/m; false' status")
        .await;
    for options in ["-C /outside", "--git-dir=/outside", "-p", "--exec-path=/ws"] {
        shell.asks(&format!("git {options} status")).await;
    }
    for scratch in shell.scratches() {
        assert!(!scratch.ws.join("m").exists());
    }
}

async fn c22_an_option_before_the_subcommand_is_another_option() {
    let shell = Shell::new(&["Bash(git log:*)", "Bash(git status:*)"], &[]).await;
    shell.runs("git log -p -1").await;
    shell.asks("git -p status").await;
}

async fn c31_the_wildcard_stands_at_the_end_of_a_word() {
    let shell = Shell::new(&["Bash(ls:*)", "Bash(git:*)", "Bash(npm run a:*)"], &[]).await;
    for command in [
        "ls",
        "ls -i",
        "git",
        "git status",
        "npm run a",
        "npm run a b",
    ] {
        shell.runs(command).await;
    }
    for command in [
        "lsof -i",
        "gitfoo status",
        "npm run ab",
        "npm run a:b",
        "ls:x",
    ] {
        shell.asks(command).await;
    }
}

/// Rule texts that no flag and no file may hold.
const NO_RULES: [&str; 2] = ["Bash(gh:*", "Bash()"];

/// Rule texts whose pattern is none for a command.
const NO_PATTERNS: [&str; 6] = [
    "Bash(:*)",
    "Bash(gh * x)",
    "Bash(gh 'x)",
    "Bash(gh && ls)",
    "Bash(gh > x)",
    "Bash($X)",
];

async fn c40_a_malformed_rule_stops_the_start() {
    for effect in [Decision::Allow, Decision::Ask, Decision::Deny] {
        for text in NO_RULES {
            let mut flags = Layers::default();
            flags.flags.rules = vec![(effect, text.to_owned())];
            let message = flags.load().expect_err("no rule").to_string();
            holds(&message, &[text, &format!("--{effect}")]);

            let scratch = Scratch::new();
            let file = scratch.outside.join("toolgate.toml");
            let toml = format!("[permissions]\n{effect} = [\n  \"Read\",\n  \"{text}\",\n]\n");
            std::fs::write(&file, toml).expect("a file");
            let named = Layers {
                named: vec![file],
                ..Layers::default()
            };
            let message = named.load().expect_err("no rule").to_string();
            holds(&message, &[text, "toolgate.toml:4"]);
        }
        for text in NO_PATTERNS {
            let rule = Rule::parse(effect, text, Path::new("toolgate.toml"), 7).expect("a rule");
            let mut setup = Setup::default();
            setup.config.rules = vec![rule];
            let built = TestHost::try_with(Scratch::new(), setup, with_bash).await;
            let message = built.expect_err("the host must not start").to_string();
            holds(&message, &[text, "toolgate.toml:7"]);
        }
    }
    // The same text mended: the host starts, and the rule is what it says.
    let shell = Shell::new(&["Bash(gh:*)"], &[]).await;
    shell.runs("gh pr list").await;
    shell.asks("git log").await;
}

async fn c43_an_option_that_writes_is_stopped_by_the_sandbox() {
    let shell = Shell::new(&["Bash(sort:*)"], &[]).await;
    shell
        .runs("sort --output=/etc/toolgate-test /ws/data.txt")
        .await;
    shell.asks("sort /ws/data.txt > /etc/toolgate-test").await;
    let host = with_shell(Scratch::new(), Setup::default().allow(&["Bash(sort:*)"])).await;
    host.scratch.file("data.txt", "b\na\n");
    let said = host
        .done("Bash", json!({"command": "sort /ws/data.txt"}))
        .await;
    assert_eq!(said, "a\nb\n");
    let line = "sort --output=/etc/toolgate-test /ws/data.txt";
    let said = host.done("Bash", json!({"command": line})).await;
    assert!(said.ends_with("[exit code: 2]"), "{said}");
    assert!(!Path::new("/etc/toolgate-test").exists());
}

async fn c46_without_the_wildcard_the_arguments_are_exact() {
    let shell = Shell::new(&["Bash(git fetch origin)"], &[]).await;
    shell.runs("git fetch origin").await;
    shell
        .asks("git fetch origin-local --upload-pack='sh p'")
        .await;
    shell.asks("git fetch origin --upload-pack='sh p'").await;
    shell.asks("git fetch").await;
    shell.asks("git fetch origin ''").await;
}

async fn c48_a_bare_name_in_a_deny_rule_covers_every_argument() {
    let shell = Shell::new(&["Bash"], &["Bash(yarn)"]).await;
    shell.runs("npm install").await;
    shell.runs("yarnpkg install").await;
    for command in [
        "yarn",
        "yarn install",
        "/usr/bin/yarn install",
        "ls && yarn install",
    ] {
        shell.denies(command, "Bash(yarn)").await;
    }
}

async fn c49_a_script_reaches_no_network_whatever_it_calls() {
    let shell = Shell::new(&["Bash(bash run.sh)"], &["Bash(curl:*)"]).await;
    for scratch in shell.scratches() {
        scratch.file("run.sh", "curl https://203.0.113.9/\n");
    }
    shell.runs("bash run.sh").await;
    shell
        .denies("bash -c 'curl https://203.0.113.9/'", "Bash(curl:*)")
        .await;
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let port = listener.local_addr().expect("its address").port();
    let setup = Setup::default().allow(&["Bash(bash run.sh)"]);
    let host = with_shell(Scratch::new(), setup.deny(&["Bash(curl:*)"])).await;
    // The second way needs no program that a machine may be without.
    let script = format!(
        "echo runs\ncurl -sS http://127.0.0.1:{port}/ && echo reached\nexec 3<>/dev/tcp/127.0.0.1/{port} && echo reached\n"
    );
    host.scratch.file("run.sh", script);
    let said = host.done("Bash", json!({"command": "bash run.sh"})).await;
    assert!(
        said.starts_with("runs\n") && said.ends_with("[exit code: 1]"),
        "{said}"
    );
    lacks(&said, &["reached"]);
    assert!(listener.accept().is_err(), "somebody connected");
}

async fn c50_no_option_is_formed_from_a_field() {
    let host = TestHost::new().await;
    let made = host.scratch.ws.join("made");
    let script = format!("#!/bin/sh\ntouch '{}'\n", made.display());
    set_mode(host.scratch.file("x.sh", script), 0o755);
    host.scratch
        .file("doc/options.txt", "give it --pre=./x.sh\nor -r\n");
    let text = host
        .done(
            "Grep",
            json!({"pattern": "--pre=./x.sh", "path": "/ws", "output_mode": "content"}),
        )
        .await;
    holds(&text, &["options.txt", "give it --pre=./x.sh"]);
    // In every field that takes a text.
    for input in [
        json!({"pattern": "-r", "path": "/ws", "output_mode": "content"}),
        json!({"pattern": "or", "path": "/ws", "glob": "--pre=./x.sh"}),
        json!({"pattern": "or", "path": "--pre=./x.sh"}),
        json!({"pattern": "or", "path": "/ws", "type": "--pre=./x.sh"}),
    ] {
        let ending = host.call("Grep", input.clone()).await.ending;
        assert!(
            matches!(ending, Ending::Done(_) | Ending::Failed(_)),
            "{input}: {ending:?}"
        );
    }
    assert!(!made.exists(), "x.sh was run");
}
