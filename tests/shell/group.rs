//! F16: process groups, which is what systems have that are not Linux. Best effort, and said so.

use std::time::Duration;

use toolgate::config::{ShellContainment, ShellKind, ShellSandbox, ShellSetting};
use toolgate::shell::{
    Command, CommandEnd, Containment, Layers, LocalShell, Network, Program, Settings, Shell as _,
    Step,
};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::adversary::{Adversary, is_quiet};
use crate::place::{Place, exit, length, signal, timed_out, with_timeout};

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.layers = Layers::Off;
    settings.min_containment = Containment::ProcessGroup;
    settings.max_containment = Containment::ProcessGroup;
    settings
}

fn shell() -> LocalShell {
    LocalShell::new(settings()).expect("settings")
}

#[tokio::test]
async fn f16_f03_daemons_end_and_the_label_promises_nothing() {
    for manner in ["plain", "ignterm", "dsetsid"] {
        let place = Place::new();
        let adversary = Adversary::new(&place);
        let line = Adversary::line(manner, 5, true);
        let started = shell()
            .start(with_timeout(&line, 1_500), &place.sandbox)
            .await;
        let ended = started.expect("a start").wait().await;
        assert_eq!(ended.outcome, timed_out(1_500), "{manner}");
        assert_eq!(ended.containment, Containment::ProcessGroup);
        assert_eq!(ended.containment.as_str(), "process_group");
        let gaps = ended.sandbox.gaps.join("; ");
        assert!(gaps.contains("there is no guarantee"), "{gaps}");
        assert!(gaps.contains("no sandbox"), "{gaps}");
        adversary.is_dead(&ended).await;
    }
}

#[tokio::test]
async fn f16_ends_are_the_same() {
    let place = Place::new();
    for (line, outcome, text) in [
        ("echo out; echo err >&2; exit 7", exit(7), "out\nerr\n"),
        ("kill -9 $$", signal("KILL"), ""),
        ("exit 137", exit(137), ""),
        ("cat; echo end", exit(0), "end\n"),
        ("test -t 0 || echo none", exit(0), "none\n"),
    ] {
        let started = shell().start(Command::new(line), &place.sandbox).await;
        let ended = started.expect("a start").wait().await;
        assert_eq!((ended.outcome, ended.output.text.as_str()), (outcome, text));
        assert_eq!((ended.background_killed, ended.kill_incomplete), (0, None));
    }
    // What stays behind is stopped and counted, and does not hold the call up.
    let line = "sleep 60 & setsid sleep 60 & echo started";
    let started = shell().start(Command::new(line), &place.sandbox).await;
    let ended = started.expect("a start").wait().await;
    assert_eq!((ended.outcome, ended.background_killed), (exit(0), 2));
    assert_eq!(ended.output.text, "started\n");
    // Nor does it where it never stops to print.
    let started = shell()
        .start(Command::new("yes & exit 3"), &place.sandbox)
        .await;
    let ended = started.expect("a start").wait().await;
    assert_eq!((ended.outcome, ended.background_killed), (exit(3), 1));
    let mut nowhere = Command::new("true");
    nowhere.cwd = Some(place.ws.join("gone"));
    let refused = shell().start(nowhere, &place.sandbox).await;
    assert_eq!(refused.expect_err("no folder").step, Step::Cwd);
    let mut missing = settings();
    missing.shell = "/nowhere/bash".into();
    let missing = LocalShell::new(missing).expect("settings");
    let refused = missing.start(Command::new("true"), &place.sandbox).await;
    let refused = refused.expect_err("no shell");
    assert_eq!(refused.step, Step::Shell, "{refused}");
    assert!(refused.hint.contains("/nowhere/bash"), "{refused}");
}

#[tokio::test]
async fn f16_giving_up_ends_the_group() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line("dsetsid", 3, true);
    let running = shell().start(Command::new(&line), &place.sandbox).await;
    let running = running.expect("a start");
    let beat = place.ws.join("beat");
    while length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.kill();
    let ended = running.wait().await;
    assert_eq!(ended.outcome, CommandEnd::Cancelled);
    adversary.is_dead(&ended).await;
    // The same by dropping what runs.
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let running = shell().start(Command::new(&line), &place.sandbox).await;
    let beat = place.ws.join("beat");
    while length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(running);
    tokio::time::sleep(Duration::from_secs(1)).await;
    is_quiet(&beat).await;
    drop(adversary);
}

#[tokio::test]
async fn f16_a_program_talks_through_its_input_and_output() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let place = Place::new();
    let program = Program {
        path: "/bin/cat".into(),
        arguments: Vec::new(),
        cwd: None,
        network: Network::Off,
        pass: Vec::new(),
        set: Vec::new(),
    };
    let served = shell().serve(program, &place.sandbox).await;
    let mut service = served.expect("a service");
    service
        .input
        .write_all(b"there and back")
        .await
        .expect("written");
    drop(service.input);
    let mut text = String::new();
    service
        .output
        .read_to_string(&mut text)
        .await
        .expect("read");
    assert_eq!(text, "there and back");
    assert_eq!(service.running.wait().await.outcome, exit(0));
}

#[tokio::test]
async fn f16_what_is_told_and_what_stops_the_start() {
    let probe = shell().probe().await;
    assert_eq!(probe.containment, Some(Containment::ProcessGroup));
    assert_eq!(probe.troubles, Vec::<String>::new());
    assert!(probe.warnings.concat().contains("without a sandbox"));
    let mut sandboxed = settings();
    sandboxed.layers = Layers::All;
    let said = LocalShell::new(sandboxed)
        .expect_err("no sandbox")
        .to_string();
    assert!(said.contains("sandbox = \"off\""), "{said}");
    let mut stronger = settings();
    stronger.min_containment = Containment::Subreaper;
    let said = LocalShell::new(stronger)
        .expect_err("only groups")
        .to_string();
    assert!(
        said.contains("'subreaper' that 'min_containment' demands"),
        "{said}"
    );
}

/// On Linux a weaker demand changes nothing: the strongest that there is holds commands.
#[tokio::test]
async fn a_demand_is_the_least_and_not_the_most() {
    let mut setup = Setup::default().allow(&["Bash"]);
    setup.config.shell = ShellSetting {
        kind: Some(ShellKind::Local.into()),
        min_containment: Some(ShellContainment::ProcessGroup.into()),
        sandbox: Some(ShellSandbox::Full.into()),
        ..ShellSetting::default()
    };
    let host = TestHost::with(Scratch::new(), setup, |builder| builder).await;
    assert_eq!(host.done("Bash", crate::calls::bash("echo a")).await, "a\n");
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["containment"], "pid_namespace");
}
