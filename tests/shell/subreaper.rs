//! F15 and what belongs to it: the same without namespaces, where a supervisor holds the tree.

use std::time::Duration;

use toolgate::shell::{Command, Containment, Layers, LocalShell, Settings, Shell as _, Step};

use crate::adversary::Adversary;
use crate::place::{Place, SLACK, exit, signal, timed_out};

async fn dies(manner: &str, count: u32) {
    let place = Place::without_namespaces();
    let adversary = Adversary::new(&place);
    let (ended, took) = place
        .timed(&Adversary::line(manner, count, true), 1_000)
        .await;
    assert_eq!(ended.outcome, timed_out(1_000));
    assert_eq!(ended.containment, Containment::Subreaper);
    // A success that is reported is one; what is not done within five seconds is said.
    if ended.kill_incomplete.is_none() {
        adversary.is_dead(&ended).await;
    } else {
        assert!(manner.ends_with("comet"), "{ended:?}");
    }
    println!(
        "{manner} x{count}: {:?}, incomplete: {:?}",
        took - Duration::from_secs(1),
        ended.kill_incomplete
    );
}

#[tokio::test]
async fn f15_f01_children() {
    dies("plain", 5).await;
}

#[tokio::test]
async fn f15_f02_children_that_ignore_signals() {
    dies("ignterm", 5).await;
}

#[tokio::test]
async fn f15_f03_daemons() {
    dies("dsetsid", 5).await;
}

#[tokio::test]
async fn f15_f04_daemons_born_late() {
    dies("late", 2).await;
}

#[tokio::test]
async fn f15_f05_comets() {
    dies("comet", 3).await;
}

#[tokio::test]
async fn f15_f06_comets_with_sessions() {
    dies("scomet", 3).await;
}

#[tokio::test]
async fn f15_f07_a_subreaper_inside() {
    dies("subreap", 5).await;
}

#[tokio::test]
async fn f15_f08_a_comet_left_behind() {
    let place = Place::without_namespaces();
    let adversary = Adversary::new(&place);
    let ended = place.run(&Adversary::line("scomet", 1, false)).await;
    assert_eq!(ended.outcome, exit(0), "{ended:?}");
    assert!(ended.background_killed > 0);
    if ended.kill_incomplete.is_none() {
        adversary.is_dead(&ended).await;
    }
}

#[tokio::test]
async fn ends_are_the_same() {
    for (line, outcome, output, background) in [
        ("echo hello", exit(0), "hello\n", 0),
        ("exit 137", exit(137), "", 0),
        ("kill -9 $$", signal("KILL"), "", 0),
        ("sleep 60 & echo done", exit(0), "done\n", 1),
        ("setsid sleep 60 & echo ok", exit(0), "ok\n", 1),
        ("echo hi > >(sleep .05; cat)", exit(0), "hi\n", 0),
        ("exec 1>&- 2>&-; sleep .3; exit 5", exit(5), "", 0),
    ] {
        let (ended, took) = Place::without_namespaces().timed(line, 60_000).await;
        assert_eq!(ended.outcome, outcome, "{line}");
        assert_eq!(ended.output.text, output, "{line}");
        assert_eq!(ended.background_killed, background, "{line}");
        assert!(
            took < Duration::from_millis(1_200) * SLACK,
            "{line}: {took:?}"
        );
    }
}

#[tokio::test]
async fn the_supervisor_cannot_be_killed_from_inside() {
    let place = Place::without_namespaces();
    let ended = place.run("kill -9 $PPID; kill -STOP $PPID; echo on").await;
    assert_eq!(ended.outcome, exit(0), "{ended:?}");
    assert!(
        ended.output.text.contains("Operation not permitted"),
        "{ended:?}"
    );
    assert!(ended.output.text.ends_with("on\n"));
}

#[tokio::test]
async fn the_second_layer_is_the_first() {
    let place = Place::without_namespaces();
    let outside = place.outside.join("x");
    let line = format!("echo in > f; echo x > {}", outside.display());
    let ended = place.run(&line).await;
    assert_eq!(ended.outcome, exit(1));
    assert!(ended.output.text.contains("Permission denied"), "{ended:?}");
    assert!(place.ws.join("f").exists() && !outside.exists());
    let ended = place
        .run("echo > /dev/tcp/127.0.0.1/1; echo > /dev/udp/127.0.0.1/1")
        .await;
    assert!(
        ended.output.text.matches("Operation not permitted").count() >= 2,
        "{ended:?}"
    );
    let ended = place.run("printf '' > /proc/sys/kernel/core_pattern").await;
    assert_eq!(ended.outcome, exit(1), "{ended:?}");
    let gaps = ended.sandbox.gaps.join("\n");
    assert!(
        gaps.contains("no read-only mounts") && gaps.contains("memory: unlimited"),
        "{gaps}"
    );
}

#[tokio::test]
async fn what_is_too_weak_is_refused() {
    let mut settings = Settings::default();
    settings.max_containment = Containment::Subreaper;
    let place = Place::new();
    // The full sandbox needs namespaces.
    let shell = LocalShell::new(settings.clone()).expect("settings");
    let refused = shell.start(Command::new("touch ran"), &place.sandbox).await;
    assert_eq!(refused.expect_err("no namespaces").step, Step::Containment);
    settings.layers = Layers::Off;
    settings.min_containment = Containment::PidNamespace;
    let shell = LocalShell::new(settings).expect("settings");
    let refused = shell.start(Command::new("touch ran"), &place.sandbox).await;
    let refused = refused.expect_err("too weak");
    assert!(refused.hint.contains("min_containment"), "{refused}");
    assert!(!place.ws.join("ran").exists());
}

#[tokio::test]
async fn a_probe_says_what_there_is() {
    let shell = LocalShell::new(Settings::default()).expect("settings");
    let probe = shell.probe().await;
    assert_eq!(
        probe.containment,
        Some(Containment::PidNamespace),
        "{probe:?}"
    );
    let sandbox = probe.sandbox.expect("a sandbox");
    assert_eq!(
        (sandbox.layers, sandbox.seccomp, sandbox.network),
        (Layers::All, true, false)
    );
    assert_eq!(probe.warnings.is_empty(), !crate::place::is_root());
    let mut settings = Settings::default();
    settings.shell = "/nowhere/bash".into();
    let probe = LocalShell::new(settings).expect("settings").probe().await;
    assert_eq!(probe.containment, None);
    assert_eq!(
        probe.troubles,
        ["bash not found at /nowhere/bash; set shell.path"]
    );
}
