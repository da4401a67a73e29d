//! Cases of the families `command` and `path` that need a real shell: which program a name starts, where paths stand, what
//! a command reaches.

use std::path::PathBuf;

use serde_json::json;
use toolgate_tests::{Scratch, Setup};

use crate::run::{alone, is_alone};
use crate::shell_host::{with_any_command, with_shell};
use crate::support::{bytes, holds, lacks, set_mode};

cases! {
    "C25" => c25_a_bare_name_starts_the_systems_program,
    "P23" => p23_no_directory_of_a_command_moves_the_root,
    "P29" => p29_a_masked_file_cannot_be_linked,
    "P37" => p37_commits_work,
}

async fn c25_a_bare_name_starts_the_systems_program() {
    const CASE: &str = "shell_places::case::c25_a_bare_name_starts_the_systems_program";
    if !is_alone(CASE) {
        let scratch = Scratch::new();
        let ls = scratch.file(
            "bin/ls",
            scratch.mapped("#!/bin/sh\ntouch /ws/m\necho hijacked\n"),
        );
        set_mode(&ls, 0o755);
        let ws = scratch.ws.to_str().expect("UTF-8");
        let script = "PATH=\"$TG_WS/bin:$PATH\"; export PATH; exec \"$@\"";
        return alone(CASE, &[("TG_WS", ws)], script);
    }
    let mut scratch = Scratch::new();
    scratch.ws = PathBuf::from(std::env::var_os("TG_WS").expect("a workspace"));
    let path = std::env::var("PATH").expect("a path");
    assert!(path.starts_with(&format!("{}/bin:", scratch.ws.display())));
    let host = with_shell(scratch, Setup::default().allow(&["Bash(ls:*)"])).await;
    assert_eq!(host.done("Bash", json!({"command": "ls"})).await, "bin\n");
    assert!(!host.scratch.ws.join("m").exists());
}

async fn p23_no_directory_of_a_command_moves_the_root() {
    let host = with_shell(Scratch::new(), Setup::default().allow(&["Bash(cd:*)"])).await;
    let moved = json!({"command": "cd /etc"});
    host.done("Bash", moved.clone()).await;
    let read = json!({"file_path": "passwd"});
    let said = host.failed("Read", read.clone()).await;
    lacks(&said, &["root:"]);
    host.scratch.file("passwd", "of the workspace");
    host.done("Bash", moved).await;
    holds(&host.done("Read", read).await, &["of the workspace"]);
}

async fn p29_a_masked_file_cannot_be_linked() {
    let setup = Setup::default().allow(&["Bash"]).deny(&["Read(/ws/.env)"]);
    let scratch = Scratch::new();
    scratch.file(".env", "abc123");
    scratch.file("plain", "free");
    let host = with_shell(scratch, setup).await;
    let line = "ln /ws/.env /ws/x.txt; cat /ws/x.txt; ln /ws/plain /ws/y.txt; cat /ws/y.txt";
    let said = host.done("Bash", json!({"command": line})).await;
    lacks(&said, &["abc123"]);
    holds(&said, &["free"]);
    assert!(!host.scratch.ws.join("x.txt").exists());
    assert_eq!(bytes(host.scratch.ws.join(".env")), b"abc123");
}

async fn p37_commits_work() {
    let host = with_any_command().await;
    // Who the commits are by stands in the repository's own configuration, which only the making of it may write.
    let make = "git init -q . && git config user.name n && git config user.email a@b";
    host.done("Bash", json!({"command": make})).await;
    host.scratch.file("a.txt", "x");
    let line = "git add -A && git commit -qm x && git status --short";
    let said = host.done("Bash", json!({"command": line})).await;
    assert_eq!(said, "[no output]");
    let log = json!({"command": "git log --format=%s --name-only"});
    assert_eq!(host.done("Bash", log).await, "x\n\na.txt\n");
}
