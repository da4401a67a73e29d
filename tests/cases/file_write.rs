//! Cases of the family `file` about Write: modes, links, full disks, and what a failed write leaves behind.

use rustix::fs::statvfs;
use serde_json::json;
use toolgate::model::{DenialReason, Ending, Gate};
use toolgate_tests::{Scratch, TestHost};

use crate::run::{alone, is_alone};
use crate::support::{bytes, holds, link, mode, names, set_mode};

cases! {
    "F09" => f09_write_keeps_the_mode_and_new_files_follow_the_umask,
    "F10" => f10_write_never_widens_a_mode,
    "F12" => f12_write_without_space_leaves_the_old_file,
    "F13" => f13_write_of_more_than_the_host_takes_leaves_the_old_file,
    "F41" => f41_write_makes_parents_and_removes_them_if_it_fails,
    "F42" => f42_write_respects_a_read_only_file,
    "F43" => f43_write_goes_through_a_link_inside_the_workspace,
}

fn write(path: &str, content: &str) -> serde_json::Value {
    json!({"file_path": path, "content": content})
}

async fn f09_write_keeps_the_mode_and_new_files_follow_the_umask() {
    const CASE: &str = "file_write::case::f09_write_keeps_the_mode_and_new_files_follow_the_umask";
    if !is_alone(CASE) {
        return alone(CASE, &[], "umask 077; exec \"$@\"");
    }
    let scratch = Scratch::new();
    let old = scratch.file("a.txt", "old");
    set_mode(&old, 0o644);
    // What the process makes of 0666 shows that the umask is the one that the case asks for.
    assert_eq!(mode(scratch.file("probe.txt", "")), 0o600);
    let host = TestHost::approving(scratch).await;
    host.done("Write", write("/ws/a.txt", "x")).await;
    assert_eq!((bytes(&old), mode(&old)), (b"x".to_vec(), 0o644));
    host.done("Write", write("/ws/new.txt", "x")).await;
    assert_eq!(mode(host.scratch.ws.join("new.txt")), 0o600);
}

async fn f10_write_never_widens_a_mode() {
    let scratch = Scratch::new();
    let path = scratch.file("secret.sh", "old");
    set_mode(&path, 0o600);
    let host = TestHost::approving(scratch).await;
    host.done("Write", write("/ws/secret.sh", "#!/bin/sh\n"))
        .await;
    assert_eq!(
        (bytes(&path), mode(&path)),
        (b"#!/bin/sh\n".to_vec(), 0o600)
    );
}

async fn f12_write_without_space_leaves_the_old_file() {
    const CASE: &str = "file_write::case::f12_write_without_space_leaves_the_old_file";
    /// Mounts a small file system in a mount namespace of its own, which goes with the process.
    const SCRIPT: &str = "exec unshare --map-root-user --mount sh -c \
        'mount -t tmpfs -o size=2m tmpfs \"$SMALL\" && TMPDIR=\"$SMALL\" exec \"$@\"' sh \"$@\"";
    if !is_alone(CASE) {
        let small = tempfile::tempdir().expect("a folder to mount on");
        let small = small.path().to_str().expect("UTF-8");
        return alone(CASE, &[("SMALL", small)], SCRIPT);
    }
    let scratch = Scratch::new();
    let old = vec![b'o'; 50_000];
    let path = scratch.file("a.txt", &old);
    let free = || {
        let space = statvfs(&scratch.ws).expect("the file system");
        usize::try_from(space.f_bavail * space.f_frsize).expect("a size")
    };
    assert!(
        free() < 2 << 20,
        "the scratch folders are not on the small file system"
    );
    scratch.file("filler.bin", vec![0; free() - 100_000]);
    assert!(free() <= 100_000);
    let host = TestHost::approving(scratch).await;

    let text = host
        .failed("Write", write("/ws/a.txt", &"n".repeat(1_000_000)))
        .await;
    holds(&text, &["no space"]);
    assert_eq!(bytes(&path), old);
    assert_eq!(names(&host.scratch.ws), ["a.txt", "filler.bin"]);

    // The space of the failed write is free again.
    host.done("Write", write("/ws/a.txt", &"n".repeat(60_000)))
        .await;
    assert_eq!(bytes(&path), vec![b'n'; 60_000]);
}

async fn f13_write_of_more_than_the_host_takes_leaves_the_old_file() {
    let scratch = Scratch::new();
    let path = scratch.file("big.bin", "old");
    let host = TestHost::approving(scratch).await;
    let outcome = host
        .call("Write", write("/ws/big.bin", &"x".repeat(8 << 20)))
        .await;
    let Ending::Denied(denial) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    assert_eq!(denial.gate, Gate::Parse);
    assert!(
        matches!(denial.reason, DenialReason::Malformed { .. }),
        "{denial:?}"
    );
    holds(&outcome.ending.text(), &["1048576 is the most"]);
    assert_eq!(bytes(&path), b"old");
    assert_eq!(names(&host.scratch.ws), ["big.bin"]);
}

async fn f41_write_makes_parents_and_removes_them_if_it_fails() {
    let host = TestHost::approving(Scratch::new()).await;
    host.done("Write", write("/ws/new/deep/a.txt", "x")).await;
    assert_eq!(bytes(host.scratch.ws.join("new/deep/a.txt")), b"x");

    let unwritable = format!("/ws/gone/deep/{}", "a".repeat(300));
    host.failed("Write", write(&unwritable, "x")).await;
    assert_eq!(names(&host.scratch.ws), ["new"]);
    // A parent that was there before stays.
    let unwritable = format!("/ws/new/gone/{}", "a".repeat(300));
    host.failed("Write", write(&unwritable, "x")).await;
    assert_eq!(names(&host.scratch.ws.join("new")), ["deep"]);
}

async fn f42_write_respects_a_read_only_file() {
    let scratch = Scratch::new();
    let path = scratch.file("ro.txt", "old");
    set_mode(&path, 0o444);
    let host = TestHost::approving(scratch).await;
    let text = host.failed("Write", write("/ws/ro.txt", "x")).await;
    holds(&text, &["read-only"]);
    assert_eq!((bytes(&path), mode(&path)), (b"old".to_vec(), 0o444));
    assert_eq!(names(&host.scratch.ws), ["ro.txt"]);
}

async fn f43_write_goes_through_a_link_inside_the_workspace() {
    let scratch = Scratch::new();
    let real = scratch.file("real.txt", "old");
    let at = scratch.ws.join("l.txt");
    link("real.txt", &at);
    let host = TestHost::approving(scratch).await;
    host.done("Write", write("/ws/l.txt", "new")).await;
    assert_eq!(
        std::fs::read_link(&at).expect("still a link").to_str(),
        Some("real.txt")
    );
    assert!(real.symlink_metadata().expect("a file").is_file());
    assert_eq!(bytes(&real), b"new");
}
