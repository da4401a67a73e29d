//! Families A, B and C: exits, signals, and nobody at the keyboard.

use toolgate::shell::{Command, Sandbox, Settings, Step};

use crate::commands;
use crate::place::Prints::{Among, Exactly};
use crate::place::{Place, exit, made, signal};

commands! {
    a01_echo: "echo hello" => exit(0), Exactly("hello\n");
    a02_an_exit_code_is_a_value: "exit 3" => exit(3), Exactly("");
    a03_codes_wrap: "exit 300" => exit(44), Exactly("");
    a04_no_such_program: "nosuchcmd_x" => exit(127), Among("not found");
    a05_no_program: "/etc/passwd" => exit(126), Among("Permission denied");
    a08_nothing: "true" => exit(0), Exactly("");
    a09_no_line_feed: "printf abc" => exit(0), Exactly("abc");
    a12_no_pipefail: "false | true" => exit(0), Exactly("");
    a13_syntax: "if then" => exit(2), Among("syntax error");
    a14_heredoc: "b=x; cat <<'END'\n$b `c` \\d\nEND\n" => exit(0), Exactly("$b `c` \\d\n");
    a15_other_letters: "printf '%s' 'äöü 🦀 日本'" => exit(0), Exactly("äöü 🦀 日本");
    a16_a_line_that_begins_with_a_dash: "-n; echo on" => exit(0), Among("on\n");
    b01_a_signal: "kill -9 $$" => signal("KILL"), Exactly("");
    b02_a_crash: "kill -SEGV $$" => signal("SEGV"), Exactly("");
    b03_a_code_like_a_signal: "exit 137" => exit(137), Exactly("");
    b04_a_killed_child: "sleep 60 & kill -9 $!; wait $! 2>/dev/null; echo rc=$?" => exit(0), Among("rc=137\n");
    b05_a_closed_pipe: "yes | head -1; echo ${PIPESTATUS[0]}" => exit(0), Exactly("y\n141\n");
    b06_signals_are_as_programs_expect: "grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '0\\t\\n'" => exit(0), Exactly("SigBlk:SigIgn:");
    c01_nothing_on_stdin: "cat; echo rc=$?" => exit(0), Exactly("rc=0\n");
    c02_nobody_answers: "read -p pw: x; echo rc=$?" => exit(0), Among("rc=1\n");
    c03_no_terminal: ": </dev/tty; tty" => exit(1), Among("No such device or address");
    c04_python_input: "/usr/bin/python3 -c 'input()'" => exit(1), Among("EOFError");
}

#[tokio::test]
async fn a06_the_shell_is_missing() {
    let mut settings = Settings::default();
    settings.shell = "/nowhere/bash".into();
    let shell = made(settings).expect("settings");
    let refused = shell.start(Command::new("true"), &Sandbox::default()).await;
    let refused = refused.expect_err("no shell");
    assert_eq!((refused.step, refused.errno), (Step::Shell, Some(2)));
    assert_eq!(
        refused.text(),
        "Command failed: bash not found at /nowhere/bash; set shell.path"
    );
}

#[tokio::test]
async fn a07_the_working_directory_is_missing() {
    let place = Place::new();
    let mut command = Command::new("true");
    command.cwd = Some(place.ws.join("gone"));
    let refused = place.start(command).await.expect_err("no folder");
    assert_eq!((refused.step, refused.errno), (Step::Cwd, Some(2)));
    assert!(refused.hint.contains("ws/gone"), "{refused}");
}

#[tokio::test]
async fn a10_streams_are_kept_apart_on_request() {
    let mut command = Command::new("echo o; echo e >&2");
    command.separate = true;
    let ended = Place::new().command(command).await;
    let errors = ended.errors.expect("a second stream");
    assert_eq!(
        (ended.output.text.as_str(), errors.text.as_str()),
        ("o\n", "e\n")
    );
}

#[tokio::test]
async fn a11_both_streams_keep_their_order() {
    let line = "for i in $(seq 200); do echo o$i; echo e$i >&2; done";
    let ended = Place::new().run(line).await;
    let expected: String = (1..=200).map(|i| format!("o{i}\ne{i}\n")).collect();
    assert_eq!(ended.output.text, expected);
}

#[tokio::test]
async fn b02_a_crash_leaves_no_core() {
    let place = Place::new();
    place.run("bash -c 'kill -SEGV $$'; kill -ABRT $$").await;
    let left = std::fs::read_dir(&place.ws).expect("the workspace").count();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn c05_git_does_not_ask_for_a_password() {
    let place = Place::new();
    place.file(
        "server.py",
        "import http.server\n\
         class H(http.server.BaseHTTPRequestHandler):\n\
         \x20def do_GET(self):\n\
         \x20 self.send_response(401)\n\
         \x20 self.send_header('WWW-Authenticate', 'Basic realm=x')\n\
         \x20 self.end_headers()\n\
         s = http.server.HTTPServer(('127.0.0.1', 8000), H)\n\
         open('ready', 'w').close()\n\
         s.serve_forever()\n",
    );
    let line = "/usr/bin/python3 server.py 2>/dev/null & while ! [ -e ready ]; do sleep .02; done; \
                git ls-remote http://127.0.0.1:8000/x; echo rc=$?";
    let (ended, took) = place.timed(line, 20_000).await;
    let text = &ended.output.text;
    assert!(
        text.contains("terminal prompts disabled") && text.contains("rc=128"),
        "{ended:?}"
    );
    assert_eq!(ended.background_killed, 1);
    assert!(took.as_secs() < 15, "{took:?}");
}

#[tokio::test]
async fn markers_stand_on_a_last_line_of_their_own() {
    for (line, text) in [
        ("echo x", "x\n"),
        ("printf x; exit 2", "x\n[exit code: 2]"),
        ("exit 2", "[exit code: 2]"),
        ("echo x; kill -9 $$", "x\n[killed by signal: KILL]"),
    ] {
        assert_eq!(Place::new().run(line).await.text(), text, "{line}");
    }
    let (ended, _) = Place::new().timed("printf x; sleep 60", 1_000).await;
    assert_eq!(ended.text(), "x\n[timed out after 1000ms]");
}
