//! All of it once more as an ordinary user, where the tests run as root.

use std::os::unix::fs::PermissionsExt as _;

use crate::bubblewrap::NOT_ITS_OWN;
use crate::place::{Launcher, is_root, launcher};
use crate::{helper, ids};

/// A user that no system has. The table with bubblewrap runs beside the other one: the limit of processes counts all of a user's, so that
/// each has a user of its own.
pub fn user() -> &'static str {
    match launcher() == Launcher::Bubblewrap {
        true => "4243",
        false => "4242",
    }
}

#[test]
fn everything_holds_for_an_ordinary_user() {
    if !is_root() {
        println!("these tests run as an ordinary user already");
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), mode).expect("a mode");
    // The run with bubblewrap has an ordinary user of its own, and the engines of these tests are root's.
    let others = [
        "everything_holds_with_bubblewrap",
        "container::",
        "container_refused::",
    ];
    let mut skipped: Vec<&str> = others
        .into_iter()
        .flat_map(|name| ["--skip", name])
        .collect();
    // The program may lie where only root can read.
    let program = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy");
    let mut setpriv = helper::program("setpriv");
    if launcher() == Launcher::Bubblewrap {
        NOT_ITS_OWN.iter().for_each(|name| {
            skipped.extend(["--skip", name]);
        });
    }
    let _turn = helper::whole_run();
    let output = setpriv
        .args(["--reuid", user(), "--regid", user(), "--clear-groups"])
        .arg(&program)
        .args(["--test-threads", "2", "--show-output"])
        .args(skipped)
        .env("HOME", folder.path())
        .env("USER", user())
        .current_dir(folder.path())
        .output()
        .expect("setpriv");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let result = text.lines().rfind(|line| line.starts_with("test result:"));
    println!("as user {}: {}", user(), result.unwrap_or_default());
    // With bubblewrap, what is not its own is left out by name.
    if launcher() != Launcher::Bubblewrap {
        ids::say_for(&format!("user {}", user()), &text);
    }
}
