//! Commands in containers, with real engines: what a container is, what is found out of one that is not, and that it ends.

use std::path::Path;
use std::time::{Duration, Instant};

use toolgate::config::{ShellKind, ShellSetting};
use toolgate::shell::{
    Command, CommandEnd, Container, Containment, Engine, Layers, Network, Shell as _,
};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::adversary::{Adversary, is_quiet};
use crate::calls::bash;
use crate::engine::{self, Docker, podman, said, shell};
use crate::helper;
use crate::place::{self, LAUNCHER, Place, exit, signal, timed_out, with_timeout};

/// What of the table is about a command and its tree, not about this machine.
const OF_COMMANDS: [&str; 5] = [
    "exits::",
    "output::g03",
    "output::g05",
    "output::g06",
    "time::",
];
/// What of that is not so in a container: streams apart, and programs that are the image's; and hundreds of starts, which take
/// engines minutes.
const NOT_THERE: [&str; 4] = [
    "exits::a06_the_shell_is_missing",
    "exits::a10_streams_are_kept_apart_on_request",
    "exits::c05_git_does_not_ask_for_a_password",
    "time::d10_exit_and_deadline_at_once_are_one_end",
];
/// How many tests must have run at the least, so that the table is not left out by a slip.
const AT_LEAST: usize = 30;

/// What the engine still has of containers that see a workspace.
fn left(client: &Path, ws: &Path) -> String {
    let sees = format!("volume={}", ws.display());
    let (_, text) = said(helper::program(client).args([
        "ps",
        "--all",
        "--filter",
        &sees,
        "--format",
        "{{.Names}} {{.Status}}",
    ]));
    text
}

#[test]
fn the_table_of_commands_holds_in_containers() {
    let client = podman().program.expect("a client");
    let of_commands = |program: &mut std::process::Command| {
        program
            .args(["--test-threads", "2"])
            .args(OF_COMMANDS)
            .env(engine::CLIENT, client);
    };
    helper::table("podman", of_commands, &NOT_THERE, AT_LEAST);
}

#[tokio::test]
async fn what_is_in_force_is_told() {
    let probe = shell(podman()).probe().await;
    assert_eq!(probe.troubles, Vec::<String>::new());
    assert!(
        probe.launcher.starts_with("container (podman, image "),
        "{probe:?}"
    );
    assert_eq!(probe.containment, Some(Containment::Container));
    let force = probe.sandbox.expect("a sandbox");
    assert!(force.seccomp && !force.network && force.layers == Layers::All);
    assert_eq!(
        (force.processes, force.memory),
        (Some(1_024), Some(2 << 30))
    );
    let gap = "a container: its end and its limits are the engine's word";
    assert_eq!(force.gaps, [gap]);
}

/// What a command in a container finds, and what it cannot do. The same for every engine.
async fn a_container_is_the_sandbox(container: Container) {
    let place = Place::new();
    place.file(".git/hooks/pre-commit", "kept");
    place.file("a/secret.env", "secret");
    place.file("closed/inner", "secret");
    place.file("plain", "plain");
    let mut sandbox = place.sandbox.clone();
    sandbox.masks.push(place.ws.join("a/secret.env"));
    sandbox.hidden.push(place.ws.join("closed"));
    let shell = shell(container);
    let outside = place.outside.display();
    let run = async |line: &str| {
        let started = shell.start(Command::new(line), &sandbox).await;
        let running = started.unwrap_or_else(|error| panic!("{line}: {error}"));
        running.wait().await
    };
    for (line, outcome, says) in [
        (
            "cat plain; echo new > made; cat made",
            exit(0),
            "plainnew\n".to_owned(),
        ),
        (
            "echo out; echo err >&2; exit 7",
            exit(7),
            "out\nerr\n".to_owned(),
        ),
        ("kill -9 $$", signal("KILL"), String::new()),
        ("exit 137", exit(137), String::new()),
        (
            "cat a/secret.env; ls closed | wc -l",
            exit(0),
            "0\n".to_owned(),
        ),
        ("cat < /dev/stdin; echo end", exit(0), "end\n".to_owned()),
        ("echo x > /tmp/own && ls /tmp", exit(0), "own\n".to_owned()),
        ("ls /tmp", exit(0), String::new()),
        (
            "id -u",
            exit(0),
            format!("{}\n", rustix::process::geteuid().as_raw()),
        ),
    ] {
        let ended = run(line).await;
        assert_eq!(
            (ended.outcome, ended.output.text),
            (outcome, says),
            "{line}"
        );
        assert_eq!(ended.containment, Containment::Container);
        assert_eq!((ended.background_killed, ended.kill_incomplete), (0, None));
    }
    for (line, says) in [
        (format!("ls {outside}"), "No such file"),
        ("echo x > /made".to_owned(), "Read-only file system"),
        ("echo x > /usr/bin/made".to_owned(), "Read-only file system"),
        (
            "echo x > .git/hooks/pre-commit".to_owned(),
            "Read-only file system",
        ),
        ("mv .git moved".to_owned(), "busy"),
        ("mv .git/hooks moved".to_owned(), "Read-only file system"),
        ("rm -f a/secret.env".to_owned(), "busy"),
        ("echo > /dev/tcp/127.0.0.1/22".to_owned(), "refused"),
        ("echo > /dev/tcp/192.0.2.1/80".to_owned(), "unreachable"),
        (
            "echo > /proc/sys/kernel/hostname".to_owned(),
            "Read-only file system",
        ),
    ] {
        let ended = run(&line).await;
        assert_ne!(ended.outcome, exit(0), "{line}: {ended:?}");
        assert!(ended.output.text.contains(says), "{line}: {ended:?}");
    }
    assert_eq!(
        std::fs::read_to_string(place.ws.join(".git/hooks/pre-commit")).expect("a file"),
        "kept"
    );
    let ended = run("sleep 60 & setsid sleep 60 & echo started").await;
    assert_eq!((ended.outcome, ended.background_killed), (exit(0), 2));
    let note = "2 background processes were";
    assert!(
        ended.notes.iter().any(|said| said.starts_with(note)),
        "{:?}",
        ended.notes
    );
}

/// Ends that are not the command's own.
async fn a_container_ends(container: Container) {
    let client = container.program.clone().expect("a client");
    let shell = shell(container);
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line("scomet", 8, true);
    let started = shell
        .start(with_timeout(&line, 1_500), &place.sandbox)
        .await;
    let ended = started.expect("a container").wait().await;
    assert_eq!(ended.outcome, timed_out(1_500));
    adversary.is_dead(&ended).await;
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line("deaf", 2, true).replace("deaf", "ignterm");
    let running = shell.start(Command::new(line), &place.sandbox).await;
    let running = running.expect("a container");
    let beat = place.ws.join("beat");
    while place::length(&beat) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.kill();
    let ended = running.wait().await;
    assert_eq!(ended.outcome, CommandEnd::Cancelled);
    adversary.is_dead(&ended).await;
    assert_eq!(left(&client, &place.ws), "");
}

#[tokio::test]
async fn a_container_of_podman_is_the_sandbox() {
    a_container_is_the_sandbox(podman()).await;
}

#[tokio::test]
async fn a_container_of_podman_ends() {
    a_container_ends(podman()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_of_docker_are_the_same() {
    let docker = Docker::start();
    let container = engine::of(Engine::Docker, &docker.client);
    a_container_is_the_sandbox(container.clone()).await;
    a_container_ends(container.clone()).await;
    // Its words for what is not there are its own.
    let gone = Container {
        image: "toolgate-gone:1".to_owned(),
        ..container
    };
    let (shell, place) = (shell(gone), Place::new());
    let refused = shell.start(Command::new("true"), &place.sandbox).await;
    let said = refused.expect_err("no image").to_string();
    assert!(said.contains("docker pull toolgate-gone:1"), "{said}");
}

#[tokio::test]
async fn giving_up_before_it_begins_leaves_nothing() {
    let podman = podman();
    let client = podman.program.clone().expect("a client");
    let place = Place::new();
    let shell = shell(podman);
    let line = Adversary::line("plain", 1, true);
    let adversary = Adversary::new(&place);
    for after in [1, 60, 120, 180, 240, 300] {
        let starting = shell.start(Command::new(&line), &place.sandbox);
        let given_up = tokio::time::timeout(Duration::from_millis(after), starting).await;
        drop(given_up);
    }
    let begun = Instant::now();
    while !left(&client, &place.ws).is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{}",
            left(&client, &place.ws)
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let beat = place.ws.join("beat");
    let before = place::length(&beat);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(place::length(&beat), before);
    drop(adversary);
}

#[tokio::test]
async fn a_killed_host_leaves_no_container() {
    let client = podman().program.expect("a client");
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line("scomet", 4, true);
    let shown = client.display().to_string();
    let set = [(LAUNCHER, "podman"), (engine::CLIENT, shown.as_str())];
    let mut host = helper::host(&place, &line, &set);
    let beat = place.ws.join("beat");
    let begun = Instant::now();
    while place::length(&beat) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never began");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    host.kill().expect("a host");
    host.wait().expect("a host");
    tokio::time::sleep(Duration::from_secs(1)).await;
    is_quiet(&beat).await;
    drop(adversary);
    // The next host removes what the engine still remembers of it.
    let shell = shell(podman());
    let started = shell.start(Command::new("echo a"), &place.sandbox).await;
    assert_eq!(started.expect("a container").wait().await.outcome, exit(0));
    assert_eq!(left(&client, &place.ws), "");
}

#[tokio::test]
async fn a_granted_network_is_the_engines() {
    let place = Place::new();
    // Of this machine's network, which the engine needs no bridge for.
    let mut container = podman();
    container.arguments.push("--network=host".to_owned());
    let shell = shell(container);
    let mut command = Command::new("[ $(wc -l < /proc/net/route) -gt 1 ] && echo routes");
    command.network = Network::Full;
    let started = shell.start(command, &place.sandbox).await;
    let ended = started.expect("a container").wait().await;
    assert_eq!(ended.output.text, "routes\n");
    assert!(ended.sandbox.network);
    // Where it was not granted, the same argument stops the start.
    let refused = shell.start(Command::new("true"), &place.sandbox).await;
    let refused = refused.expect_err("a network").to_string();
    assert!(refused.contains("network"), "{refused}");
    assert!(refused.contains("Nothing was run"), "{refused}");
}

#[tokio::test]
async fn one_line_chooses_podman() {
    let container = podman();
    let mut setup = Setup::default()
        .allow(&["Bash", "TaskOutput"])
        .deny(&["Read(**/*.env)"]);
    setup.config.shell = ShellSetting {
        kind: Some(ShellKind::Podman.into()),
        program: container.program.map(Into::into),
        image: Some(container.image.into()),
        arguments: container.arguments.into_iter().map(Into::into).collect(),
        ..ShellSetting::default()
    };
    let host = TestHost::with(Scratch::new(), setup, |builder| builder).await;
    host.scratch.file("x.env", "secret");
    assert_eq!(
        host.done("Bash", bash("echo a > f; cat f x.env")).await,
        "a\n"
    );
    let made = std::fs::read_to_string(host.scratch.ws.join("f"));
    assert_eq!(made.expect("a file"), "a\n");
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["containment"], "container");
    let names: Vec<String> = host
        .host
        .tools()
        .map(|tool| tool.name().to_string())
        .collect();
    assert!(names.contains(&"TaskStop".to_owned()));
    assert!(!names.iter().any(|name| name == "ShellStart"), "{names:?}");
}
