//! Families H and I: what a command finds around it, and command lines of any length.

use std::path::Path;

use toolgate::shell::{Command, Step};

use crate::helper;
use crate::place::{Launcher, Place, exit, is_root, launcher, with_timeout};

const SECRETS: [(&str, &str); 5] = [
    ("AWS_SECRET_ACCESS_KEY", "s3cr3t"),
    ("FOO_API_KEY", "s3cr3t"),
    ("SSH_AUTH_SOCK", "/s3cr3t"),
    ("AWS_SESSION_TOKEN", "s3cr3t"),
    ("MY_PLAIN", "s3cr3t"),
];

#[test]
fn h01_the_environment_of_the_host_is_not_seen() {
    let place = Place::new();
    let line = "env; tr '\\0' '\\n' </proc/1/environ; cat /proc/1/cmdline; echo; readlink /proc/1/fd/* /proc/1/exe /proc/1/cwd; cat /proc/1/fd/3; cat /proc/1/mem; echo end";
    let text = helper::printed(&place, line, &SECRETS);
    assert!(text.contains("PATH=") && text.contains("end"), "{text}");
    assert!(!text.contains("s3cr3t"), "{text}");
    // Nor is the plan, or a way to the lifeline.
    assert!(!text.contains("norc") && !text.contains("socket"), "{text}");
    assert!(text.contains("cat: /proc/1/"), "{text}");
}

#[test]
fn h02_no_file_is_read_on_the_way() {
    let place = Place::new();
    let file = place.file("env", "echo hijacked");
    let file = file.to_str().expect("UTF-8");
    let text = helper::printed(&place, "echo plain", &[("BASH_ENV", file), ("ENV", file)]);
    assert_eq!(text, "plain\n");
}

#[tokio::test]
async fn h03_descriptors_of_the_host_do_not_leak() {
    let leak = std::fs::File::open("/etc/passwd").expect("a file");
    let leak = rustix::io::fcntl_dupfd_cloexec(&leak, 10).expect("a duplicate");
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).expect("a leak");
    let ended = Place::new().run("echo /proc/self/fd/*").await;
    // The shell's own, and the one with which it reads the folder.
    assert_eq!(
        ended.output.text,
        "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"
    );
}

#[tokio::test]
async fn h04_no_new_privileges() {
    let line = "grep -E 'NoNewPrivs|CapBnd' /proc/self/status; for f in su passwd mount; do \
                p=$(command -v $f) && [ -u $p ] && echo setuid; done; echo x | su -c id root";
    let ended = Place::new().run(line).await;
    let text = &ended.output.text;
    assert!(text.contains("NoNewPrivs:\t1"), "{text}");
    // Ordinary users have none at all, root has seven.
    let kept = if is_root() { "fb" } else { "00" };
    assert!(
        text.contains(&format!("CapBnd:\t00000000000000{kept}")),
        "{text}"
    );
    assert!(is_root() || !text.contains("uid=0"), "{text}");
}

#[tokio::test]
async fn h05_limits() {
    // Only root bounds a tree by itself where bubblewrap makes its namespace; anybody else bounds the user's processes in it.
    let processes = match launcher() == Launcher::Bubblewrap && !is_root() {
        true => "ulimit -u",
        false => "cat /proc/sys/kernel/pid_max",
    };
    let line = format!("ulimit -c; ulimit -n; ulimit -f; {processes}");
    let ended = Place::new().run(&line).await;
    let files = (8_u64 << 30) / 1_024;
    let expected = format!("0\n4096\n{files}\n1024\n");
    assert_eq!(ended.output.text, expected);
    let line = "head -c 9000000000 /dev/zero > big; echo $?";
    let (ended, _) = Place::new()
        .timed(&format!("ulimit -f 1024; {line}"), 30_000)
        .await;
    assert!(ended.output.text.ends_with("153\n"), "{ended:?}");
}

#[tokio::test]
async fn h06_no_network() {
    let line = "tail -n +3 /proc/net/dev | cut -d: -f1; echo >/dev/tcp/1.1.1.1/53";
    let ended = Place::new().run(line).await;
    let text = ended.text();
    assert!(text.trim_start().starts_with("lo\n"), "{text}");
    assert!(text.contains("Network is unreachable"), "{text}");
    assert!(text.contains("the sandbox may have caused this"), "{text}");
    assert_eq!(ended.outcome, exit(1));
}

#[tokio::test]
async fn h07_its_own_loopback() {
    let line = "/usr/bin/python3 -c \"\nimport socket\ns = socket.create_server(('127.0.0.1', 0))\n\
                c = socket.create_connection(s.getsockname())\ns.accept()[0].sendall(b'through')\nprint(c.recv(9))\"";
    let ended = Place::new().run(line).await;
    assert_eq!(ended.output.text, "b'through'\n");
}

#[tokio::test]
async fn h08_programs_from_the_workspace_do_not_stand_in() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let ls = place.file("bin/ls", "#!/bin/sh\ntouch m\n");
    std::fs::set_permissions(&ls, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = format!("{}:/usr/bin:/bin", place.ws.join("bin").display());
    helper::printed(&place, "ls", &[("PATH", &path)]);
    assert!(!place.ws.join("m").exists());
}

#[tokio::test]
async fn i01_a_very_long_command() {
    let place = Place::new();
    let line = format!("x={}; echo ${{#x}}; cat; echo rc=$?", "a".repeat(200_000));
    let ended = place.run(&line).await;
    assert_eq!(ended.output.text, "200000\nrc=0\n");
    let line = format!(": {}; echo a; exit 4", "b".repeat(3_000_000));
    let ended = place.run(&line).await;
    assert_eq!(
        (ended.outcome, ended.output.text.as_str()),
        (exit(4), "a\n")
    );
}

#[tokio::test]
async fn i02_a_long_command() {
    let line = format!("x={}; echo ${{#x}}", "a".repeat(100_000));
    assert_eq!(Place::new().run(&line).await.output.text, "100000\n");
}

#[tokio::test]
async fn i03_what_is_no_command() {
    for line in ["", "  ", "echo a\0b"] {
        let refused = Place::new().start(Command::new(line)).await;
        assert_eq!(refused.expect_err("no command").step, Step::Validate);
    }
}

#[tokio::test]
async fn i04_each_command_begins_at_the_root() {
    let place = Place::new();
    place.run("cd /; x=1; export x").await;
    let ended = place.run("pwd; echo $x").await;
    assert_eq!(ended.output.text, format!("{}\n\n", place.ws.display()));
    assert_eq!(ended.cwd, place.ws);
    place.file("sub/f", "");
    let mut command = with_timeout("pwd", 10_000);
    command.cwd = Some(place.ws.join("sub"));
    let ended = place.command(command).await;
    assert_eq!(ended.output.text, format!("{}/sub\n", place.ws.display()));
    let mut command = with_timeout("pwd", 10_000);
    command.cwd = Some(Path::new("/etc").to_owned());
    assert_eq!(
        place.start(command).await.expect_err("outside").step,
        Step::Cwd
    );
}

#[tokio::test]
async fn i05_the_working_directory_is_deleted() {
    let place = Place::new();
    place.file("sub/f", "");
    let mut command = with_timeout("rm -rf ../sub; echo gone", 10_000);
    command.cwd = Some(place.ws.join("sub"));
    assert_eq!(place.command(command).await.output.text, "gone\n");
    assert_eq!(place.run("echo alive").await.output.text, "alive\n");
}
