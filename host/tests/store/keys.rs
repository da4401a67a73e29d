//! Publishers and their keys.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::desk::{Desk, text};
use crate::fixture::Fixture;
use crate::said::{assert_exit, stderr, stdout};

fn peek() -> Vec<u8> {
    Fixture {
        name: "Peek".to_owned(),
        ..Fixture::default()
    }
    .text()
}

/// A key pair: the file of the private one, the text of the public one.
fn pair(desk: &Desk, name: &str) -> (PathBuf, String) {
    let file = desk.base.join(name);
    let output = desk.run(&["keys", "new", text(&file)]);
    assert_exit(&output, 0);
    let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    (file, stdout(&output).trim().to_owned())
}

fn sign(desk: &Desk, component: &Path, key: &Path) {
    let output = desk.run(&["keys", "sign", text(component), "--key", text(key)]);
    assert_exit(&output, 0);
}

#[test]
fn a_signed_tool_has_its_publishers_name() {
    let desk = Desk::new();
    let (private, public) = pair(&desk, "acme.pem");
    assert_exit(&desk.run(&["keys", "new", text(&private)]), 2);
    let file = desk.file("peek.wasm", peek());
    sign(&desk, &file, &private);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("by no key of the store"),
        "{}",
        stdout(&output)
    );
    assert!(stdout(&output).contains("local__Peek"));

    assert_exit(&desk.run(&["keys", "add", "acme", &public]), 0);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("by 'acme'"), "{}", stdout(&output));
    assert_exit(&desk.run(&["call", "acme__Peek", "{}"]), 0);
    let listed = stdout(&desk.run(&["keys", "list"]));
    assert!(
        listed.contains("acme") && listed.contains(&public),
        "{listed}"
    );

    for (arguments, says) in [
        (["keys", "add", "acme", "nonsense"], "no public key"),
        (["keys", "add", "acme", text(&private)], "private key"),
        (["keys", "add", "local", &public], "not for publishers"),
        (["keys", "add", "other", &public], "the same key"),
    ] {
        let output = desk.run(&arguments);
        assert_exit(&output, 2);
        assert!(
            stderr(&output).contains(says),
            "{says}: {}",
            stderr(&output)
        );
    }
    assert_exit(&desk.run(&["keys", "remove", "acme"]), 0);
    assert_exit(&desk.run(&["keys", "remove", "acme"]), 2);
    assert_exit(&desk.run(&["call", "acme__Peek", "{}"]), 0);
}

#[test]
fn a_signature_that_does_not_hold_refuses() {
    let desk = Desk::new();
    let (private, public) = pair(&desk, "acme.pem");
    assert_exit(&desk.run(&["keys", "add", "acme", &public]), 0);
    let file = desk.file("peek.wasm", peek());
    sign(&desk, &file, &private);
    let mut changed = peek();
    changed.extend(b"  ");
    desk.file("peek.wasm", changed);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("does not hold"),
        "{}",
        stderr(&output)
    );
    desk.file("peek.wasm.sig", "garbage");
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("line 1"), "{}", stderr(&output));
    assert!(!desk.state.join("store/toolgate.lock").exists());
}

#[test]
fn where_signatures_are_required_nothing_else_runs() {
    let desk = Desk::new();
    let (private, public) = pair(&desk, "acme.pem");
    let config = desk.file("toolgate.toml", "[store]\nrequire_signatures = true\n");
    let with = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--config", text(&config)]);
        desk.run(&all)
    };
    let refused = |arguments: &[&str]| {
        let output = with(arguments);
        assert_exit(&output, 2);
        let said = stderr(&output);
        assert!(
            said.contains("toolgate.toml:2") && said.contains("signed by no key"),
            "{said}"
        );
    };
    let file = desk.file("peek.wasm", peek());
    refused(&["install", text(&file), "--yes"]);
    refused(&["list", "--component", text(&file)]);
    sign(&desk, &file, &private);
    refused(&["install", text(&file), "--yes"]);
    assert_exit(&desk.run(&["keys", "add", "acme", &public]), 0);
    assert_exit(&with(&["install", text(&file), "--yes"]), 0);
    assert_exit(&with(&["call", "acme__Peek", "{}"]), 0);
    assert_exit(
        &with(&["call", "Peek", "{}", "--component", text(&file)]),
        0,
    );
    assert_exit(&desk.run(&["keys", "remove", "acme"]), 0);
    refused(&["call", "acme__Peek", "{}"]);
    assert_exit(&desk.run(&["call", "acme__Peek", "{}"]), 0);
}

#[test]
fn another_key_under_the_same_name_is_said() {
    let desk = Desk::new();
    let (one, first) = pair(&desk, "one.pem");
    let (two, second) = pair(&desk, "two.pem");
    let file = desk.file("peek.wasm", peek());
    assert_exit(&desk.run(&["keys", "add", "acme", &first]), 0);
    sign(&desk, &file, &one);
    assert_exit(&desk.run(&["install", text(&file), "--yes"]), 0);
    let output = desk.run(&["keys", "add", "acme", &second]);
    assert_exit(&output, 2);
    assert_exit(&desk.run(&["keys", "remove", "acme"]), 0);
    assert_exit(&desk.run(&["keys", "add", "acme", &second]), 0);
    let mut changed = peek();
    changed.extend(b"\n");
    desk.file("peek.wasm", changed);
    sign(&desk, &file, &two);
    let output = desk.run(&["install", text(&file), "--yes"]);
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("another key signed it"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn settings_of_the_store_that_cannot_be_stop_with_their_line() {
    let desk = Desk::new();
    for (toml, says) in [
        ("[store]\nrequire_signature = true\n", "Did you mean"),
        (
            "[store.registries.\"ghcr.io\"]\nplain_http = true\n",
            "only for a loopback address",
        ),
        (
            "[store.registries.\"ghcr.io\"]\nusername = \"me\"\n",
            "only work together",
        ),
    ] {
        let config = desk.file("toolgate.toml", toml);
        let output = desk.run(&["list", "--config", text(&config)]);
        assert_exit(&output, 2);
        let said = stderr(&output);
        assert!(
            said.contains(says) && said.contains("toolgate.toml:"),
            "{said}"
        );
    }
}
