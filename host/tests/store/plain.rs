//! Installing plain components: each function is a tool of its own, and what it reaches is what the operator grants.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::desk::{Desk, compiled, text};
use crate::said::{assert_exit, stderr, stdout};

const READ: &str = "local__read-file";

fn settings(desk: &Desk) -> std::path::PathBuf {
    desk.file(
        "toolgate.toml",
        format!("[permissions]\nallow = [\"{READ}\"]\n[plain.{READ}]\nfiles = \"read\"\n"),
    )
}

fn read(path: &Path) -> String {
    json!({ "path": path }).to_string()
}

#[test]
fn every_function_of_a_plain_component_is_installed_as_a_tool() {
    let desk = Desk::new();
    let file = desk.file("files.wasm", toolgate_artifacts::PLAIN_FILES);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    let shown = stdout(&output);
    for part in [
        READ,
        "local__write-file",
        "local__list-directory",
        "a function of a plain component: it reaches what [plain], [subjects] and [egress.tools] grant to it",
        "mutating",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    fs::remove_file(&file).unwrap();
    fs::write(desk.ws.join("a.txt"), "content").unwrap();
    let input = read(&desk.ws.join("a.txt"));
    let config = settings(&desk);
    let call = ["call", READ, &input, "--config", text(&config)];
    let output = desk.run(&call);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("content"), "{}", stdout(&output));
    assert_eq!(
        compiled(&output),
        0,
        "it was compiled when it was installed"
    );
    // Nobody vouches for it: without a rule somebody is asked, without a grant it reaches nothing.
    let ask = ["call", READ, &input, "--mode", "dont-ask"];
    assert_exit(&desk.run(&ask), 3);
    let allowed = ["call", READ, &input, "--allow", READ];
    assert_exit(&desk.run(&allowed), 1);
    let output = desk.run(&["list", "--json"]);
    assert_exit(&output, 0);
    assert_eq!(compiled(&output), 0);
    assert!(stdout(&output).contains("local__list-directory"));

    // Each is uninstalled by itself, and the component with the last one.
    let blobs = || {
        fs::read_dir(desk.state.join("store/blobs"))
            .unwrap()
            .count()
    };
    let names = [
        "local__delete-file",
        "local__write-file",
        "local__list-directory",
        READ,
    ];
    for (done, name) in names.iter().enumerate() {
        assert_exit(&desk.run(&["uninstall", name]), 0);
        assert_eq!(blobs(), usize::from(done + 1 < names.len()), "{name}");
    }
}

#[test]
fn grants_of_plain_functions_are_bound_to_their_bytes() {
    let desk = Desk::new();
    let mut bytes = toolgate_artifacts::PLAIN_FILES.to_vec();
    let file = desk.file("files.wasm", &bytes);
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    fs::write(desk.ws.join("a.txt"), "content").unwrap();
    let input = read(&desk.ws.join("a.txt"));
    let config = settings(&desk);
    let call = [
        "call",
        READ,
        &input,
        "--config",
        text(&config),
        "--mode",
        "dont-ask",
    ];
    assert_exit(&desk.run(&call), 0);
    // The same functions in other bytes.
    bytes.extend([0, 3, 1, b'x', b'y']);
    desk.file("files.wasm", &bytes);
    let update = ["install", text(&file), "--yes", "--config", text(&config)];
    let output = desk.run(&update);
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("files in [plain]"),
        "{}",
        stdout(&output)
    );
    assert!(
        stderr(&output).contains("does not hold"),
        "{}",
        stderr(&output)
    );
    assert_exit(&desk.run(&call), 3);
    let asked = [
        "call",
        READ,
        &input,
        "--config",
        text(&config),
        "--allow",
        READ,
    ];
    let output = desk.run(&asked);
    assert_ne!(
        output.status.code(),
        Some(0),
        "its files do not hold either"
    );
    let mut keep = update.to_vec();
    keep.push("--keep-grants");
    assert_exit(&desk.run(&keep), 0);
    assert_exit(&desk.run(&call), 0);
}

#[test]
fn a_lock_pins_plain_functions_too() {
    let desk = Desk::new();
    let file = desk.file("files.wasm", toolgate_artifacts::PLAIN_FILES);
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let lock = desk.state.join("store/toolgate.lock");
    let handed = desk.file("handed.lock", fs::read(lock).unwrap());
    let other = Desk::new();
    let frozen = ["install", "--frozen", "--lock", text(&handed), "--yes"];
    assert_exit(&other.run(&frozen), 0);
    let output = other.run(&["list", "--installed", "--json"]);
    let listed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(listed.as_array().map(Vec::len), Some(4), "{listed}");
    // What was declared is asked for again where it is lost.
    for entry in fs::read_dir(other.state.join("store/declarations")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fs::remove_file(other.state.join("store/index.jsonl")).unwrap();
    let output = other.run(&["list", "--json"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains(READ));
}

#[test]
fn a_table_of_a_plain_function_is_not_for_other_tools() {
    let desk = Desk::new();
    let config = desk.file("toolgate.toml", "[plain.Read]\nfiles = \"read\"\n");
    let output = desk.run(&["list", "--config", text(&config)]);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("describes itself"),
        "{}",
        stderr(&output)
    );
}
