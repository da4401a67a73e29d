//! Cases of the family `path` about kernel files, strangers' components and absurd names.

use std::path::PathBuf;

use serde_json::json;
use toolgate::model::{DenialReason, Ending};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::run::{alone, is_alone};
use crate::support::{asking, holds, lacks, link, names, refused};

cases! {
    "P17" => p17_proc_is_no_way_around_a_deny_rule,
    "P18" => p18_the_hosts_environment_is_no_file,
    "P20" => p20_a_component_opens_nothing_beyond_what_it_was_granted,
    "P22" => p22_an_earlier_call_gives_a_later_one_nothing,
    "P33" => p33_a_name_that_is_too_long_is_said_to_be,
}

/// Everything may be read that no rule denies.
fn all_readable() -> Setup {
    let mut setup = Setup::default();
    setup.config.read.push(PathBuf::from("/").into());
    setup
}

async fn p17_proc_is_no_way_around_a_deny_rule() {
    let setup = all_readable().deny(&["Read(/etc/shadow)"]);
    let (host, asked) = asking(Scratch::new(), setup).await;
    let direct = host
        .denied("Read", json!({"file_path": "/etc/shadow"}))
        .await;
    holds(&direct, &["Read(/etc/shadow)"]);
    for path in ["/proc/self/root/etc/shadow", "/proc/self/root/etc/hostname"] {
        let text = host.denied("Read", json!({"file_path": path})).await;
        lacks(&text, &["root:"]);
    }
    assert_eq!(asked.count(), 0);
    // What is granted can be read: the denial is about the path.
    let outside = host.scratch.outside.join("plain.txt");
    std::fs::write(&outside, "plain\n").expect("a file");
    holds(
        &host
            .done("Read", json!({"file_path": "/outside/plain.txt"}))
            .await,
        &["plain"],
    );
}

async fn p18_the_hosts_environment_is_no_file() {
    const CASE: &str = "path_special::case::p18_the_hosts_environment_is_no_file";
    if !is_alone(CASE) {
        return alone(CASE, &[("TG_TEST_KEY", "abc123")], "exec \"$@\"");
    }
    let environment = std::fs::read("/proc/self/environ").expect("the environment");
    assert!(
        environment
            .windows(18)
            .any(|window| window == b"TG_TEST_KEY=abc123")
    );
    for setup in [Setup::default(), all_readable()] {
        let scratch = Scratch::new();
        link("/proc/self", scratch.ws.join("linked"));
        let (host, _) = asking(scratch, setup).await;
        for (tool, input) in [
            ("Read", json!({"file_path": "/proc/self/environ"})),
            ("Read", json!({"file_path": "/proc/thread-self/environ"})),
            ("Read", json!({"file_path": "/ws/linked/environ"})),
            (
                "Grep",
                json!({"pattern": "TG_TEST_KEY", "path": "/ws/linked", "output_mode": "content"}),
            ),
            (
                "Grep",
                json!({"pattern": "TG_TEST_KEY", "path": "/proc/self"}),
            ),
            (
                "Grep",
                json!({"pattern": "TG_TEST_KEY", "path": "/proc/self/environ", "output_mode": "content"}),
            ),
        ] {
            lacks(&refused(&host.call(tool, input).await), &["abc123"]);
        }
    }
}

async fn p20_a_component_opens_nothing_beyond_what_it_was_granted() {
    let scratch = Scratch::new();
    scratch.file("repo/inside.txt", "inside\n");
    scratch.file("beside/config", "abc123\n");
    std::fs::write(scratch.outside.join("config"), "abc123\n").expect("a file");
    let host = TestHost::with(scratch, Setup::default(), |builder| {
        builder.component("stage.wasm", toolgate_artifacts::ESCAPES_SCOPE.to_vec())
    })
    .await;
    let stage =
        |other: &str, door: &str| json!({"file_path": "/ws/repo", "other": other, "door": door});
    for door in ["std_fs", "files", "scan"] {
        for other in [
            "../../../home/u/.kube/config",
            "../outside/config",
            "/outside/config",
            "/ws/repo/../../outside/config",
            "/ws/repo/../beside/config",
            "/ws/beside/config",
        ] {
            let text = host.failed("EscapesScope", stage(other, door)).await;
            lacks(&text, &["abc123"]);
        }
        // What it was granted it can open, so the failures above are refusals.
        let text = host
            .done("EscapesScope", stage("/ws/repo/inside.txt", door))
            .await;
        assert_eq!(text, "inside\n", "{door}");
    }
}

async fn p22_an_earlier_call_gives_a_later_one_nothing() {
    let scratch = Scratch::new();
    scratch.file("repo/log.txt", "one two\n");
    std::fs::create_dir(scratch.outside.join("repo")).expect("a folder");
    std::fs::write(scratch.outside.join("repo/log.txt"), "one two three\n").expect("a file");
    let host = TestHost::with(scratch, Setup::default(), |builder| {
        builder.component("word_count.wasm", toolgate_artifacts::WORD_COUNT.to_vec())
    })
    .await;
    let inside = json!({"file_path": "/ws/repo/log.txt"});
    assert_eq!(host.done("WordCount", inside.clone()).await, "2 found");
    let outcome = host
        .call("WordCount", json!({"file_path": "/outside/repo/log.txt"}))
        .await;
    let Ending::Denied(denial) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    assert!(
        matches!(denial.reason, DenialReason::OutsideRoots { .. }),
        "{denial:?}"
    );
    lacks(&outcome.ending.text(), &["3 found"]);
    assert_eq!(host.done("WordCount", inside).await, "2 found");
}

async fn p33_a_name_that_is_too_long_is_said_to_be() {
    let setup = Setup::default().allow(&["Write(/ws/**)"]);
    let host = TestHost::with(Scratch::new(), setup, |builder| builder).await;
    let name = format!("/ws/{}", "a".repeat(300));
    let text = host
        .failed("Write", json!({"file_path": name, "content": "x"}))
        .await;
    holds(&text, &["name is too long"]);
    let path = format!("/ws/{}", "a/".repeat(3_000));
    let text = host.failed("Read", json!({"file_path": path})).await;
    holds(&text, &["name is too long"]);
    assert!(names(&host.scratch.ws).is_empty());
}
