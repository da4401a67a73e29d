//! Reading: nothing outside of the view is seen, by whatever door, link or name.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use toolgate::model::{Ending, Outcome};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{Guest, beside, host_in};

const READS: Guest = ("ReadsByStdFs", guests::READS_BY_STD_FS);
const ESCAPES: Guest = ("EscapesScope", guests::ESCAPES_SCOPE);
/// Stands in every file that must not be seen.
const SECRET: &str = "the secret";

/// A workspace with everything that leads where it should not.
fn traps_laid() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("a.txt", "the content");
    scratch.file("sub/b.txt", "below");
    scratch.file(".env", SECRET);
    scratch.file("keys/private.pem", SECRET);
    std::fs::write(scratch.outside.join("secret.txt"), SECRET).expect("a file outside");
    let sibling = scratch.ws.with_file_name("ws_evil");
    std::fs::create_dir(&sibling).expect("a folder whose name begins like the workspace's");
    std::fs::write(sibling.join("secret.txt"), SECRET).expect("a file in it");
    let link = |target: &Path, name: &str| symlink(target, scratch.ws.join(name)).expect("a link");
    link(&scratch.outside.join("secret.txt"), "absolute_out");
    link(Path::new("../outside/secret.txt"), "relative_out");
    link(&scratch.outside, "folder_out");
    link(Path::new("sub/../../outside/secret.txt"), "winding_out");
    link(Path::new("relative_out"), "link_to_link_out");
    link(Path::new(".env"), "to_denied");
    link(Path::new("keys"), "to_denied_folder");
    link(Path::new("a.txt"), "inside");
    link(&scratch.ws.join("a.txt"), "absolute_inside");
    link(Path::new("round"), "round");
    std::fs::hard_link(scratch.ws.join(".env"), scratch.ws.join("second_name"))
        .expect("a hard link");
    mknodat(
        CWD,
        scratch.ws.join("fifo"),
        FileType::Fifo,
        Mode::from_raw_mode(0o644),
        0,
    )
    .expect("a FIFO");
    scratch
}

async fn reading_host(guest: Guest) -> TestHost {
    let setup = Setup::default().deny(&["Read(.env)", "Read(keys/**)"]);
    host_in(traps_laid(), guest, setup, |builder| builder).await
}

fn assert_refused(outcome: &Outcome, what: &Value) {
    let text = match &outcome.ending {
        Ending::Failed(failure) => &failure.message,
        other => panic!("{what}: not refused: {other:?}"),
    };
    assert!(!text.contains(SECRET), "{what}: {text}");
}

#[tokio::test]
pub async fn reads_by_std_fs() {
    let host = reading_host(READS).await;
    for (how, path, seen) in [
        ("read", "/ws/a.txt", "the content"),
        ("read", "/ws/sub/../a.txt", "the content"),
        ("read", "/ws/inside", "the content"),
        ("read", "/ws/absolute_inside", "the content"),
        ("stat", "/ws/a.txt", "11 bytes"),
        ("link", "/ws/inside", "a.txt"),
        ("list", "/ws/sub", "b.txt"),
    ] {
        let outcome = beside(&host, "ReadsByStdFs", json!({ "how": how, "path": path })).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{how} {path}: {:?}",
            outcome.ending
        );
        assert_eq!(outcome.ending.text(), seen, "{how} {path}");
    }
}

#[tokio::test]
async fn std_fs_sees_nothing_outside_of_the_view() {
    let host = reading_host(READS).await;
    for path in [
        "/outside/secret.txt",
        "/ws/../outside/secret.txt",
        "/ws/sub/../../outside/secret.txt",
        "/ws_evil/secret.txt",
        "/ws/../ws_evil/secret.txt",
        "/ws/absolute_out",
        "/ws/relative_out",
        "/ws/winding_out",
        "/ws/link_to_link_out",
        "/ws/folder_out/secret.txt",
        "/ws/round",
        "/ws/.env",
        "/ws/sub/../.env",
        "/ws/to_denied",
        "/ws/second_name",
        "/ws/keys/private.pem",
        "/ws/to_denied_folder/private.pem",
        "/ws/fifo",
        "/ws/a.txt/..",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/proc/self/cwd/Cargo.toml",
        "/dev/zero",
        "/etc/passwd",
        "/",
        "",
    ] {
        let input = json!({ "how": "read", "path": path });
        let outcome = beside(&host, "ReadsByStdFs", input.clone()).await;
        assert_refused(&outcome, &input);
    }
}

#[tokio::test]
async fn std_fs_tells_nothing_about_what_is_not_in_view() {
    let host = reading_host(READS).await;
    for (how, path) in [
        ("stat", "/ws/.env"),
        ("stat", "/ws/to_denied"),
        ("stat", "/ws/relative_out"),
        ("stat", "/ws/absolute_out"),
        ("stat", "/ws/folder_out/secret.txt"),
        ("stat", "/outside/secret.txt"),
        ("stat", "/ws/../outside"),
        ("list", "/ws/folder_out"),
        ("list", "/ws/.."),
        ("list", "/outside"),
        ("list", "/proc/self"),
        ("list", "/"),
        ("link", "/ws/.env"),
        ("link", "/proc/self/exe"),
    ] {
        let input = json!({ "how": how, "path": path });
        let outcome = beside(&host, "ReadsByStdFs", input.clone()).await;
        assert_refused(&outcome, &input);
    }
}

#[tokio::test]
async fn a_listing_leaves_out_what_is_denied() {
    let host = reading_host(READS).await;
    let outcome = beside(
        &host,
        "ReadsByStdFs",
        json!({ "how": "list", "path": "/ws" }),
    )
    .await;
    let text = outcome.ending.text();
    let names: Vec<&str> = text.lines().collect();
    assert!(
        names.contains(&"a.txt") && names.contains(&"sub") && names.contains(&"fifo"),
        "{names:?}"
    );
    assert!(!names.contains(&".env"), "it is shown: {names:?}");
    for folder in ["/ws/keys", "/ws/to_denied_folder"] {
        let input = json!({ "how": "list", "path": folder });
        let text = beside(&host, "ReadsByStdFs", input).await.ending.text();
        assert!(!text.contains("private"), "{folder}: {text}");
    }
}

/// The record names what was asked for, and what it was.
#[tokio::test]
async fn a_read_through_a_link_is_journalled_with_both_paths() {
    let host = reading_host(READS).await;
    let outcome = host
        .call(
            "ReadsByStdFs",
            json!({ "how": "read", "path": "/ws/inside" }),
        )
        .await;
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    let records = host.journal.records();
    let files = records.last().expect("a record")["files"].clone();
    let ws = host.scratch.ws.clone();
    let expected =
        json!({ "access": "read", "requested": ws.join("inside"), "resolved": ws.join("a.txt") });
    assert!(
        files.as_array().expect("a list").contains(&expected),
        "{files}"
    );
}

#[tokio::test]
pub async fn escapes_scope() {
    let host = reading_host(ESCAPES).await;
    for (door, other, seen) in [
        ("std_fs", "/ws/a.txt", "the content"),
        ("files", "/ws/a.txt", "the content"),
        ("scan", "/ws/a.txt", "the content"),
    ] {
        let input = json!({ "file_path": "/ws/a.txt", "other": other, "door": door });
        let outcome = beside(&host, "EscapesScope", input).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{door}: {:?}",
            outcome.ending
        );
        assert_eq!(outcome.ending.text(), seen, "{door}");
    }
    for door in ["std_fs", "std_list", "files", "walk", "scan"] {
        for other in [
            "/ws/sub/b.txt",
            "/ws/sub",
            "/ws",
            ".",
            "/ws/sub/../a.txt/../sub/b.txt",
            "/outside/secret.txt",
        ] {
            let input = json!({ "file_path": "/ws/a.txt", "other": other, "door": door });
            let outcome = beside(&host, "EscapesScope", input.clone()).await;
            assert_refused(&outcome, &input);
        }
    }
}

/// A subject that names a folder opens what is below it, and nothing beside it.
#[tokio::test]
async fn a_folder_as_the_subject_is_what_is_below_it() {
    let host = reading_host(ESCAPES).await;
    let call =
        |door: &str, other: &str| json!({ "file_path": "/ws/sub", "other": other, "door": door });
    for (door, other, seen) in [
        ("std_fs", "/ws/sub/b.txt", "below"),
        ("std_list", "/ws/sub", "b.txt"),
        ("files", "/ws/sub/b.txt", "below"),
    ] {
        assert_eq!(
            host.done("EscapesScope", call(door, other)).await,
            seen,
            "{door}"
        );
    }
    for door in ["std_fs", "files"] {
        let input = call(door, "/ws/a.txt");
        let outcome = beside(&host, "EscapesScope", input.clone()).await;
        assert_refused(&outcome, &input);
    }
}

/// A link named as the subject does not open the folder that it leads to for other names.
#[tokio::test]
async fn a_link_as_the_subject_leads_nowhere_else() {
    let host = reading_host(ESCAPES).await;
    for subject in ["/ws/relative_out", "/ws/folder_out", "/ws/to_denied"] {
        for door in ["std_fs", "std_list", "files", "walk", "scan"] {
            for below in ["", "/secret.txt"] {
                let other = format!("{subject}{below}");
                let input = json!({ "file_path": subject, "other": other, "door": door });
                let outcome = beside(&host, "EscapesScope", input.clone()).await;
                let text = outcome.ending.text();
                assert!(
                    !text.contains(SECRET) && !text.contains("secret.txt\n"),
                    "{input}: {text}"
                );
                assert!(
                    !matches!(outcome.ending, Ending::HostError(_) | Ending::Trapped(_)),
                    "{input}: {text}"
                );
            }
        }
    }
}

/// No path is so long that looking at it takes the host's time, whatever the door.
#[tokio::test]
async fn a_path_without_end_is_refused_by_every_door() {
    let host = reading_host(ESCAPES).await;
    for other in [
        format!("/ws/{}", "x/".repeat(400_000)),
        "../".repeat(300_000),
        "x".repeat(900_000),
    ] {
        for door in ["std_fs", "std_list", "files", "walk", "scan"] {
            let input = json!({ "file_path": "/ws/a.txt", "other": other, "door": door });
            let outcome = beside(&host, "EscapesScope", input).await;
            assert_refused(&outcome, &json!(door));
        }
    }
}
