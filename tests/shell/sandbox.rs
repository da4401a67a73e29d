//! Family J: what a command cannot reach.

use std::os::unix::net::UnixListener;

use toolgate::shell::{Command, Network, Sandbox};

use crate::place::{Launcher, Place, exit, is_root, launcher, length};
use crate::{helper, ids};

/// Refused with a reason, and the file is not there.
async fn refused(place: &Place, line: &str, reason: &str) {
    let ended = place.run(line).await;
    let text = &ended.output.text;
    assert!(text.contains(reason), "{line}: {text}");
    assert_ne!(ended.outcome, exit(0), "{line}");
}

#[tokio::test]
async fn j01_nothing_outside_is_written() {
    let place = Place::new();
    let home = place.outside.join("x");
    for path in [
        "/etc/toolgate-test",
        "/usr/toolgate-test",
        home.to_str().expect("UTF-8"),
    ] {
        let reason = if is_root() || path.contains("home") {
            "Read-only file system"
        } else {
            "cannot touch"
        };
        refused(&place, &format!("touch {path}"), reason).await;
        assert!(!std::path::Path::new(path).exists());
    }
    let ended = place
        .run("echo a > f; mkdir d; mv f d; cat d/f; echo t > /tmp/t; cat /tmp/t")
        .await;
    assert_eq!(ended.output.text, "a\nt\n");
    assert_eq!(
        std::fs::read(place.ws.join("d/f")).expect("the file"),
        b"a\n"
    );
    assert_eq!(
        place.run("ls /tmp /run").await.output.text,
        "/run:\n\n/tmp:\n"
    );
}

#[tokio::test]
async fn j01_sort_cannot_write_by_an_option() {
    let place = Place::new();
    place.file("data", "b\na\n");
    let outside = place.outside.join("sorted");
    let line = format!("sort --output={} data", outside.display());
    refused(&place, &line, "Read-only file system").await;
    assert!(!outside.exists());
}

#[tokio::test]
async fn j02_modes_and_times_outside_stay() {
    let place = Place::new();
    let file = place.outside.join("f");
    std::fs::write(&file, "x").expect("a file");
    for line in [
        "chmod 700",
        "touch -d 2001-01-01",
        "chown 0",
        "setfattr -n user.a -v b",
    ] {
        if line.starts_with("setfattr") && !std::path::Path::new("/usr/bin/setfattr").exists() {
            continue;
        }
        let reason = "Read-only file system";
        refused(&place, &format!("{line} {}", file.display()), reason).await;
    }
}

#[tokio::test]
async fn j03_links_lead_nowhere_else() {
    let place = Place::new();
    let outside = std::path::PathBuf::from(format!("/tmp/toolgate-j03-{}", std::process::id()));
    std::os::unix::fs::symlink(&outside, place.ws.join("link")).expect("a link");
    assert_eq!(place.run("echo x > link").await.outcome, exit(0));
    assert!(!outside.exists(), "it was written in the host's /tmp");
    std::os::unix::fs::symlink(place.outside.join("y"), place.ws.join("other")).expect("a link");
    refused(&place, "echo x > other", "Read-only file system").await;
}

#[tokio::test]
async fn j04_hard_links_from_outside() {
    refused(&Place::new(), "ln /etc/passwd x", "cross-device").await;
}

async fn repository() -> Place {
    let mut place = Place::new();
    let line = "git init -q . && git config user.email a@b && git config user.name a && echo 1 > f && git add -A && \
                git commit -qm 1";
    let ended = place.run(line).await;
    assert_eq!(ended.outcome, exit(0), "{ended:?}");
    place.sandbox = Sandbox::new(vec![place.ws.clone()], Some(&place.outside));
    place
}

#[tokio::test]
async fn j05_git_hooks_cannot_be_swapped_in() {
    let place = repository().await;
    let hook = place.ws.join(".git/hooks/pre-commit");
    for line in [
        "mv .git .gitx; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; mv .git .gitx",
        "echo x > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir .git/hooks; mv .git/hooks .git/h",
        "git config core.hooksPath /tmp",
        "mv .git/config .git/c",
    ] {
        let ended = place.run(line).await;
        assert_ne!(ended.outcome, exit(0), "{line}: {ended:?}");
        assert!(!hook.exists(), "{line}");
        assert!(place.ws.join(".git/config").exists() && !place.ws.join(".gitx").exists());
    }
    let ended = place.run("mv .git .gitx").await;
    assert!(
        ended.output.text.contains("Device or resource busy"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn j05_git_itself_goes_on() {
    let place = repository().await;
    let line = "echo 2 > f && git add -A && git commit -qm x && git status --short && git log --oneline | wc -l && \
                git checkout -qb other && git branch";
    let ended = place.run(line).await;
    assert_eq!(ended.text(), "2\n  master\n* other\n");
}

#[tokio::test]
async fn j05_a_deeper_name_keeps_its_way() {
    let mut place = Place::new();
    place.file("a/b/.vscode/tasks.json", "{}");
    place.sandbox.protected = vec![place.ws.join("a/b/.vscode")];
    let line = "mv a x; mv a/b a/c; rm -rf a/b/.vscode; mkdir -p a/b/.vscode; echo evil > a/b/.vscode/tasks.json";
    place.run(line).await;
    let kept = std::fs::read(place.ws.join("a/b/.vscode/tasks.json")).expect("the file");
    assert_eq!(kept, b"{}");
    assert!(!place.ws.join("x").exists());
}

#[tokio::test]
async fn j06_nothing_is_left_for_what_was_absent() {
    let mut place = Place::new();
    place.sandbox.masks = vec![place.ws.join(".env"), place.ws.join("deep/secret")];
    assert_eq!(place.run("true").await.outcome, exit(0));
    assert_eq!(
        std::fs::read_dir(&place.ws).expect("the workspace").count(),
        0
    );
    let ended = place
        .run("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit")
        .await;
    let text = ended.text();
    assert!(
        text.contains("what programs outside of the sandbox obey")
            && text.contains("ws/.git/hooks;"),
        "{text}"
    );
}

#[tokio::test]
async fn j07_nothing_is_mounted_anew() {
    for line in [
        "mount -o remount,rw,bind /",
        "mount -t tmpfs x /mnt",
        "umount /proc",
        "mknod n b 8 0",
    ] {
        let ended = Place::new().run(line).await;
        assert_ne!(ended.outcome, exit(0), "{line}: {ended:?}");
    }
}

#[tokio::test]
async fn j08_the_kernel_is_not_set() {
    let reason = if is_root() {
        "Read-only file system"
    } else {
        "denied"
    };
    let place = Place::new();
    for file in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/pid_max",
    ] {
        let ended = place.run(&format!("printf '' > {file}")).await;
        let text = &ended.output.text;
        let missing = !std::path::Path::new(file).exists();
        assert!(
            missing || text.contains(reason) || text.contains("Read-only"),
            "{text}"
        );
        assert_ne!(ended.outcome, exit(0));
    }
}

/// Numbers of x86_64; where they mean something else, EPERM would not come back either.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn j09_system_calls_that_reach_past_it() {
    let place = Place::new();
    place.file(
        "calls.py",
        "import ctypes\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         def call(*arguments):\n\
         \x20ctypes.set_errno(0)\n\
         \x20libc.syscall(*arguments)\n\
         \x20return ctypes.get_errno()\n\
         X32 = 0x40000000\n\
         print(call(425, 1, 0), call(426, 0, 0, 0, 0, 0, 0), call(427, 0, 0, 0, 0),\n\
         \x20call(101, 0, 1, 0, 0), call(321, 0, 0, 0), call(165, 0, 0, 0, 0, 0),\n\
         \x20call(272, 0x10000000), call(56, 0x10000000, 0, 0, 0, 0), call(435, 0, 0),\n\
         \x20call(41, 40, 1, 0), call(41, 17, 3, 0), call(41, 16, 3, 9), call(16, 1, 0x5412, 0),\n\
         \x20call(16, 1, 0x100005412, 0), call(X32 | 425, 1, 0), call(X32 | 101, 0, 1, 0, 0))\n\
         import socket\n\
         socket.socketpair()\n\
         socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n\
         print('ordinary')\n",
    );
    let ended = place.run("/usr/bin/python3 calls.py").await;
    let expected = "1 1 1 1 1 1 1 1 38 1 1 1 1 1 1 1\nordinary\n";
    assert_eq!(ended.output.text, expected);
}

#[tokio::test]
async fn j10_sockets_of_the_host() {
    use std::os::linux::net::SocketAddrExt as _;
    let place = Place::new();
    let path = format!("/tmp/toolgate-j10-{}", std::process::id());
    let listener = UnixListener::bind(&path).expect("a socket");
    let name = format!("toolgate-j10-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("a name");
    let hidden = UnixListener::bind_addr(&address).expect("a socket");
    let dial = |address: &str| {
        format!(
            "/usr/bin/python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect({address})\""
        )
    };
    refused(&place, &dial(&format!("'{path}'")), "No such file").await;
    let line = dial(&format!("'\\0{name}'"));
    refused(&place, &line, "Connection refused").await;
    // With the host's network, the second layer still keeps abstract names apart.
    let mut command = Command::new(line);
    command.network = Network::Full;
    let ended = place.command(command).await;
    assert!(
        ended.output.text.contains("Operation not permitted"),
        "{ended:?}"
    );
    std::fs::remove_file(&path).expect("its name");
    drop((listener, hidden));
}

#[tokio::test]
async fn j11_no_namespaces_inside() {
    refused(&Place::new(), "unshare -Ur true", "Operation not permitted").await;
}

#[tokio::test]
async fn j16_the_network_is_open_on_request() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("its address").port();
    let line = format!("echo >/dev/tcp/127.0.0.1/{port}");
    let place = Place::new();
    assert_ne!(place.run(&line).await.outcome, exit(0));
    let mut command = Command::new(line);
    command.network = Network::Full;
    let ended = place.command(command).await;
    assert_eq!(ended.outcome, exit(0), "{ended:?}");
    assert!(ended.sandbox.network);
}

#[test]
fn j14_without_namespaces_nothing_runs() {
    let place = Place::new();
    let scene = [
        "unshare",
        "-Ur",
        "bash",
        "-c",
        "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_pid_namespaces; exec \"$@\"",
        "bash",
    ];
    let text = helper::printed_through(&scene, &place, "touch ran");
    assert!(
        text.starts_with("Command failed: shell sandbox unavailable: "),
        "{text}"
    );
    let errno = if launcher() == Launcher::Bubblewrap {
        "ENOSPC"
    } else {
        "No space left on device"
    };
    assert!(text.contains(errno), "{text}");
    let cause = match launcher() == Launcher::Bubblewrap {
        true => "bubblewrap could not set it up: Creating new namespace failed",
        false => "Cause: user.max_user_namespaces is 0 or exhausted",
    };
    assert!(text.contains(cause), "{text}");
    let text = text.to_lowercase();
    assert!(
        text.contains("nothing was run") && text.contains("fix: "),
        "{text}"
    );
    assert_eq!(length(&place.ws.join("ran")), 0);
    assert!(!place.ws.join("ran").exists());
}

/// Ends in `exec "$@"` where the system has no Landlock.
const NO_LANDLOCK: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x50026), (0x06, 0, 0, 0x7fff0000)]
code = b''.join(struct.pack('HBBI', *line) for line in code)
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('code', ctypes.c_char_p)]
program = Program(4, code)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn j15_without_the_second_layer_the_first_holds() {
    let place = Place::new();
    let scene = ["/usr/bin/python3", "-c", NO_LANDLOCK];
    let outside = place.outside.join("x");
    let line = format!("touch {}; echo runs", outside.display());
    let text = helper::printed_through(&scene, &place, &line);
    assert!(
        text.contains("Read-only file system") && text.contains("runs"),
        "{text}"
    );
    assert!(
        text.contains("gap: Landlock ABI 0 is not enforced: the read-only mounts are in force"),
        "{text}"
    );
    assert!(!outside.exists());
}

#[test]
fn j15_where_it_is_the_only_layer_nothing_runs() {
    let place = Place::new();
    let scene = [
        "env",
        "TOOLGATE_TEST_LANDLOCK=1",
        "/usr/bin/python3",
        "-c",
        NO_LANDLOCK,
    ];
    let text = helper::printed_through(&scene, &place, "touch ran");
    assert!(
        text.contains("cannot limit writing with Landlock"),
        "{text}"
    );
    assert!(!place.ws.join("ran").exists());
}

#[test]
fn j17_programs_may_not_be_run_from_memory() {
    let setting = "/proc/sys/vm/memfd_noexec";
    if !is_root() || !std::path::Path::new(setting).exists() {
        ids::not_here("J17", &format!("only root can set {setting}"));
        return;
    }
    let place = Place::new();
    let scene = [
        "unshare",
        "-Urpf",
        "--mount-proc",
        "bash",
        "-c",
        "echo 2 > /proc/sys/vm/memfd_noexec && exec \"$@\"",
        "bash",
    ];
    let text = helper::printed_through(&scene, &place, "echo runs");
    assert!(text.contains("runs\n"), "{text}");
}

#[tokio::test]
async fn j18_root_may_run_commands_as_somebody() {
    use toolgate::shell::{RunAs, Settings};
    let mut settings = Settings::default();
    settings.run_as = Some(RunAs {
        user: 4_242,
        group: 4_242,
    });
    let shell = crate::place::made(settings).expect("settings");
    let place = Place::new();
    let started = shell
        .start(
            Command::new("id; grep CapEff /proc/self/status; touch x"),
            &place.sandbox,
        )
        .await;
    if !is_root() {
        assert!(started.is_err());
        return;
    }
    let ended = started.expect("a start").wait().await;
    let text = &ended.output.text;
    assert!(
        text.starts_with("uid=4242 gid=4242 groups=4242\n"),
        "{text}"
    );
    assert!(text.contains("CapEff:\t0000000000000000"), "{text}");
    // The folder belongs to root.
    assert_eq!(ended.outcome, exit(1), "{text}");
}
