//! The Bash tool through every gate.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::config::ShellSetting;
use toolgate::model::Ending;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::adversary::is_quiet;

/// A host with a shell, in which Bash and TaskStop run without being asked.
pub async fn host(setup: Setup) -> TestHost {
    let mut setup = setup.allow(&["Bash", "TaskStop"]);
    setup.config.shell = ShellSetting::local();
    TestHost::with(Scratch::new(), setup, |builder| builder).await
}

pub fn bash(line: &str) -> Value {
    json!({ "command": line })
}

#[tokio::test]
async fn an_exit_code_is_a_result_and_the_marker_is_last() {
    let host = host(Setup::default()).await;
    for (line, text) in [
        ("echo hello", "hello\n"),
        ("true", "[no output]"),
        ("echo a; exit 3", "a\n[exit code: 3]"),
        ("printf a; kill -9 $$", "a\n[killed by signal: KILL]"),
        ("nosuchcmd_x 2>/dev/null", "[exit code: 127]"),
    ] {
        let outcome = host.call("Bash", bash(line)).await;
        let done = matches!(outcome.ending, Ending::Done(_));
        assert_eq!(done, !line.contains("kill"), "{line}: {:?}", outcome.ending);
        assert_eq!(outcome.ending.text(), text, "{line}");
    }
    let many = host.done("Bash", bash("seq 1 200000; exit 4")).await;
    assert!(many.starts_with("1\n2\n") && many.ends_with("\n200000\n[exit code: 4]"));
    // The body has 30,000 characters, with a line where the middle was; the marker stands beside it.
    let said = many.chars().count();
    assert!((30_000..30_300).contains(&said), "{said}");
    assert!(!many.contains("characters left out here"), "cut twice");
    let spill = many.split("all of it is in ").nth(1).expect("a place");
    let spill = spill.split(' ').next().expect("a path");
    let page = json!({"file_path": spill, "offset": 100_000, "limit": 1});
    assert!(host.done("Read", page).await.contains("100000"));
}

#[tokio::test]
async fn d01_what_was_printed_until_the_deadline_is_told() {
    let host = host(Setup::default()).await;
    let begun = Instant::now();
    let late = json!({"command": "printf half; sleep 60", "timeout": 1000});
    let said = host.failed("Bash", late).await;
    assert_eq!(said, "half\n[timed out after 1000ms]");
    assert!(begun.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn d07_odd_deadlines_are_clamped_and_it_is_said() {
    let host = host(Setup::default()).await;
    for (timeout, taken) in [
        (200, "1000"),
        (0, "1000"),
        (-5, "1000"),
        (9_999_000, "600000"),
    ] {
        let call = json!({"command": "echo a", "timeout": timeout});
        let said = host.done("Bash", call).await;
        assert!(said.starts_with("a\n"), "{said}");
        assert!(
            said.contains(&format!("{taken} ms was used")),
            "{timeout}: {said}"
        );
    }
}

#[tokio::test]
async fn d08_a_call_that_is_given_up_ends_its_tree() {
    let host = host(Setup::default()).await;
    let beat = host.scratch.ws.join("beat");
    let line = "(setsid bash -c 'for i in $(seq 1 500); do printf . >> beat; sleep .02; done' &) ; sleep 20";
    let call = host.call("Bash", bash(line));
    let begun = async {
        while std::fs::metadata(&beat).map_or(0, |file| file.len()) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        outcome = call => panic!("{:?}", outcome.ending),
        () = begun => {}
    }
    is_quiet(&beat).await;
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["ending"], "stopped");
}

#[tokio::test]
async fn i04_no_directory_outlives_its_call() {
    let host = host(Setup::default()).await;
    let ws = format!("{}\n", host.scratch.ws.display());
    assert_eq!(host.done("Bash", bash("cd /; pwd")).await, "/\n");
    assert_eq!(host.done("Bash", bash("pwd")).await, ws);
    host.scratch.file("sub/x", "");
    let below = json!({"command": "pwd", "cwd": "sub"});
    assert!(host.done("Bash", below).await.ends_with("/ws/sub\n"));
    for cwd in ["gone", "/etc"] {
        let call = json!({"command": "touch ran", "cwd": cwd});
        let said = host.failed("Bash", call).await;
        assert!(
            said.starts_with("Command failed: the working directory"),
            "{said}"
        );
    }
    assert!(!host.scratch.ws.join("ran").exists());
}

#[tokio::test]
async fn the_hosts_own_files_are_out_of_reach() {
    let host = host(Setup::default()).await;
    let state = host.scratch.state.display().to_string();
    std::fs::write(host.scratch.state.join("standing.json"), "{}").expect("a file");
    let line = format!(
        "cat {state}/standing.json; ls {state}; echo x > {state}/standing.json; echo y > {state}/new"
    );
    let said = host.done("Bash", bash(&line)).await;
    assert!(!said.contains("{}"), "{said}");
    let kept = std::fs::read(host.scratch.state.join("standing.json")).expect("a file");
    assert_eq!(kept, b"{}");
    assert!(!host.scratch.state.join("new").exists());
}

#[tokio::test]
async fn deny_rules_over_files_bind_commands() {
    let setup = Setup::default().deny(&[
        "Read(/ws/.env)",
        "Read(/ws/secrets/**)",
        "Read(/ws/**/*.pem)",
        "Write(/ws/keep.txt)",
        "Write(/ws/**/*.lock)",
    ]);
    let scratch = Scratch::new();
    for name in [".env", "secrets/a/b", "deep/er/key.pem"] {
        scratch.file(name, "TOPSECRET");
    }
    for name in ["keep.txt", "deep/x.lock", "free.txt"] {
        scratch.file(name, "old");
    }
    let mut setup = setup.allow(&["Bash"]);
    setup.config.shell = ShellSetting::local();
    let host = TestHost::with(scratch, setup, |builder| builder).await;
    let line = "cat .env secrets/a/b deep/er/key.pem; ln .env x; cat x; cp -r . /tmp/all; cat /tmp/all/.env; \
                mv secrets s2; cat s2/a/b; find . -type f -exec cat {} +";
    let said = host.done("Bash", bash(line)).await;
    assert!(!said.contains("TOPSECRET"), "{said}");
    let line =
        "for f in keep.txt deep/x.lock free.txt; do echo new > $f; rm -f $f; done; mv deep d2";
    host.done("Bash", bash(line)).await;
    for name in ["keep.txt", "deep/x.lock"] {
        let kept = std::fs::read(host.scratch.ws.join(name)).expect(name);
        assert_eq!(kept, b"old", "{name}");
    }
    assert!(!host.scratch.ws.join("free.txt").exists());
}

#[tokio::test]
async fn one_command_is_approved_and_no_other_runs() {
    let mut setup = Setup::default().allow(&["Bash(echo:*)"]);
    setup.config.shell = ShellSetting::local();
    let host = TestHost::with(Scratch::new(), setup, |builder| builder).await;
    assert_eq!(host.done("Bash", bash("echo a")).await, "a\n");
    host.denied("Bash", bash("echo a; touch b")).await;
    let record = host.journal.records().pop().expect("a record");
    assert!(record.get("commands").is_none(), "{record}");
    host.denied("Bash", bash("touch b")).await;
    assert!(!host.scratch.ws.join("b").exists());
}
