//! The launchers through the front door: chosen by one line, and what cannot be stops the start.

use serde_json::json;
use toolgate::config::{Config, ShellContainment, ShellKind, ShellSandbox, ShellSetting};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::calls::bash;

fn setting(kind: ShellKind) -> ShellSetting {
    ShellSetting {
        kind: Some(kind.into()),
        ..ShellSetting::default()
    }
}

async fn host(shell: ShellSetting) -> TestHost {
    let mut setup = Setup::default().allow(&["Bash", "ShellStart", "ShellClose"]);
    setup.config.shell = shell;
    TestHost::with(Scratch::new(), setup, |builder| builder).await
}

/// What the start says.
async fn refused(shell: ShellSetting) -> String {
    let scratch = Scratch::new();
    let config = Config {
        shell,
        ..Config::default()
    };
    let builder = toolgate::Host::builder(&scratch.ws).config(config);
    let built = builder.state_dir(&scratch.state).build().await;
    built.expect_err("no start").to_string()
}

#[tokio::test]
async fn one_line_chooses_bubblewrap() {
    let host = host(setting(ShellKind::Bubblewrap)).await;
    assert_eq!(host.done("Bash", bash("echo a > f; cat f")).await, "a\n");
    let said = host.done("Bash", bash("touch /etc/x; touch /x")).await;
    assert!(said.contains("Read-only file system"), "{said}");
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["containment"], "pid_namespace");
    let probe = host.host.probe_shell().await.expect("a shell");
    assert!(probe.launcher.starts_with("bubblewrap"), "{probe:?}");
    let started = host
        .done("ShellStart", json!({"command": "echo b; sleep 60"}))
        .await;
    let id = started
        .split([' ', '.'])
        .find(|word| word.starts_with("terminal-"));
    let close = json!({"session": id.expect("an id")});
    host.done("ShellClose", close).await;
}

#[tokio::test]
async fn what_bubblewrap_is_not_stops_the_start() {
    let mut shell = setting(ShellKind::Bubblewrap);
    shell.sandbox = Some(ShellSandbox::Landlock.into());
    let said = refused(shell).await;
    assert!(
        said.contains("in [shell], bubblewrap makes the whole sandbox"),
        "{said}"
    );
    let mut shell = setting(ShellKind::Bubblewrap);
    shell.program = Some(std::path::PathBuf::from("/nowhere/bwrap").into());
    let said = refused(shell).await;
    assert!(
        said.contains("the program '/nowhere/bwrap' is not there"),
        "{said}"
    );
    let mut shell = setting(ShellKind::Local);
    shell.path = Some(std::path::PathBuf::from("bash").into());
    let said = refused(shell).await;
    assert!(
        said.contains("the shell 'bash' is no absolute path"),
        "{said}"
    );
}

#[tokio::test]
async fn bubblewrap_gives_what_is_demanded() {
    let mut shell = setting(ShellKind::Bubblewrap);
    shell.min_containment = Some(ShellContainment::PidNamespace.into());
    let host = host(shell).await;
    assert_eq!(host.done("Bash", bash("echo a")).await, "a\n");
}

#[tokio::test]
async fn what_is_of_containers_needs_containers() {
    let mut shell = setting(ShellKind::Local);
    shell.image = Some("x:1".to_owned().into());
    let said = refused(shell).await;
    assert!(
        said.contains("'image' is of containers: it needs kind = \"docker\""),
        "{said}"
    );
    let mut shell = setting(ShellKind::Podman);
    shell.program = Some(std::path::PathBuf::from("/bin/true").into());
    let said = refused(shell).await;
    assert!(
        said.contains("in [shell], a container needs the name of an image, as 'image' in [shell]"),
        "{said}"
    );
}
