//! Containers that are not what was asked for, engines that cannot, and what no container is.

use toolgate::shell::{
    Command, Container, ContainerShell, Containment, Layers, Settings, Shell as _, Step,
};

use crate::engine::{self, podman, script, shell};
use crate::place::{Place, exit};

/// A client that asks podman for something else than it was told to.
fn lying(place: &Place, name: &str, change: &str) -> Container {
    let podman = podman();
    let real = podman.program.expect("a client");
    let text = format!(
        "words=(); for word in \"$@\"; do\n{change}\nwords+=(\"$word\"); done\nexec {} \"${{words[@]}}\"",
        real.display()
    );
    let client = script(&place.outside.join(name), &text);
    engine::by(&client)
}

/// A container that is another one than was asked for runs nothing.
#[tokio::test]
async fn what_was_asked_for_is_looked_at() {
    let place = Place::new();
    place.file(".git/hooks/x", "");
    place.file("secret", "");
    std::fs::create_dir(place.outside.join("hooks")).expect("a folder");
    let mut sandbox = place.sandbox.clone();
    sandbox.masks.push(place.ws.join("secret"));
    let (ws, outside) = (place.ws.display(), place.outside.display());
    // The link is there before the engine looks, and after this host did.
    let swapped = format!(
        "[ \"$1\" = run ] && [ -d {ws}/.git ] && [ ! -L {ws}/.git ] && mv {ws}/.git {ws}/was && ln -s {outside} {ws}/.git"
    );
    for (name, change, says) in [
        (
            "root",
            "[ \"$word\" = --read-only=true ] && continue",
            "root that can be written",
        ),
        (
            "network",
            "[ \"$word\" = --network=none ] && word=--network=host",
            "has a network",
        ),
        (
            "cover",
            "[[ $word = *target=*/secret* ]] && continue",
            "does not have",
        ),
        (
            "open",
            "[[ $word = *target=*/hooks* ]] && word=${word%,readonly}",
            "can be written",
        ),
        (
            "other",
            &format!(
                "[[ $word = *source={ws}/.git,* ]] && word=--mount=type=bind,source={outside},target={ws}/.git"
            ),
            "something else at",
        ),
        ("swapped", &swapped, "does not have"),
    ] {
        let shell = shell(lying(&place, name, change));
        let started = shell
            .start(Command::new("touch ran; touch .git/ran"), &sandbox)
            .await;
        let refused = started.expect_err(name);
        assert_eq!(refused.step, Step::Container, "{name}: {refused}");
        assert!(refused.hint.contains(says), "{name}: {refused}");
        assert!(refused.hint.contains("Nothing was run"), "{refused}");
    }
    assert!(!place.ws.join("ran").exists() && !place.outside.join("ran").exists());
    // The neighbour, which does what it is told.
    let place = Place::new();
    let honest = shell(lying(&place, "honest", ":"));
    let started = honest
        .start(Command::new("touch ran"), &place.sandbox)
        .await;
    assert_eq!(started.expect("a container").wait().await.outcome, exit(0));
    assert!(place.ws.join("ran").exists());
}

#[tokio::test]
async fn an_engine_that_cannot_says_why_and_what_to_do() {
    let place = Place::new();
    let client = |name: &str, text: &str| engine::by(&script(&place.outside.join(name), text));
    let gone = Container {
        image: "localhost/toolgate-gone:1".to_owned(),
        ..podman()
    };
    let mut settings = Settings::default();
    settings.shell = "/usr/bin/no-bash".into();
    let no_bash = ContainerShell::new(settings, podman()).expect("settings");
    for (shell, step, says) in [
        (
            shell(gone),
            Step::Container,
            "podman pull localhost/toolgate-gone:1",
        ),
        (no_bash, Step::Shell, "the image needs bash"),
        (
            shell(client("silent", "exit 1")),
            Step::Container,
            "it said nothing",
        ),
        (
            shell(client("coloured", "printf '\\e[31mno\\n' >&2; exit 125")),
            Step::Container,
            "\\u{1b}[31mno",
        ),
        (
            shell(client(
                "down",
                "echo 'Cannot connect to the Docker daemon at x.' >&2; exit 1",
            )),
            Step::Container,
            "'podman info' must work",
        ),
        // Prints as if all were well, and reads nothing.
        (
            shell(client(
                "liar",
                "echo toolgate-report ready 2 1 0 off >&2; exit 0",
            )),
            Step::Container,
            "Nothing was run",
        ),
    ] {
        let started = shell.start(Command::new("touch ran"), &place.sandbox).await;
        let refused = started.expect_err(says);
        assert_eq!(refused.step, step, "{refused}");
        assert!(refused.hint.contains(says), "{refused}");
    }
    assert!(!place.ws.join("ran").exists());
}

#[tokio::test]
async fn an_end_that_the_engine_does_not_confirm_is_said() {
    let place = Place::new();
    let stuck = "[ \"$1\" = rm ] && { echo 'Error: the engine is busy' >&2; exit 1; }";
    let shell = shell(lying(&place, "stuck", stuck));
    let started = shell.start(Command::new("echo a"), &place.sandbox).await;
    let ended = started.expect("a container").wait().await;
    assert_eq!(
        (ended.outcome.clone(), ended.output.text.as_str()),
        (exit(0), "a\n")
    );
    let left = ended
        .kill_incomplete
        .expect("a word")
        .waits
        .expect("a word");
    assert!(left.starts_with("container toolgate-"), "{left}");
    assert!(left.contains("the engine is busy"), "{left}");
}

#[test]
fn what_a_container_is_not_stops_the_start() {
    let refused = |change: fn(&mut Settings, &mut Container), says: &str| {
        let (mut settings, mut container) = (Settings::default(), podman());
        change(&mut settings, &mut container);
        let error = ContainerShell::new(settings, container).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    };
    refused(
        |settings, _| settings.layers = Layers::Off,
        "leave 'sandbox' out",
    );
    refused(
        |settings, _| settings.min_containment = Containment::PidNamespace,
        "less than 'min_containment' demands",
    );
    refused(
        |settings, _| settings.pass.push("LANG".to_owned()),
        "'environment'",
    );
    refused(|_, container| container.image.clear(), "as 'image'");
    refused(
        |_, container| container.image = "--privileged".to_owned(),
        "as 'image'",
    );
    refused(
        |_, container| container.arguments.push("privileged".to_owned()),
        "whole options only",
    );
    refused(
        |_, container| container.program = Some("/nowhere/podman".into()),
        "'/nowhere/podman' is not there",
    );
}

#[tokio::test]
async fn what_a_container_cannot_take_is_said() {
    let place = Place::new();
    let shell = shell(podman());
    let mut separate = Command::new("true");
    separate.separate = true;
    let long = Command::new(format!(": {}", "x".repeat(130_000)));
    for (command, says) in [
        (separate, "one stream of output"),
        (long, "longer than 120,000 bytes"),
    ] {
        let refused = shell.start(command, &place.sandbox).await.expect_err(says);
        assert_eq!(refused.step, Step::Validate);
        assert!(refused.hint.contains(says), "{refused}");
    }
    assert!(!shell.has_terminals());
    let odd = place.ws.join("a,b");
    std::fs::create_dir(&odd).expect("a folder");
    let mut command = Command::new("true");
    command.cwd = Some(odd);
    let refused = shell
        .start(command, &place.sandbox)
        .await
        .expect_err("a comma");
    assert!(refused.hint.contains("holds a comma"), "{refused}");
}
