//! All of it once more with bubblewrap, and what is its own.

use toolgate::shell::{
    BubblewrapShell, Command, Containment, Layers, Sandbox, Settings, Shell as _, Step,
};

use crate::helper;
use crate::place::{self, Place, exit};

/// What is about other ways to hold a tree, or runs through tools whose host has the local shell.
pub const NOT_ITS_OWN: [&str; 15] = [
    "background::",
    "bubblewrap::",
    "calls::",
    "cgroup::",
    "container::",
    "container_refused::",
    "j15_where_it_is_the_only_layer_nothing_runs",
    "group::",
    "guarded::",
    "killed::",
    "launchers::",
    "l04_a_supervisor_ends_terminals_too",
    "registry::",
    "session_calls::",
    "subreaper::",
];
/// How many tests must have run at the least, so that the table is not left out by a slip.
const AT_LEAST: usize = 120;

fn shell() -> BubblewrapShell {
    BubblewrapShell::new(Settings::default(), None).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn everything_holds_with_bubblewrap() {
    let threads = |program: &mut std::process::Command| {
        program.args(["--test-threads", "4"]);
    };
    helper::table("bubblewrap", threads, &NOT_ITS_OWN, AT_LEAST);
}

#[tokio::test]
async fn what_is_in_force_is_told() {
    let probe = shell().probe().await;
    assert_eq!(probe.troubles, Vec::<String>::new());
    assert!(probe.launcher.starts_with("bubblewrap (/"), "{probe:?}");
    assert_eq!(probe.containment, Some(Containment::PidNamespace));
    let force = probe.sandbox.expect("a sandbox");
    assert!(force.seccomp && !force.network && force.layers == Layers::All);
    assert_eq!(force.processes, Some(1_024));
}

#[test]
fn what_bubblewrap_cannot_do_stops_the_start() {
    let refused = |change: fn(&mut Settings), says: &str| {
        let mut settings = Settings::default();
        change(&mut settings);
        let error = BubblewrapShell::new(settings, None).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    };
    refused(
        |settings| settings.layers = Layers::Landlock,
        "the whole sandbox",
    );
    refused(
        |settings| settings.layers = Layers::Off,
        "the whole sandbox",
    );
    refused(
        |settings| settings.max_containment = Containment::Subreaper,
        "a PID namespace and nothing less",
    );
    refused(|settings| settings.shared_proc = true, "shares none");
    let gone = BubblewrapShell::new(Settings::default(), Some("/nowhere/bwrap".as_ref()));
    let said = gone.expect_err("no program").to_string();
    assert!(
        said.contains("'/nowhere/bwrap' is not there: install it"),
        "{said}"
    );
}

/// A program that is not bubblewrap, or one that does less than it was asked for.
#[tokio::test]
async fn what_was_asked_for_is_looked_at() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let stand_in = |name: &str, script: &str| {
        let path = place.outside.join(name);
        std::fs::write(&path, script).expect("a program");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a mode");
        BubblewrapShell::new(Settings::default(), Some(&path)).expect("settings")
    };
    // Runs the command without any sandbox.
    let nothing = "#!/bin/bash\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n";
    let nothing = stand_in("nothing", nothing);
    // Leaves the network, or the read-only tree, out.
    let leaves = |what: &str, with: &str| {
        format!(
            "#!/bin/bash\nexec 9< <(tr '\\0' '\\n' <&205 | sed '{what}' | tr '\\n' '\\0')\nshift 2\nexec bwrap --args 9 \"$@\"\n# {with}\n"
        )
    };
    let network = stand_in(
        "network",
        &leaves("s/^--unshare-net$/--share-net/", "network"),
    );
    let root = stand_in("root", &leaves("0,/^--ro-bind$/s//--bind/", "root"));
    let words = stand_in(
        "words",
        "#!/bin/bash\necho \"bwrap: no \u{1b}[31mway\" >&2; exit 1\n",
    );
    let silent = stand_in("silent", "#!/bin/bash\nexit 1\n");
    for (shell, step, says) in [
        (nothing, Step::ReadOnlyRoot, "read-only"),
        (network, Step::Loopback, "loopback"),
        (root, Step::ReadOnlyRoot, "read-only"),
        (words, Step::Bubblewrap, "no \\u{1b}[31mway"),
        (silent, Step::Bubblewrap, "Nothing was run"),
    ] {
        let started = shell.start(Command::new("touch ran"), &place.sandbox).await;
        let refused = started.expect_err(says);
        assert_eq!(refused.step, step, "{refused}");
        assert!(refused.hint.contains(says), "{refused}");
    }
    assert!(!place.ws.join("ran").exists());
}

/// Deeper binds come from the host's own tree, and may not open what an upper one has closed.
#[tokio::test]
async fn a_closed_name_stays_closed_below_open_ones() {
    let place = Place::new();
    for name in ["a/closed/b/.vscode/x", "a/open/y", "read/z", "read/open/y"] {
        place.file(name, "old");
    }
    let at = |name: &str| place.ws.join(name);
    let sandbox = Sandbox {
        writable: vec![place.ws.clone(), at("a/open"), at("read/open")],
        readable: vec![at("read")],
        protected: vec![at("a/closed"), at("a/closed/b/.vscode"), at("read/z")],
        masks: vec![at("a/open/y"), at("a/closed/b")],
        ..Sandbox::default()
    };
    let line = "for f in a/closed/x a/closed/b/x a/closed/b/.vscode/x read/z read/new; do echo new > $f; done; \
                cat a/open/y a/closed/b/.vscode/x; mv a A; echo new > read/open/y; echo new > a/open/new; ls";
    for by_bubblewrap in [true, false] {
        let command = Command::new(line);
        let started = match by_bubblewrap {
            true => shell().start(command, &sandbox).await,
            false => {
                place::made(Settings::default())
                    .expect("settings")
                    .start(command, &sandbox)
                    .await
            }
        };
        let ended = started
            .unwrap_or_else(|error| panic!("{error}"))
            .wait()
            .await;
        assert_eq!(ended.outcome, exit(0), "{ended:?}");
        assert!(!ended.output.text.contains("old"), "{ended:?}");
        for name in ["a/closed/b/.vscode/x", "a/open/y", "read/z"] {
            assert_eq!(std::fs::read(at(name)).expect(name), b"old", "{name}");
        }
        for name in ["read/open/y", "a/open/new"] {
            assert_eq!(std::fs::read(at(name)).expect(name), b"new\n", "{name}");
        }
        for name in ["a/closed/x", "a/closed/b/x", "read/new", "A"] {
            assert!(!at(name).exists(), "{name}");
        }
    }
}
