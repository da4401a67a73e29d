//! What is run, for whom it is bound and protected, and what is said of what does not run.

use super::*;

/// A workspace whose hook has run once, in mode accept-edits.
fn hooked(command: &str, script: &str) -> Desk {
    let desk = Desk::new();
    fs::create_dir_all(desk.ws.join("scripts")).unwrap();
    desk.marking_hook(script);
    let text = format!(
        "[permissions]\nmode = \"accept-edits\"\n[[hooks.pre_tool_use]]\ncommand = {command}\n"
    );
    desk.file("toolgate.toml", &text);
    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    assert_exit(&desk.run(&WRITE), 0);
    assert!(desk.mark().exists(), "{command}");
    fs::remove_file(desk.mark()).unwrap();
    desk
}

#[test]
fn no_tool_rewrites_what_a_hook_runs() {
    for (command, script) in [
        (
            r#"["/bin/sh", "-c", "scripts/hook.sh pre"]"#,
            "scripts/hook.sh",
        ),
        (r#"["/usr/bin/env", "sh", "scripts/hook"]"#, "scripts/hook"),
    ] {
        let desk = hooked(command, script);
        for file in [script, "scripts/util.py"] {
            let input = format!(r#"{{"file_path":"{file}","content":"x"}}"#);
            let output = desk.run(&["call", "Write", &input]);
            assert_exit(&output, 3);
            assert_says(&stderr(&output), "never writable by a tool");
        }
        assert!(!desk.ws.join("scripts/util.py").exists());
        // By other means than a tool: it is not trusted any more.
        fs::write(desk.ws.join(script), "exit 0\n").unwrap();
        let output = desk.run(&WRITE);
        assert_says(&stderr(&output), "which it names, changed since");
    }
}

/// Between the start and the run: the person's own hook, which runs first, changes what the workspace's one runs.
#[test]
fn what_changes_after_the_start_does_not_run() {
    let desk = hooked(r#"["sh", "scripts/hook"]"#, "scripts/hook");
    let hook = desk.ws.join("scripts/hook");
    desk.user(&format!(
        "[[hooks.pre_tool_use]]\ncommand = [\"/bin/sh\", \"-c\", \"echo '# more' >> {}\"]\n",
        hook.display()
    ));
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    let said = format!("'{}' changed since it was trusted", hook.display());
    assert_says(&stderr(&output), &said);
    assert!(!desk.mark().exists(), "the changed script ran");

    let desk = Desk::new();
    desk.file("approve.sh", "echo '{\"decision\":\"approve\"}'\n");
    let text = "[approval]\napprovers = [\"program\"]\nprogram = [\"sh\", \"approve.sh\"]\n";
    desk.file("toolgate.toml", text);
    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    assert_exit(&desk.run(&WRITE), 0);
    desk.user(&format!(
        "[[hooks.pre_tool_use]]\ncommand = [\"/bin/sh\", \"-c\", \"echo '# more' >> {}\"]\n",
        desk.ws.join("approve.sh").display()
    ));
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    assert_says(&stderr(&output), "changed since it was trusted");
}

#[test]
fn a_program_of_the_search_path_in_the_workspace_is_bound_and_protected() {
    let desk = Desk::new();
    fs::create_dir_all(desk.ws.join("bin")).unwrap();
    desk.marking_hook("bin/lint-it");
    let text =
        "[permissions]\nmode = \"accept-edits\"\n[[hooks.pre_tool_use]]\ncommand = [\"lint-it\"]\n";
    desk.file("toolgate.toml", text);
    let run = |arguments: &[&str]| {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", desk.ws.join("bin").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.args(arguments).arg("--state").arg(&desk.state);
        command.env("HOME", &desk.home).env("PATH", path);
        command.env("XDG_CONFIG_HOME", desk.home.join(".config"));
        command.current_dir(&desk.ws).stdin(Stdio::null());
        command.output().unwrap()
    };
    let shown = run(&["trust", "--yes"]);
    assert_exit(&shown, 0);
    assert_says(&stdout(&shown), "bin/lint-it (sha256:");
    assert_exit(&run(&WRITE), 0);
    let rewrite = run(&[
        "call",
        "Write",
        r#"{"file_path":"bin/other","content":"x"}"#,
    ]);
    assert_exit(&rewrite, 3);
    fs::write(desk.ws.join("bin/lint-it"), "#!/bin/sh\n").unwrap();
    assert_says(&stderr(&run(&["list"])), "which it names, changed since");
}

#[test]
fn what_would_stop_the_start_is_not_trusted() {
    let desk = Desk::new();
    for (text, message) in [
        (
            "[[hooks.pre_tool_use]]\ncommand = [\"./gone.sh\"]\n",
            "there is no such program",
        ),
        (
            "[permissions]\ndeny = [{ rule = \"Read(a.txt)\", allows = [\"a.txt\"] }]\n",
            "a.txt",
        ),
        ("[components]\nfiles = [\"gone.wasm\"]\n", "cannot be read"),
        (
            "[[hooks.stop]]\ncommand = [\"sh\", \"-c\", \"a; b\"]\n",
            "cannot be bound",
        ),
    ] {
        desk.file("toolgate.toml", text);
        let output = desk.run(&["trust", "--yes"]);
        assert_exit(&output, 2);
        assert_says(&stderr(&output), message);
        let listed = desk.run(&["list"]);
        assert_exit(&listed, 0);
        assert_says(&stderr(&listed), "nobody has trusted it");
    }
}

#[test]
fn a_state_directory_that_others_may_write_is_refused_by_every_command() {
    let desk = Desk::new();
    desk.file("toolgate.toml", "[permissions]\nallow = [\"Write\"]\n");
    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    fs::set_permissions(&desk.state, fs::Permissions::from_mode(0o777)).unwrap();
    let commands: [&[&str]; 5] = [
        &WRITE,
        &["trust", "--list"],
        &["approvals", "list"],
        &["doctor"],
        &["config", "show"],
    ];
    for command in commands {
        let output = desk.run(command);
        assert_exit(&output, 2);
        let said = stderr(&output) + &stdout(&output);
        assert_says(&said, "can be written by others");
        assert_says(&said, "chmod 700");
    }
    assert!(!desk.ws.join("b.txt").exists());
}

#[test]
fn session_hooks_are_said_not_to_run_here() {
    let desk = Desk::new();
    desk.user("[[hooks.session_start]]\ncommand = [\"true\"]\n");
    let said =
        "session hooks are raised by an embedding agent, not by `toolgate call`: SessionStart (";
    assert_says(&stderr(&desk.run(&["list"])), said);
    assert_says(&stdout(&desk.run(&["config", "show"])), said);
    assert_says(&stdout(&desk.run(&["doctor"])), said);
}

#[test]
fn doctor_says_who_is_asked() {
    let desk = Desk::new();
    for (approvers, said) in [
        ("approvers = [\"queue\"]", "the queue"),
        ("approvers = []", "nobody: what has to be asked is denied"),
        (
            "approvers = [\"program\", \"queue\"]\nprogram = [\"true\"]",
            "the program 'true', then the queue",
        ),
    ] {
        desk.user(&format!("[approval]\n{approvers}\n"));
        assert_says(&stdout(&desk.run(&["doctor"])), said);
    }
}

#[test]
fn a_broken_hook_says_where_it_is_configured_and_what_it_complained_of() {
    let desk = Desk::new();
    let read = ["call", "Read", r#"{"file_path":"a.txt"}"#];
    for (script, said) in [
        (
            "echo no such thing >&2; exit 9",
            "exit status: 9, and said: no such thing",
        ),
        ("(sleep 9; echo '{}') & exit 0", "its stdout is still open"),
    ] {
        desk.user(&format!(
            "[[hooks.pre_tool_use]]\ncommand = [\"/bin/sh\", \"-c\", \"{script}\"]\n"
        ));
        let output = desk.run(&read);
        assert_exit(&output, 3);
        assert_says(&stderr(&output), said);
        assert_says(&stderr(&output), "toolgate.toml:1 (user)");
    }
    desk.user("[[hooks.pre_tool_use]]\ncommand = [\"/bin/sh\", \"-c\", \"exit 2\"]\n");
    assert_says(&stderr(&desk.run(&read)), "no reason given");
}

#[test]
fn what_trust_shows_is_visible_through_a_pipe() {
    let desk = Desk::new();
    desk.file(
        "toolgate.toml",
        "[[hooks.stop]]\ncommand = [\"true\", \"\\u001b[2Ka\\u202eb\"]\n",
    );
    let shown = stdout(&desk.run(&["trust"]));
    assert_says(&shown, "\\u{1b}[2Ka\\u{202e}b");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
}
