//! This test program as a host of its own: to be killed, to be given an environment, or to be counted.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolgate::shell::{Layers, Sandbox, Settings};

use crate::place::{self, Place};

/// A program that is no command of the shell.
#[expect(
    clippy::disallowed_methods,
    reason = "a test starts hosts to see them from outside"
)]
pub fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(path)
}

/// The turn of a run of the whole table in a process of its own: several at once would be measured against each other.
pub fn whole_run() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a part of the table in a process of its own, with one more launcher. It must pass, and at least so many tests of it
/// must have run, so that it is not left out by a slip.
pub fn table(name: &str, change: impl FnOnce(&mut Command), skipped: &[&str], at_least: usize) {
    let mut program = program(std::env::current_exe().expect("this program"));
    program.env(place::LAUNCHER, name);
    change(&mut program);
    program.args(skipped.iter().flat_map(|name| ["--skip", name]));
    let _turn = whole_run();
    let output = program.output().expect("its output");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let result = text.lines().rfind(|line| line.starts_with("test result:"));
    let passed = result.and_then(|line| line.split(' ').nth(3)?.parse::<usize>().ok());
    assert!(passed >= Some(at_least), "{text}");
    println!("with {name}: {}", result.unwrap_or_default());
}

/// Another test of this program in a process of its own.
pub fn this_program(test: &str) -> Command {
    let mut command = program(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

/// A host that runs one command in a workspace and prints what the model would read.
pub fn host(place: &Place, line: &str, environment: &[(&str, &str)]) -> Child {
    this_program("helper::as_a_host")
        .env("TOOLGATE_TEST_WS", &place.ws)
        .env("TOOLGATE_TEST_LINE", line)
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a host")
}

/// What such a host prints.
pub fn printed(place: &Place, line: &str, environment: &[(&str, &str)]) -> String {
    let host = host(place, line, environment);
    let output = host.wait_with_output().expect("its output");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (_, text) = text.split_once("<<<").expect("a beginning");
    let (text, _) = text.split_once(">>>").expect("an end");
    text.to_owned()
}

/// Another test of this program in a process of its own, where it is not disturbed. It must pass.
pub fn alone(test: &str) {
    let output = this_program(test).output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("1 passed"), "{text}");
    let lines = text.lines().filter(|line| line.starts_with("measured: "));
    lines.for_each(|line| println!("{line}"));
}

/// Through a program that sets the scene and then runs this one.
pub fn printed_through(scene: &[&str], place: &Place, line: &str) -> String {
    let own = std::env::current_exe().expect("this program");
    let (first, rest) = scene.split_first().expect("a program");
    let output = program(first)
        .args(rest)
        .arg(own)
        .args(["--exact", "helper::as_a_host", "--ignored", "--nocapture"])
        .env("TOOLGATE_TEST_WS", &place.ws)
        .env("TOOLGATE_TEST_LINE", line)
        .env("TOOLGATE_TEST_GAPS", "1")
        .output()
        .expect("its output");
    let text = String::from_utf8_lossy(&output.stdout);
    let begun = text
        .split_once("<<<")
        .and_then(|(_, text)| text.split_once(">>>"));
    let errors = String::from_utf8_lossy(&output.stderr);
    begun
        .unwrap_or_else(|| panic!("{text}\n{errors}"))
        .0
        .to_owned()
}

#[tokio::test]
#[ignore = "a host for other tests"]
async fn as_a_host() {
    let line = std::env::var("TOOLGATE_TEST_LINE").expect("a line");
    let ws = std::env::var_os("TOOLGATE_TEST_WS").expect("a workspace");
    let mut settings = Settings::default();
    if std::env::var_os("TOOLGATE_TEST_LANDLOCK").is_some() {
        settings.layers = Layers::Landlock;
    }
    let shell = place::made(settings).expect("settings");
    let sandbox = Sandbox::new(vec![ws.into()], None);
    let text = match shell
        .start(toolgate::shell::Command::new(line), &sandbox)
        .await
    {
        Ok(running) => {
            let gaps = running.sandbox().gaps.join("\ngap: ");
            let text = running.wait().await.text();
            std::env::var_os("TOOLGATE_TEST_GAPS")
                .map_or(text.clone(), |_| format!("gap: {gaps}\n{text}"))
        }
        Err(error) => error.text(),
    };
    println!("<<<{text}>>>");
}
