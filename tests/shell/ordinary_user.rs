//! All of it once more as an ordinary user, where the tests run as root.

use std::os::unix::fs::PermissionsExt as _;

use crate::bubblewrap::NOT_ITS_OWN;
use crate::place::{by_bubblewrap, is_root};
use crate::{helper, ids};

/// A user that no system has.
const USER: &str = "4242";

#[test]
fn everything_holds_for_an_ordinary_user() {
    if !is_root() {
        println!("these tests run as an ordinary user already");
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), mode).expect("a mode");
    let mut skipped = Vec::new();
    // The program may lie where only root can read.
    let program = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy");
    let mut setpriv = helper::program("setpriv");
    if by_bubblewrap() {
        NOT_ITS_OWN.iter().for_each(|name| {
            skipped.extend(["--skip", name]);
        });
    }
    let output = setpriv
        .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
        .arg(&program)
        .args(["--test-threads", "2", "--show-output"])
        .args(skipped)
        .env("HOME", folder.path())
        .env("USER", USER)
        .current_dir(folder.path())
        .output()
        .expect("setpriv");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let result = text.lines().rfind(|line| line.starts_with("test result:"));
    println!("as user {USER}: {}", result.unwrap_or_default());
    // With bubblewrap, what is not its own is left out by name.
    if !by_bubblewrap() {
        ids::say_for(&format!("user {USER}"), &text);
    }
}
