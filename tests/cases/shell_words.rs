//! Cases of the family `shell` about what goes in and comes out: stdin, deadlines, output, the environment.

use std::io::Read as _;

use serde_json::json;
use toolgate::config::ShellSetting;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::run::{alone, is_alone};
use crate::shell_host::{assert_timed_out, until, with_any_command};
use crate::support::{holds, lacks};

cases! {
    "H01" => h01_a_command_has_no_stdin_and_takes_none_of_the_hosts,
    "H10" => h10_every_deadline_is_within_the_range,
    "H12" => h12_much_output_keeps_its_beginning_and_its_end,
    "H13" => h13_bytes_that_are_no_text_are_replaced,
    "H15" => h15_a_deleted_directory_is_left_behind,
    "H17" => h17_no_variable_passes_that_is_not_listed,
    "H18" => h18_no_secret_needs_to_be_known_by_name,
}

async fn h01_a_command_has_no_stdin_and_takes_none_of_the_hosts() {
    const CASE: &str = "shell_words::case::h01_a_command_has_no_stdin_and_takes_none_of_the_hosts";
    if !is_alone(CASE) {
        return alone(CASE, &[], "printf 'one\\ntwo\\n' | \"$@\"");
    }
    let host = with_any_command().await;
    assert_eq!(host.done("Bash", until("cat", 20_000)).await, "[no output]");
    let read = until("read x; echo got:$x", 20_000);
    assert_eq!(host.done("Bash", read).await, "got:\n");
    let mut left = String::new();
    let stdin = std::io::stdin().read_to_string(&mut left);
    stdin.expect("the host's stdin");
    assert_eq!(left, "one\ntwo\n");
}

async fn h10_every_deadline_is_within_the_range() {
    let host = with_any_command().await;
    let outcome = host.call("Bash", until("sleep 2; echo a", 0)).await;
    assert_timed_out(&outcome, 1_000);
    lacks(&outcome.ending.text(), &["a\n"]);
    for (asked, taken) in [
        (-5, "1000 ms was used"),
        (999_999_999_999, "600000 ms was used"),
    ] {
        let said = host.done("Bash", until("echo a", asked)).await;
        assert!(said.starts_with("a\n"), "{said}");
        holds(&said, &[taken]);
    }
}

async fn h12_much_output_keeps_its_beginning_and_its_end() {
    let host = with_any_command().await;
    let said = host
        .done("Bash", until("seq 1 50000000; echo END >&2", 150_000))
        .await;
    assert!(said.starts_with("1\n2\n3\n"), "{}", &said[..100]);
    assert!(
        said.ends_with("\n49999999\n50000000\nEND\n"),
        "{}",
        &said[said.len() - 100..]
    );
    // 438,888,897 bytes of numbers, and the end.
    holds(&said, &["the middle of 438888901 bytes was left out"]);
}

async fn h13_bytes_that_are_no_text_are_replaced() {
    let host = with_any_command().await;
    let outcome = host
        .call("Bash", json!({"command": "printf 'a\\000b\\377\\376c\\n'"}))
        .await;
    assert_eq!(outcome.ending.text(), "a\u{fffd}b\u{fffd}\u{fffd}c\n");
    let on_the_wire = serde_json::to_vec(&outcome).expect("JSON");
    let on_the_wire = String::from_utf8(on_the_wire).expect("UTF-8");
    lacks(&on_the_wire, &["\\u0000"]);
}

async fn h15_a_deleted_directory_is_left_behind() {
    let host = with_any_command().await;
    host.scratch.file("tmp/x", "");
    let leave = json!({"command": "cd /ws/tmp && rm -rf /ws/tmp"});
    host.done("Bash", leave).await;
    assert!(!host.scratch.ws.join("tmp").exists());
    let on = json!({"command": "echo alive; pwd"});
    let said = host.done("Bash", on.clone()).await;
    assert_eq!(said, format!("alive\n{}\n", host.scratch.ws.display()));
    // Who names the directory is told that it is gone.
    let there = json!({"command": "echo alive", "cwd": "tmp"});
    let said = host.failed("Bash", there).await;
    holds(
        &said,
        &["Command failed: the working directory", "No such file"],
    );
}

/// A host that commands get a variable of, so that the test sees that variables arrive at all.
async fn passing() -> TestHost {
    let mut setup = Setup::default().allow(&["Bash"]);
    setup.config.shell = ShellSetting::local();
    setup.config.shell.pass.push("TG_PASSED".to_owned().into());
    TestHost::with(Scratch::new(), setup, |builder| builder).await
}

async fn h17_no_variable_passes_that_is_not_listed() {
    const CASE: &str = "shell_words::case::h17_no_variable_passes_that_is_not_listed";
    if !is_alone(CASE) {
        let given = [
            ("FOO_API_KEY", "abc123"),
            ("SSH_AUTH_SOCK", "/abc123"),
            ("AWS_SESSION_TOKEN", "abc123"),
            ("MY_PLAIN", "abc123"),
            ("TG_PASSED", "arrived"),
        ];
        return alone(CASE, &given, "exec \"$@\"");
    }
    assert!(std::env::var_os("MY_PLAIN").is_some());
    let said = passing()
        .await
        .done("Bash", json!({"command": "env"}))
        .await;
    holds(&said, &["PATH=", "TG_PASSED=arrived"]);
    let names = [
        "FOO_API_KEY",
        "SSH_AUTH_SOCK",
        "AWS_SESSION_TOKEN",
        "MY_PLAIN",
    ];
    lacks(&said, &names);
    lacks(&said, &["abc123"]);
}

async fn h18_no_secret_needs_to_be_known_by_name() {
    const CASE: &str = "shell_words::case::h18_no_secret_needs_to_be_known_by_name";
    if !is_alone(CASE) {
        let given = [
            ("TOLLGATE_UNLISTED_SECRET", "abc123"),
            ("TG_PASSED", "arrived"),
        ];
        return alone(CASE, &given, "exec \"$@\"");
    }
    assert!(std::env::var_os("TOLLGATE_UNLISTED_SECRET").is_some());
    let host = passing().await;
    for line in [
        "printenv",
        "tr '\\0' '\\n' </proc/1/environ; cat /proc/*/environ | tr '\\0' '\\n'",
    ] {
        let said = host.done("Bash", json!({"command": line})).await;
        holds(&said, &["TG_PASSED=arrived"]);
        lacks(&said, &["abc123", "TOLLGATE"]);
    }
}
