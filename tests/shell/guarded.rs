//! The guarded shell through the front door: what is not known to only read does not run, whoever asks.

use std::os::unix::fs::symlink;

use serde_json::json;
use toolgate::config::{ShellKind, ShellSetting};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::calls::bash;

async fn host() -> TestHost {
    let scratch = Scratch::new();
    scratch.file("a", "one\ntwo\n");
    scratch.file("sub/b", "three\n");
    let outside = scratch
        .state
        .parent()
        .expect("a parent")
        .join("beyond-the-workspace");
    std::fs::write(&outside, "OUTSIDE\n").expect("a file");
    symlink(&outside, scratch.ws.join("away")).expect("a link");
    symlink("a", scratch.ws.join("home")).expect("a link");
    let mut setup = Setup::default().allow(&["Bash"]);
    setup.config.shell = ShellSetting {
        kind: Some(ShellKind::Local.into()),
        guard: Some(true.into()),
        ..ShellSetting::default()
    };
    TestHost::with(scratch, setup, |builder| builder).await
}

#[tokio::test]
async fn commands_that_read_run() {
    let host = host().await;
    for (line, text) in [
        ("cat a home | sort -u", "one\ntwo\n"),
        ("cat sub/../a && wc -l sub/b", "one\ntwo\n1 sub/b\n"),
        ("grep -rn three sub", "sub/b:1:three\n"),
        ("find . -name b -type f", "./sub/b\n"),
        ("head -n 1 a; tail -n1 a", "one\ntwo\n"),
    ] {
        assert_eq!(host.done("Bash", bash(line)).await, text, "{line}");
    }
    let below = json!({"command": "cat ../a", "cwd": "sub"});
    assert_eq!(host.done("Bash", below).await, "one\ntwo\n");
    let task = json!({"command": "cat a", "run_in_background": true});
    assert!(host.done("Bash", task).await.contains("task-"));
}

#[tokio::test]
async fn what_is_not_known_does_not_run_and_is_named() {
    let host = host().await;
    let ws = host.scratch.ws.clone();
    for (line, says) in [
        ("touch x", "the command 'touch' is not known"),
        ("cat a > x", "redirection"),
        ("sort -o x a", "the flag '-o' of 'sort' is not known"),
        ("uniq a x", "the argument 'x' of 'uniq' is not known"),
        (
            "find . -fprint x",
            "the flag '-fprint' of 'find' is not known",
        ),
        ("cat away", "the argument 'away' leads outside"),
        ("cat a; cat sub/../../beyond-the-workspace", "leads outside"),
        (
            "cat /etc/passwd",
            "the argument '/etc/passwd' leads outside",
        ),
        ("cat *", "'*' stands for names"),
        ("bash -c 'touch x'", "the command 'bash' is not known"),
    ] {
        for background in [false, true] {
            let call = json!({"command": line, "run_in_background": background});
            let said = host.failed("Bash", call).await;
            assert!(
                said.contains("the shell is guarded") && said.contains(says),
                "{line}: {said}"
            );
        }
        assert!(!ws.join("x").exists(), "{line}");
    }
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["outcome"], "refused");
}

/// Beside the text there is the sandbox: what runs has nothing that it could write.
#[tokio::test]
async fn a_guarded_shell_has_no_terminals_and_says_so() {
    let host = host().await;
    let tools: Vec<_> = host.host.tools().collect();
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_string()).collect();
    for name in [
        "ShellStart",
        "ShellWrite",
        "ShellRead",
        "ShellResize",
        "ShellClose",
    ] {
        assert!(!names.iter().any(|known| known == name), "{name}");
    }
    let bash = tools.iter().find(|tool| tool.name().as_str() == "Bash");
    let described = &bash.expect("Bash").declaration().description;
    assert!(
        described.contains("The shell is guarded here"),
        "{described}"
    );
}
