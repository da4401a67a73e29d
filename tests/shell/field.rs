//! Field cases that need a real process, named by their ids.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use toolgate_tests::Setup;

use crate::calls::{bash, host};

#[tokio::test]
async fn c43_an_option_that_writes_is_stopped_by_the_sandbox() {
    let host = host(Setup::default()).await;
    host.scratch.file("data.txt", "b\na\n");
    let line = "sort --output=/etc/toolgate-test data.txt";
    let said = host.done("Bash", bash(line)).await;
    assert!(said.ends_with("[exit code: 2]"), "{said}");
    assert!(!Path::new("/etc/toolgate-test").exists());
    assert_eq!(host.done("Bash", bash("sort data.txt")).await, "a\nb\n");
}

#[tokio::test]
async fn c49_a_script_reaches_no_network() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    let port = listener.local_addr().expect("its address").port();
    let host = host(Setup::default()).await;
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached\n");
    let path = host.scratch.file("run.sh", script);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let said = host.done("Bash", bash("bash run.sh")).await;
    assert!(
        !said.contains("reached") && said.contains("[exit code:"),
        "{said}"
    );
    listener.set_nonblocking(true).expect("not blocking");
    assert!(listener.accept().is_err(), "somebody connected");
}

#[tokio::test]
async fn p23_no_directory_of_a_command_moves_the_root() {
    let host = host(Setup::default()).await;
    host.scratch.file("passwd", "of the workspace");
    host.done("Bash", bash("cd /etc")).await;
    let read = host.done("Read", json!({"file_path": "passwd"})).await;
    assert!(read.contains("of the workspace"), "{read}");
}

#[tokio::test]
async fn p36_what_git_obeys_stays_as_it_is() {
    let host = host(Setup::default()).await;
    host.done("Bash", bash("git init -q sub")).await;
    for line in [
        "cd sub && git config core.fsmonitor 'touch m'",
        "echo x > sub/.git/hooks/pre-commit",
    ] {
        let said = host.done("Bash", bash(line)).await;
        assert!(said.contains("[exit code:"), "{line}: {said}");
    }
    assert!(!host.scratch.ws.join("sub/.git/hooks/pre-commit").exists());
}

#[tokio::test]
async fn p37_commits_work() {
    let host = host(Setup::default()).await;
    host.done("Bash", bash("git init -q .")).await;
    host.scratch.file("a.txt", "x");
    let line = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=a@b; \
                git add -A && git commit -qm x && git status --short && git log --format=%s";
    assert_eq!(host.done("Bash", bash(line)).await, "x\n");
}
