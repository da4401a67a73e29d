//! Installing, updating, uninstalling: what is asked, what is kept, what is refused.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::desk::{Desk, compiled, text};
use crate::fixture::Fixture;
use crate::said::{assert_exit, stderr, stdout};

fn tool(name: &str, change: impl FnOnce(&mut Fixture)) -> Vec<u8> {
    let mut fixture = Fixture {
        name: name.to_owned(),
        ..Fixture::default()
    };
    change(&mut fixture);
    fixture.text()
}

fn lock(desk: &Desk) -> String {
    fs::read_to_string(desk.state.join("store/toolgate.lock")).unwrap()
}

#[test]
fn an_installed_tool_is_there_under_its_qualified_name() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    let shown = stdout(&output);
    for part in [
        "local__Peek",
        "local/Peek",
        text(&file),
        "by nobody",
        "read-only",
        "nothing",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    fs::remove_file(&file).unwrap();
    let output = desk.run(&["call", "local__Peek", "{}"]);
    assert_exit(&output, 0);
    assert_eq!(
        compiled(&output),
        0,
        "it was compiled when it was installed"
    );
    assert_exit(&desk.run(&["call", "Peek", "{}"]), 3);
    let output = desk.run(&["list", "--installed", "--json"]);
    assert_exit(&output, 0);
    let listed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(listed[0]["published"], "local__Peek");
    assert_eq!(listed[0]["entry"]["source"], text(&file));

    assert_exit(&desk.run(&["uninstall", "local/Peek"]), 0);
    assert_exit(&desk.run(&["call", "local__Peek", "{}"]), 3);
    let output = desk.run(&["uninstall", "local__Peek"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("no installed tool is called"));
    let blobs = fs::read_dir(desk.state.join("store/blobs")).unwrap();
    assert_eq!(blobs.count(), 0);
}

#[test]
fn nobody_there_to_ask_installs_nothing() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    let output = desk.run(&["install", text(&file)]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("no terminal to ask at"));
    assert!(!desk.state.join("store/toolgate.lock").exists());
    let blobs = fs::read_dir(desk.state.join("store/blobs")).unwrap();
    assert_eq!(blobs.count(), 0);
}

#[test]
fn a_directory_is_installed_whole_or_not_at_all() {
    let desk = Desk::new();
    desk.file("tools/a.wasm", tool("Alpha", |_| {}));
    desk.file("tools/b.wasm", tool("Beta", |_| {}));
    desk.file("tools/readme.txt", "no component");
    let folder = desk.base.join("tools");
    let bad = desk.file("tools/c.wasm", "not a component");
    let output = desk.run(&["install", text(&folder), "--yes"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("c.wasm"), "{}", stderr(&output));
    assert!(!desk.state.join("store/toolgate.lock").exists());
    fs::remove_file(bad).unwrap();
    desk.file("tools/twin.wasm", tool("A1pha", |_| {}));
    let output = desk.run(&["install", text(&folder), "--yes"]);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("would have the same name"),
        "{}",
        stderr(&output)
    );
    assert!(!desk.state.join("store/toolgate.lock").exists());
    fs::remove_file(folder.join("twin.wasm")).unwrap();
    assert_exit(&desk.run(&["install", text(&folder), "--yes"]), 0);
    let lock = lock(&desk);
    assert!(
        lock.contains("local/Alpha") && lock.contains("local/Beta"),
        "{lock}"
    );
}

#[test]
fn an_update_shows_what_changes() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let first = lock(&desk);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    assert!(stderr(&output).contains("installed already"));
    assert_eq!(lock(&desk), first, "nothing changed");

    desk.file(
        "peek.wasm",
        tool("Peek", |fixture| {
            fixture.capability = Some(("fs-write", "workspace"));
            fixture.description = "Another description.".to_owned();
        }),
    );
    let output = desk.run(&["install", text(&file)]);
    assert_exit(&output, 2);
    assert_eq!(lock(&desk), first, "nobody consented");
    let shown = stdout(&output);
    for part in [
        "in place of",
        "+ asks for fs-write:workspace",
        "~ the description",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let now = lock(&desk);
    assert!(now.contains("fs-write:workspace") && now != first, "{now}");
}

#[test]
fn no_tool_takes_anothers_name_or_looks() {
    let desk = Desk::new();
    let one = desk.file("one.wasm", tool("Peek", |_| {}));
    assert_exit(&desk.run(&["install", text(&one), "--yes"]), 0);
    let before = lock(&desk);
    let refused = |file: &Path, more: &[&str], says: &[&str]| {
        let mut arguments = vec!["install", text(file), "--yes"];
        arguments.extend(more);
        let output = desk.run(&arguments);
        assert_exit(&output, 2);
        for part in says {
            assert!(
                stderr(&output).contains(part),
                "{part}: {}",
                stderr(&output)
            );
        }
        assert_eq!(lock(&desk), before);
    };
    let other = desk.file(
        "other.wasm",
        tool("Peek", |fixture| {
            fixture.description = "Somebody else's.".to_owned();
        }),
    );
    refused(
        &other,
        &[],
        &["local__Peek", text(&one), text(&other), "--replace"],
    );
    let twin = desk.file("twin.wasm", tool("Pe_ek", |_| {}));
    refused(&twin, &[], &["local__Pe_ek", "looks like", "local__Peek"]);
    let cyrillic = desk.file("cyrillic.wasm", tool("Pеek", |_| {}));
    refused(
        &cyrillic,
        &[],
        &["mixes letters of several scripts", "\\u{435}"],
    );
    refused(&other, &["--as", "mcp"], &["not for publishers"]);
    refused(&other, &["--as", "Acme"], &["not a publisher's name"]);
    let long = desk.file("long.wasm", tool(&"x".repeat(60), |_| {}));
    refused(&long, &[], &["longer than 64 characters"]);

    assert_exit(
        &desk.run(&["install", text(&other), "--yes", "--as", "mine"]),
        0,
    );
    assert_exit(&desk.run(&["call", "mine__Peek", "{}"]), 0);
    assert_exit(
        &desk.run(&["install", text(&other), "--yes", "--replace"]),
        0,
    );
    assert!(lock(&desk).contains(&format!("source = \"{}\"", text(&other))));
}

#[test]
fn what_a_stranger_says_is_shown_escaped() {
    let desk = Desk::new();
    let file = desk.file(
        "peek\u{1b}[2K.wasm",
        tool("Peek", |fixture| {
            fixture.capability = Some(("net", "https://a.example/\u{1b}[1A\u{202e}evil"));
        }),
    );
    let output = desk.run(&["install", text(&file)]);
    let said = stdout(&output) + &stderr(&output);
    assert!(
        !said.contains('\u{1b}') && !said.contains('\u{202e}'),
        "{said:?}"
    );
    assert!(said.contains("\\u{1b}"), "{said}");
}

#[test]
fn grants_do_not_outlive_the_bytes_they_were_given_to() {
    let desk = Desk::new();
    let writes = |description: &str| {
        tool("Notes", |fixture| {
            fixture.capability = Some(("fs-write", "workspace"));
            fixture.description = description.to_owned();
        })
    };
    let file = desk.file("notes.wasm", writes("First."));
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let config = desk.file(
        "toolgate.toml",
        "[permissions]\nallow = [\"local__Notes\"]\n[components]\ntrusted = [\"local__Notes\"]\n",
    );
    let call = [
        "call",
        "local__Notes",
        "{}",
        "--config",
        text(&config),
        "--mode",
        "dont-ask",
    ];
    assert_exit(&desk.run(&call), 0);

    desk.file("notes.wasm", writes("Second."));
    let update = ["install", text(&file), "--yes", "--config", text(&config)];
    let output = desk.run(&update);
    assert_exit(&output, 0);
    let shown = stdout(&output);
    assert!(
        shown.contains("granted") && shown.contains("allow local__Notes"),
        "{shown}"
    );
    assert!(
        stderr(&output).contains("does not hold"),
        "{}",
        stderr(&output)
    );
    let output = desk.run(&call);
    assert_exit(&output, 3);
    assert!(
        stderr(&output).contains("--keep-grants"),
        "{}",
        stderr(&output)
    );
    let inspect = [
        "inspect",
        "local__Notes",
        "--config",
        text(&config),
        "--json",
    ];
    let trust = |output: std::process::Output| {
        let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
        said["trust"].clone()
    };
    assert_eq!(trust(desk.run(&inspect)), "none");

    let mut keep = update.to_vec();
    keep.push("--keep-grants");
    assert_exit(&desk.run(&keep), 0);
    assert_exit(&desk.run(&call), 0);
    assert_eq!(trust(desk.run(&inspect)), "operator");

    assert_exit(&desk.run(&["uninstall", "local__Notes"]), 0);
    desk.file("notes.wasm", writes("Third."));
    let update = ["install", text(&file), "--yes"];
    assert_exit(&desk.run(&update), 0);
    assert_exit(&desk.run(&call), 3);
}

#[test]
fn a_lock_installs_exactly_what_it_pins() {
    let (desk, colleague) = (Desk::new(), Desk::new());
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let handed_on = colleague.file("toolgate.lock", lock(&desk));
    let frozen = ["install", "--frozen", "--lock", text(&handed_on)];
    assert_exit(&colleague.run(&frozen), 2);
    let mut consented = frozen.to_vec();
    consented.push("--yes");
    assert_exit(&colleague.run(&consented), 0);
    assert_exit(&colleague.run(&["call", "local__Peek", "{}"]), 0);

    let good = fs::read(&file).unwrap();
    desk.file(
        "peek.wasm",
        tool("Peek", |fixture| fixture.description = "Evil.".to_owned()),
    );
    let third = Desk::new();
    let output = third.run(&consented);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("not the component that was meant"),
        "{}",
        stderr(&output)
    );
    assert!(!third.state.join("store/toolgate.lock").exists());

    // The store's own: what is lost is got again, and what is whole is left alone.
    let blob = fs::read_dir(desk.state.join("store/blobs"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::remove_dir_all(desk.state.join("code")).unwrap();
    fs::write(&blob, "changed").unwrap();
    let output = desk.run(&["call", "local__Peek", "{}"]);
    assert_exit(&output, 5);
    assert!(
        stderr(&output).contains("toolgate install --frozen"),
        "{}",
        stderr(&output)
    );
    fs::write(&file, good).unwrap();
    assert_exit(&desk.run(&["install", "--frozen", "--offline"]), 0);
    assert_exit(&desk.run(&["call", "local__Peek", "{}"]), 0);
    let output = desk.run(&["install", "--frozen", "--offline"]);
    assert_exit(&output, 0);
    assert!(
        stderr(&output).contains("everything is installed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_digest_that_is_given_must_be_met() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    let wrong = "0".repeat(64);
    let output = desk.run(&["install", text(&file), "--yes", "--digest", &wrong]);
    assert_exit(&output, 2);
    let said = stderr(&output);
    let found = said
        .split("sha256:")
        .nth(1)
        .unwrap()
        .get(..64)
        .unwrap()
        .to_owned();
    let right = format!("sha256:{found}");
    assert_exit(
        &desk.run(&["install", text(&file), "--yes", "--digest", &right]),
        0,
    );
}

#[test]
fn a_lock_that_is_not_understood_stops_with_its_line() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let path = desk.state.join("store/toolgate.lock");
    let text = lock(&desk);
    for (bad, says) in [
        (text.replace("version = 1", "version = 9"), "version is 9"),
        (text.replace("name = ", "nmae = "), "toolgate.lock:"),
        (text.replace("local/Peek", "../Peek"), "toolgate.lock:"),
    ] {
        fs::write(&path, bad).unwrap();
        let output = desk.run(&["list"]);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn a_lost_declaration_is_asked_for_again() {
    let desk = Desk::new();
    let file = desk.file("peek.wasm", tool("Peek", |_| {}));
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let store = desk.state.join("store");
    for broken in [false, true] {
        fs::remove_file(store.join("index.jsonl")).ok();
        let folder = fs::read_dir(store.join("declarations")).unwrap();
        for path in folder.map(|entry| entry.unwrap().path()) {
            match broken {
                true => fs::write(path, "{}").unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        fs::write(store.join("declarations/x"), "").unwrap();
        let output = desk.run(&["call", "local__Peek", "{}"]);
        assert_exit(&output, 0);
        assert_exit(&desk.run(&["install", "--frozen"]), 0);
    }
    fs::write(store.join("index.jsonl"), "garbage").unwrap();
    assert_exit(&desk.run(&["call", "local__Peek", "{}"]), 0);
}
