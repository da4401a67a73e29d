//! Creating: a tool that claims to destroy nothing is held to it. It makes what is not there, and what is there stays as
//! it is.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use serde_json::{Value, json};
use toolgate::config::Config;
use toolgate::model::{Concurrency, DenialReason, Ending, Gate, Ground, SideEffect};
use toolgate::policy::{ExemptLine, Mode};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{Guest, approving_host, beside, host, host_in};

const HARMLESS: Guest = ("ClaimsHarmless", guests::CLAIMS_HARMLESS);
const CREATES: Guest = ("CreatesFiles", guests::CREATES_FILES);
const CHANGES: Guest = ("ChangesByStdFs", guests::CHANGES_BY_STD_FS);
const OLD: &str = "old bytes";
const CLAIM: &str = "the tool claims to be non-destructive, so it can only create";

fn workspace() -> Scratch {
    let scratch = Scratch::new();
    for path in ["a.txt", "empty.txt", "folder/b.txt"] {
        scratch.file(path, if path == "empty.txt" { "" } else { OLD });
    }
    fs::create_dir(scratch.ws.join("hollow")).expect("a folder");
    symlink("a.txt", scratch.ws.join("link")).expect("a link");
    symlink("nowhere", scratch.ws.join("dangling")).expect("a link");
    symlink("folder", scratch.ws.join("to_folder")).expect("a link");
    scratch
}

async fn harmless_host() -> TestHost {
    let allowed = Setup::default().allow(&["ClaimsHarmless"]);
    host_in(workspace(), HARMLESS, allowed, |builder| builder).await
}

fn act(act: &str, path: &str, more: &str) -> Value {
    json!({ "act": act, "path": path, "more": more })
}

/// Everything in the workspace. The change time is set by every change of a file, and by no program.
fn state(scratch: &Scratch) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![scratch.ws.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("metadata");
            let what = if metadata.is_dir() {
                folders.push(path.clone());
                format!("folder {}", metadata.ino())
            } else {
                let held = match metadata.is_symlink() {
                    true => fs::read_link(&path).expect("a link").display().to_string(),
                    false => fs::read_to_string(&path).expect("a file"),
                };
                let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
                format!("{held}, file {}, {seconds}.{nanoseconds}", metadata.ino())
            };
            found.push((path.display().to_string(), what));
        }
    }
    found.sort();
    found
}

/// Every way to do something to a file that is there; the second path of each is free.
fn every_attack(name: &str) -> Vec<Value> {
    let path = format!("/ws/{name}");
    let mut tries: Vec<Value> = [
        "write",
        "append",
        "append_or_create",
        "truncate",
        "write_into",
        "set_len",
        "remove",
        "remove_dir",
        "remove_all",
        "make",
        "make_directory",
        "replace",
        "replace_absent",
        "replace_matching",
    ]
    .into_iter()
    .map(|what| act(what, &path, ""))
    .collect();
    let raw = ["raw_times", "raw_rename", "raw_unlink", "raw_hard_link"];
    tries.extend(raw.map(|what| act(what, name, "")));
    tries.push(act("rename", &path, "/ws/elsewhere"));
    tries.push(act("hard_link", &path, "/ws/elsewhere"));
    tries.push(act("copy", "/ws/folder/b.txt", &path));
    tries.push(act("rename", "/ws/folder/b.txt", &path));
    tries.push(act("symlink", &path, "folder/b.txt"));
    tries
}

#[tokio::test]
pub async fn claims_harmless() {
    let host = harmless_host().await;
    let before = state(&host.scratch);
    for name in [
        "a.txt",
        "empty.txt",
        "folder/b.txt",
        "to_folder/b.txt",
        "link",
        "dangling",
        "folder",
        "hollow",
        "to_folder",
    ] {
        for input in every_attack(name) {
            // A file may be made where a link leads to nothing.
            let made = ["replace", "replace_absent"]
                .iter()
                .any(|makes| input["act"] == *makes);
            if name == "dangling" && made {
                continue;
            }
            let outcome = match name {
                "a.txt" => beside(&host, "ClaimsHarmless", input.clone()).await,
                _ => host.call("ClaimsHarmless", input.clone()).await,
            };
            assert!(
                matches!(outcome.ending, Ending::Failed(_)),
                "{input}: {:?}",
                outcome.ending
            );
            assert_eq!(state(&host.scratch), before, "{input} changed something");
        }
    }
}

/// Whatever flags a handle is opened with, it changes nothing that was there.
#[tokio::test]
async fn no_set_of_flags_gives_a_handle_that_changes_what_exists() {
    let host = harmless_host().await;
    let before = state(&host.scratch);
    for name in [
        "a.txt",
        "empty.txt",
        "to_folder/b.txt",
        "link",
        "folder",
        ".",
    ] {
        let input = act("raw_every_open", name, "");
        let text = host.done("ClaimsHarmless", input).await;
        assert_eq!(text, "0 handles changed something", "{name}");
        assert_eq!(state(&host.scratch), before, "{name} was changed");
    }
    // The same on a free name makes the file once, and the handles that made it are the only ones that change it.
    let input = act("raw_every_open", "new.txt", "");
    let text = host.done("ClaimsHarmless", input).await;
    assert_eq!(text, "1 handles changed something");
}

#[tokio::test]
async fn what_a_call_has_made_is_changed_by_the_handle_that_made_it_only() {
    let host = harmless_host().await;
    let text = |name: &str| fs::read_to_string(host.scratch.ws.join(name)).expect("a file");
    let done = async |what: &str, path: &str| {
        host.done("ClaimsHarmless", act(what, path, "")).await;
    };
    done("make", "/ws/made.txt").await;
    assert_eq!(text("made.txt"), "made");
    done("make_directory", "/ws/deep").await;
    done("write", "/ws/deep/written.txt").await;
    assert_eq!(text("deep/written.txt"), "new");
    done("append_or_create", "/ws/deep/begun.txt").await;
    assert_eq!(text("deep/begun.txt"), "new");
    done("replace", "/ws/other/way/whole.txt").await;
    assert_eq!(text("other/way/whole.txt"), "new");
    done("replace_absent", "/ws/to_folder/c.txt").await;
    assert_eq!(text("folder/c.txt"), "new");
    let copy = act("copy", "/ws/a.txt", "/ws/deep/copy.txt");
    host.done("ClaimsHarmless", copy).await;
    assert_eq!(text("deep/copy.txt"), OLD);
    let directory = act("raw_mutate_directory", "deep", "");
    host.done("ClaimsHarmless", directory).await;
    assert!(host.scratch.ws.join("deep/stolen").is_dir());

    for (what, name) in [
        ("make_and_rename", "one"),
        ("make_and_open_again", "two"),
        ("make_and_remove", "three"),
    ] {
        let input = act(what, &format!("/ws/{name}"), "/ws/a.txt");
        host.failed("ClaimsHarmless", input).await;
        assert_eq!(text(name), "new", "{what}");
        assert_eq!(text("a.txt"), OLD, "{what}");
    }
    // A later call did not make it.
    host.failed("ClaimsHarmless", act("write", "/ws/made.txt", ""))
        .await;
    assert_eq!(text("made.txt"), "made");
}

#[tokio::test]
async fn the_refusal_names_the_claim() {
    let host = harmless_host().await;
    for what in ["replace", "replace_matching"] {
        let text = host
            .failed("ClaimsHarmless", act(what, "/ws/a.txt", ""))
            .await;
        assert!(text.contains(CLAIM), "{what}: {text}");
    }
    let taken = act("replace_absent", "/ws/a.txt", "");
    let text = host.failed("ClaimsHarmless", taken).await;
    assert!(text.contains("exists already"), "{text}");
}

#[tokio::test]
async fn the_claim_is_verified_and_the_unverifiable_ones_count_as_nothing() {
    let host = harmless_host().await;
    let tool = host
        .host
        .all_tools()
        .find(|tool| tool.name().as_str() == "ClaimsHarmless")
        .expect("it");
    let traits = &tool.facts().traits;
    assert_eq!(traits.level, SideEffect::Mutating);
    assert!(!traits.destructive && traits.create_only);
    assert_eq!(traits.grounds.destructive, Ground::Verified);
    assert!(!traits.idempotent, "nothing shows it");
    assert_eq!(traits.grounds.idempotent, Ground::NotBelieved);
    assert_eq!(traits.concurrency, Concurrency::Exclusive);
    assert_eq!(
        traits.reductions,
        [
            "claims to be idempotent, which nothing shows: treated as not idempotent",
            "claims that its calls may overlap, which nothing shows: treated as exclusive",
        ]
    );
}

#[tokio::test]
pub async fn creates_files() {
    let auto = || Setup::default().mode(Mode::Auto);
    let host = host_in(workspace(), CREATES, auto(), |builder| builder).await;
    let made = beside(&host, "CreatesFiles", json!({ "path": "/ws/new/made.txt" })).await;
    assert!(matches!(made.ending, Ending::Done(_)), "{:?}", made.ending);
    let text = fs::read_to_string(host.scratch.ws.join("new/made.txt")).expect("a file");
    assert_eq!(text, "made");
    let records = host.journal.records();
    let own = records
        .iter()
        .find(|record| record["tool"] == "CreatesFiles")
        .expect("a record");
    assert!(
        own.to_string()
            .contains("by mode auto: the host has verified"),
        "{own}"
    );

    let input = json!({ "path": "/ws/a.txt" });
    let text = host.failed("CreatesFiles", input).await;
    assert!(text.contains(CLAIM), "{text}");
    // What programs run on their own is asked for, and auto asks nobody.
    host.denied("CreatesFiles", json!({ "path": "/ws/.envrc" }))
        .await;
    host.denied(
        "CreatesFiles",
        json!({ "path": "/ws/.git/hooks/pre-commit" }),
    )
    .await;
    host.denied("CreatesFiles", json!({ "path": "/outside/new.txt" }))
        .await;
}

/// Where the tool could write outside of the workspace, or destroys, auto asks for a rule.
#[tokio::test]
async fn mode_auto_runs_no_other_writing_tool() {
    let auto = || Setup::default().mode(Mode::Auto);
    let scratch = workspace();
    let wide = Setup {
        config: Config {
            write: vec![scratch.outside.clone().into()],
            ..auto().config
        },
    };
    let host = host_in(scratch, CREATES, wide, |builder| builder).await;
    for path in ["/ws/new.txt", "/outside/new.txt"] {
        let outcome = host.call("CreatesFiles", json!({ "path": path })).await;
        match outcome.ending {
            Ending::Denied(denial) => assert_eq!(
                denial.reason,
                DenialReason::NothingAllows { mode: "auto" },
                "{path}"
            ),
            other => panic!("{path}: {other:?}"),
        }
    }

    let host = host_in(workspace(), CHANGES, auto(), |builder| builder).await;
    let input = json!({ "change": "create", "path": "/ws/new.txt", "more": "new" });
    host.denied("ChangesByStdFs", input).await;
    assert!(!host.scratch.ws.join("new.txt").exists());
}

/// In every other mode such a tool is a mutating one: asked for, unless the operator exempts what does not destroy.
#[tokio::test]
async fn a_verified_tool_is_asked_for_like_any_other() {
    let input = || json!({ "path": "/ws/new.txt" });
    let nobody = host(CREATES, Setup::default()).await;
    match nobody.call("CreatesFiles", input()).await.ending {
        Ending::Denied(denial) => assert_eq!(denial.gate, Gate::Approval),
        other => panic!("not asked: {other:?}"),
    }
    let asked = approving_host(CREATES, Setup::default()).await;
    asked.scratch.file("a.txt", OLD);
    asked.done("CreatesFiles", input()).await;
    // A yes is no more power than the claim leaves.
    let taken = json!({ "path": "/ws/a.txt" });
    let text = asked.failed("CreatesFiles", taken).await;
    assert!(text.contains(CLAIM), "{text}");

    let mut exempt = Setup::default();
    exempt.config.exempt = Some(ExemptLine::Mutating.into());
    let exempted = host(CREATES, exempt).await;
    exempted.done("CreatesFiles", input()).await;
    let made = fs::read_to_string(exempted.scratch.ws.join("new.txt")).expect("a file");
    assert_eq!(made, "made");
}
