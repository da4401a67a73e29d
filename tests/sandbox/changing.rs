//! Changing: what may be changed is, what may not keeps its bytes, by whatever operation, link or name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgate::model::{DenialReason, Ending, Gate, SideEffect};
use toolgate::policy::Mode;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{Guest, approving_host, beside, host, host_in};

const CHANGES: Guest = ("ChangesByStdFs", guests::CHANGES_BY_STD_FS);
const WRITES: Guest = ("WritesByStdFs", guests::WRITES_BY_STD_FS);
const LIES: Guest = ("LiesReadOnly", guests::LIES_READ_ONLY);
/// Stands in every file that must not change.
const OLD: &str = "old bytes";

/// Files that may be changed, files that may not, and links from the one to the other.
fn workspace() -> Scratch {
    let scratch = Scratch::new();
    for path in [
        "a.txt",
        ".git/hooks/pre-commit",
        ".git/config",
        "toolgate.toml",
        ".bashrc",
        "locked/l.txt",
        ".envrc",
        ".env",
    ] {
        scratch.file(path, OLD);
    }
    fs::write(scratch.outside.join("secret.txt"), OLD).expect("a file outside");
    let link = |target: &Path, name: &str| symlink(target, scratch.ws.join(name)).expect("a link");
    link(&scratch.outside.join("secret.txt"), "absolute_out");
    link(Path::new("../outside/secret.txt"), "relative_out");
    link(&scratch.outside, "folder_out");
    link(Path::new("locked"), "to_locked");
    link(Path::new("locked/l.txt"), "to_locked_file");
    link(Path::new(".git"), "to_git");
    fs::hard_link(scratch.ws.join(".env"), scratch.ws.join("second_name")).expect("a hard link");
    scratch
}

fn rules() -> Setup {
    Setup::default()
        .deny(&["Write(locked/**)", "Write(.env)"])
        .allow(&["ChangesByStdFs"])
}

async fn changing_host() -> TestHost {
    host_in(workspace(), CHANGES, rules(), |builder| builder).await
}

fn change(what: &str, path: &str, more: &str) -> Value {
    json!({ "change": what, "path": path, "more": more })
}

/// Everything below a folder: path, and bytes or where a link leads.
fn tree(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        if metadata.is_dir() {
            found.push((path.clone(), "directory".to_owned()));
            found.extend(tree(&path));
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("a link");
            found.push((path, target.display().to_string()));
        } else {
            let bytes = fs::read(&path).expect("a file");
            found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    found.sort();
    found
}

/// Tries changes, each of which must fail and leave everything as it is.
async fn assert_all_refused(host: &TestHost, tool: &str, tries: impl IntoIterator<Item = Value>) {
    let before = (tree(&host.scratch.ws), tree(&host.scratch.outside));
    for input in tries {
        let outcome = beside(host, tool, input.clone()).await;
        assert!(
            matches!(outcome.ending, Ending::Failed(_)),
            "{input}: {:?}",
            outcome.ending
        );
        let after = (tree(&host.scratch.ws), tree(&host.scratch.outside));
        assert_eq!(after, before, "{input} changed something");
    }
}

#[tokio::test]
pub async fn changes_by_std_fs() {
    let host = changing_host().await;
    let at = |path: &str| host.scratch.ws.join(path);
    let text = |path: &str| fs::read_to_string(at(path)).expect("a file");
    let done = async |input: Value| {
        let outcome = beside(&host, "ChangesByStdFs", input.clone()).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{input}: {:?}",
            outcome.ending
        );
    };
    done(change("write", "/ws/a.txt", "new")).await;
    assert_eq!(text("a.txt"), "new");
    done(change("append", "/ws/a.txt", "er")).await;
    assert_eq!(text("a.txt"), "newer");
    done(change("set_len", "/ws/a.txt", "")).await;
    assert_eq!(text("a.txt"), "n");
    done(change("truncate", "/ws/a.txt", "")).await;
    assert_eq!(text("a.txt"), "");
    done(change("create_dir", "/ws/made", "")).await;
    done(change("create", "/ws/made/new.txt", "made")).await;
    assert_eq!(text("made/new.txt"), "made");
    done(change("copy", "/ws/made/new.txt", "/ws/made/copy.txt")).await;
    assert_eq!(text("made/copy.txt"), "made");
    done(change("rename", "/ws/made/new.txt", "/ws/made/other.txt")).await;
    assert_eq!(text("made/other.txt"), "made");
    assert!(!at("made/new.txt").exists());
    done(change("remove", "/ws/made/other.txt", "")).await;
    done(change("remove", "/ws/made/copy.txt", "")).await;
    done(change("remove_dir", "/ws/made", "")).await;
    assert!(!at("made").exists());
    done(change("symlink", "/ws/link", "a.txt")).await;
    assert_eq!(
        fs::read_link(at("link")).expect("a link"),
        Path::new("a.txt")
    );
}

/// Every way to put other bytes into a file, to make it, to take it away or to put it elsewhere.
fn every_change(path: &str) -> Vec<Value> {
    let mut tries: Vec<Value> = ["write", "append", "truncate", "set_len", "remove"]
        .into_iter()
        .map(|what| change(what, path, "new"))
        .collect();
    tries.push(change("rename", path, "/ws/elsewhere"));
    tries.push(change("rename", "/ws/a.txt", path));
    tries.push(change("copy", "/ws/a.txt", path));
    tries
}

#[tokio::test]
async fn what_is_protected_or_denied_keeps_its_bytes() {
    let host = changing_host().await;
    for path in [
        "/ws/.git/hooks/pre-commit",
        "/ws/.git/config",
        "/ws/.GIT/config",
        "/ws/toolgate.toml",
        "/ws/.bashrc",
        "/ws/locked/l.txt",
        "/ws/.env",
        "/ws/.envrc",
    ] {
        assert_all_refused(&host, "ChangesByStdFs", every_change(path)).await;
    }
    let new_names = [
        "/ws/.git/hooks/post-merge",
        "/ws/.git/modules/m/config",
        "/ws/sub/toolgate.toml",
        "/ws/locked/new.txt",
        "/ws/.github/workflows/ci.yml",
    ];
    assert_all_refused(
        &host,
        "ChangesByStdFs",
        new_names.map(|path| change("create", path, "new")),
    )
    .await;
}

#[tokio::test]
async fn nothing_is_changed_through_a_link_that_leads_out_or_to_what_is_denied() {
    let host = changing_host().await;
    let mut tries = Vec::new();
    for path in ["/ws/absolute_out", "/ws/relative_out", "/ws/to_locked_file"] {
        tries.extend(
            ["write", "append", "truncate", "set_len"].map(|what| change(what, path, "new")),
        );
        tries.push(change("copy", "/ws/a.txt", path));
    }
    for path in [
        "/ws/folder_out/secret.txt",
        "/ws/to_locked/l.txt",
        "/ws/to_git/config",
        "/ws/to_git/hooks/pre-commit",
        "/outside/secret.txt",
        "/ws/../outside/secret.txt",
        "/ws/locked/../../outside/secret.txt",
    ] {
        tries.extend(every_change(path));
    }
    for path in [
        "/ws/folder_out/new",
        "/ws/to_locked/new",
        "/ws/to_git/hooks/new",
        "/outside/new",
        "/ws/../new",
    ] {
        tries.extend(["create", "create_dir", "write"].map(|what| change(what, path, "new")));
        tries.push(change("symlink", path, "a.txt"));
    }
    assert_all_refused(&host, "ChangesByStdFs", tries).await;
}

/// A file that a rule names by one path is that file under any of its names.
#[tokio::test]
async fn a_second_name_of_a_denied_file_is_denied_too() {
    let host = changing_host().await;
    let tries = ["write", "append", "truncate", "set_len"]
        .map(|what| change(what, "/ws/second_name", "new"));
    assert_all_refused(&host, "ChangesByStdFs", tries).await;
}

#[tokio::test]
async fn folders_that_hold_what_is_denied_stay_where_they_are() {
    let host = changing_host().await;
    let tries = [
        change("rename", "/ws/locked", "/ws/free"),
        change("rename", "/ws/.git", "/ws/free"),
        change("rename", "/ws/.git/hooks", "/ws/free"),
        change("remove_dir", "/ws/locked", ""),
        change("create", "/ws/.git/hooks", "new"),
        change("rename", "/ws", "/ws2"),
    ];
    assert_all_refused(&host, "ChangesByStdFs", tries).await;
}

/// What a rule denies to be read is not read under another name either.
#[tokio::test]
async fn renaming_a_folder_does_not_make_its_files_readable() {
    let setup = Setup::default()
        .deny(&["Read(keys/**)"])
        .allow(&["ChangesByStdFs"]);
    let scratch = workspace();
    scratch.file("keys/private.pem", "the secret");
    let host = host_in(scratch, CHANGES, setup, |builder| builder).await;
    for (from, to) in [
        ("/ws/keys", "/ws/free"),
        ("/ws/keys/private.pem", "/ws/free.pem"),
    ] {
        let renamed = beside(&host, "ChangesByStdFs", change("rename", from, to)).await;
        let copied = beside(&host, "ChangesByStdFs", change("copy", from, to)).await;
        for outcome in [renamed, copied] {
            assert!(
                matches!(outcome.ending, Ending::Failed(_)),
                "{from}: {:?}",
                outcome.ending
            );
        }
    }
    for path in [
        "/ws/keys/private.pem",
        "/ws/free/private.pem",
        "/ws/free.pem",
    ] {
        let read = host.call("Read", json!({ "file_path": path })).await;
        assert!(
            !read.ending.text().contains("the secret"),
            "{path}: {:?}",
            read.ending
        );
    }
}

/// The same for the protected set: moved away, changed and moved back, a hook would run.
#[tokio::test]
async fn a_protected_file_is_not_reached_by_moving_its_folder() {
    let host = changing_host().await;
    for input in [
        change("rename", "/ws/.git", "/ws/moved"),
        change("write", "/ws/moved/hooks/pre-commit", "planted"),
        change("rename", "/ws/moved", "/ws/.git"),
    ] {
        beside(&host, "ChangesByStdFs", input).await;
    }
    let hook = fs::read_to_string(host.scratch.ws.join(".git/hooks/pre-commit")).expect("the hook");
    assert_eq!(hook, OLD);
}

/// And a folder that is made elsewhere and moved there plants nothing.
#[tokio::test]
async fn a_protected_file_is_not_planted_by_moving_a_folder_there() {
    let host = changing_host().await;
    for input in [
        change("create_dir", "/ws/made", ""),
        change("create_dir", "/ws/made/hooks", ""),
        change("create", "/ws/made/hooks/post-merge", "planted"),
        change("create_dir", "/ws/sub", ""),
        change("rename", "/ws/made", "/ws/sub/.git"),
    ] {
        beside(&host, "ChangesByStdFs", input).await;
    }
    assert!(
        !host.scratch.ws.join("sub/.git/hooks/post-merge").exists(),
        "a hook was planted"
    );
}

#[tokio::test]
async fn links_that_would_lead_out_or_double_a_file_are_not_made() {
    let host = changing_host().await;
    let hard = |from: &str, to: &str| change("hard_link", from, to);
    let tries = [
        hard("/ws/a.txt", "/ws/second_a"),
        hard("/ws/.env", "/ws/third_name"),
        hard("/outside/secret.txt", "/ws/stolen"),
        hard("/ws/a.txt", "/outside/planted"),
        change("symlink", "/ws/link", "/outside/secret.txt"),
        change("symlink", "/ws/link", "/etc/passwd"),
        change("symlink", "/ws/.git/hooks/link", "a.txt"),
        change("symlink", "/ws/locked/link", "a.txt"),
    ];
    assert_all_refused(&host, "ChangesByStdFs", tries).await;
}

/// A relative link can be made before what it leads to is known: what goes through it is judged.
#[tokio::test]
async fn a_link_of_the_guests_own_opens_nothing() {
    let host = changing_host().await;
    let outside = fs::read_to_string(host.scratch.outside.join("secret.txt")).expect("a file");
    for (link, target) in [
        ("/ws/own", "../outside/secret.txt"),
        ("/ws/own_git", ".git/config"),
    ] {
        let made = host
            .call("ChangesByStdFs", change("symlink", link, target))
            .await;
        assert!(
            matches!(made.ending, Ending::Done(_) | Ending::Failed(_)),
            "{:?}",
            made.ending
        );
        for what in ["write", "append", "truncate", "set_len"] {
            let outcome = beside(&host, "ChangesByStdFs", change(what, link, "new")).await;
            let text = |path: PathBuf| fs::read_to_string(path).expect("a file");
            assert_eq!(
                text(host.scratch.outside.join("secret.txt")),
                outside,
                "{what} {target}"
            );
            assert_eq!(
                text(host.scratch.ws.join(".git/config")),
                OLD,
                "{what} {target}"
            );
            assert!(
                matches!(outcome.ending, Ending::Failed(_)),
                "{what} {target}: {:?}",
                outcome.ending
            );
        }
    }
}

#[tokio::test]
pub async fn writes_by_std_fs() {
    let host = host_in(workspace(), WRITES, Setup::default(), |builder| builder).await;
    let tool = host
        .host
        .all_tools()
        .find(|tool| tool.name().as_str() == "WritesByStdFs")
        .expect("it");
    assert_eq!(
        tool.facts().traits.level,
        SideEffect::ReadOnly,
        "it asks for nothing but reading"
    );
    let mut tries = every_change("/ws/locked/l.txt");
    tries.extend(every_change("/outside/secret.txt"));
    for path in ["/ws/new", "/ws/locked/new"] {
        tries.extend(["create", "create_dir", "write"].map(|what| change(what, path, "new")));
    }
    tries.push(change("symlink", "/ws/new", "a.txt"));
    tries.push(change("hard_link", "/ws/a.txt", "/ws/new"));
    tries.push(change("remove_dir", "/ws/locked", ""));
    assert_all_refused(&host, "WritesByStdFs", tries).await;
}

#[tokio::test]
pub async fn lies_read_only() {
    let asked_nobody = host(LIES, Setup::default()).await;
    let tool = asked_nobody
        .host
        .all_tools()
        .find(|tool| tool.name().as_str() == "LiesReadOnly")
        .expect("it");
    let traits = &tool.facts().traits;
    assert_eq!(traits.level, SideEffect::Mutating);
    assert!(traits.destructive && !traits.idempotent);
    assert_eq!(
        traits.reductions,
        [
            "claims read-only, but asks for writing files: treated as mutating, destructive, not idempotent and exclusive"
        ]
    );
    let input = json!({ "path": "/ws/new.txt" });
    let outcome = beside(&asked_nobody, "LiesReadOnly", input.clone()).await;
    match &outcome.ending {
        Ending::Denied(denial) => {
            assert_eq!(denial.gate, Gate::Approval);
            assert_eq!(denial.reason, DenialReason::NoApprover);
        }
        other => panic!("not asked: {other:?}"),
    }
    assert!(!asked_nobody.scratch.ws.join("new.txt").exists());

    let asked = approving_host(LIES, Setup::default()).await;
    assert_eq!(asked.done("LiesReadOnly", input).await, "written");
    let record = asked.journal.records().pop().expect("a record");
    assert_eq!(record["approved_by"], "the test");
}

#[tokio::test]
async fn a_liar_is_mutating_for_modes_and_ceilings_too() {
    let mut ceiling = Setup::default();
    ceiling.config.ceiling = Some(SideEffect::ReadOnly.into());
    for setup in [Setup::default().mode(Mode::Plan), ceiling] {
        let host = approving_host(LIES, setup).await;
        assert!(
            host.host
                .tools()
                .all(|tool| tool.name().as_str() != "LiesReadOnly"),
            "it is listed"
        );
        let outcome = beside(&host, "LiesReadOnly", json!({ "path": "/ws/new.txt" })).await;
        let text = outcome.ending.text();
        assert!(matches!(outcome.ending, Ending::Denied(_)), "{text}");
        assert!(text.contains("unknown tool 'LiesReadOnly'"), "{text}");
        assert!(!host.scratch.ws.join("new.txt").exists());
    }
}
