//! Real container engines of our own, with an image that is made of this machine's programs: podman by its client alone, and
//! docker by a daemon that lives as long as its test.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolgate::shell::{Container, ContainerShell, Engine, Settings};

use crate::helper::program;

/// The image's name.
pub const IMAGE: &str = "toolgate-test:1";
/// What is in it besides coreutils.
const PROGRAMS: [&str; 12] = [
    "bash", "env", "find", "grep", "ps", "python3", "sed", "setsid", "sh", "sleep", "timeout",
    "which",
];
/// Where an engine keeps what it has; below the build's folder, so that the image is made once.
const KEPT: &str = env!("CARGO_TARGET_TMPDIR");

/// Where a process of this program finds the client that another one made.
pub const CLIENT: &str = "TOOLGATE_TEST_PODMAN";

/// Containers of podman, through a client that keeps to a store and a mount namespace of our own: what engines mount and
/// unmount must not be in the way of whoever looks at this machine's mounts meanwhile.
pub fn podman() -> Container {
    static CLIENT: LazyLock<PathBuf> = LazyLock::new(|| match std::env::var_os(self::CLIENT) {
        Some(client) => client.into(),
        None => made(),
    });
    by(&CLIENT)
}

fn made() -> PathBuf {
    needs("podman", "podman runc");
    needs("runc", "podman runc");
    let store = Path::new(KEPT).join("podman");
    std::fs::create_dir_all(&store).expect("a folder");
    let shown = store.display();
    let mut holder = program("unshare");
    holder
        .args(["--mount", "--propagation", "private"])
        .args(["bash", "-c", "echo; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut holder = holder.spawn().expect("a mount namespace");
    let mut begun = [0];
    let output = holder.stdout.as_mut().expect("its output");
    output.read_exact(&mut begun).expect("a mount namespace");
    let client = script(
        &store.join(format!("client-{}", std::process::id())),
        &format!(
            "exec nsenter --target {} --mount podman --root {shown}/root --runroot {shown}/run --storage-driver=overlay \
             --cgroup-manager=cgroupfs --runtime=runc \"$@\"",
            holder.id()
        ),
    );
    if !said(program(&client).args(["image", "exists", IMAGE])).0 {
        import(&client, &[]);
    }
    // Its input stays open until this process ends, and it with it.
    std::mem::forget(holder);
    client
}

/// Containers of podman by a client.
pub fn by(client: &Path) -> Container {
    let mut container = of(Engine::Podman, client);
    // More than some machines give is podman's default.
    container
        .arguments
        .push("--ulimit=nproc=1024:1024".to_owned());
    container
}

/// Containers of an engine by a client.
pub fn of(engine: Engine, client: &Path) -> Container {
    Container {
        engine,
        program: Some(client.to_owned()),
        image: IMAGE.to_owned(),
        arguments: Vec::new(),
    }
}

/// A shell of containers.
pub fn shell(container: Container) -> ContainerShell {
    ContainerShell::new(Settings::default(), container).unwrap_or_else(|error| panic!("{error}"))
}

/// A program made of a script for bash.
pub fn script(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, format!("#!/bin/bash\n{text}\n")).expect("a program");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("a mode");
    path.to_owned()
}

/// A docker daemon, ended with this.
pub struct Docker {
    daemon: Child,
    folder: TempDir,
    pub client: PathBuf,
}

impl Docker {
    pub fn start() -> Self {
        needs("dockerd", "docker.io");
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let root = folder.path().to_owned();
        let at = |name: &str| root.join(name).display().to_string();
        let log = std::fs::File::create(at("log")).expect("a log");
        let mut daemon = program("unshare");
        daemon
            .args(["--mount", "--propagation", "private", "dockerd"])
            .args([
                "--iptables=false",
                "--ip6tables=false",
                "--bridge=none",
                "--storage-driver=overlay2",
            ])
            .args([
                "--data-root",
                &at("data"),
                "--exec-root",
                &at("exec"),
                "--pidfile",
                &at("pid"),
            ])
            .args(["--host", &format!("unix://{}", at("socket"))])
            .stdout(log.try_clone().expect("a log"))
            .stderr(log);
        let daemon = daemon.spawn().expect("a daemon");
        let client = script(
            &folder.path().join("client"),
            &format!(
                "export DOCKER_HOST=unix://{}\nexec docker \"$@\"",
                at("socket")
            ),
        );
        let docker = Self {
            daemon,
            folder,
            client,
        };
        let begun = Instant::now();
        while !said(program(&docker.client).arg("version")).0 {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "dockerd does not answer: {}",
                std::fs::read_to_string(at("log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        import(&docker.client, &[]);
        docker
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        // It ends its containerd, and what both have mounted.
        let asked = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.daemon),
            rustix::process::Signal::TERM,
        );
        let ended = self.daemon.wait();
        if asked.is_err() || ended.is_err() {
            eprintln!("dockerd in {} may live on", self.folder.path().display());
        }
    }
}

/// Whether a client's call succeeded, and what it printed.
pub fn said(command: &mut std::process::Command) -> (bool, String) {
    let output = command.output().expect("a client");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn needs(name: &str, packages: &str) {
    let there = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join(name).is_file());
    assert!(
        there,
        "'{name}' is not here: install {packages} (Debian's names) and run as root"
    );
}

/// Gives an engine the image.
fn import(client: &Path, arguments: &[&str]) {
    let files = files();
    let mut pack = program("tar");
    pack.args([
        "--create",
        "--ignore-failed-read",
        "--dereference",
        "--hard-dereference",
        "--exclude=__pycache__",
        "--exclude=test",
    ])
    .args(["--files-from", "-"])
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::null());
    let mut packing = pack.spawn().expect("tar");
    let list = files.iter().cloned().collect::<Vec<_>>().join("\n");
    let mut input = packing.stdin.take().expect("its input");
    let writing = std::thread::spawn(move || {
        use std::io::Write as _;
        input.write_all(list.as_bytes())
    });
    let tar = packing.stdout.take().expect("its output");
    let imported = said(
        program(client)
            .arg("import")
            .args(arguments)
            .args(["-", IMAGE])
            .stdin(tar),
    );
    writing.join().expect("a list").expect("a list");
    assert!(packing.wait().expect("tar").success());
    assert!(imported.0, "{}", imported.1);
}

/// Programs, what they load, and python's own library.
fn files() -> BTreeSet<String> {
    let (ok, listed) = said(program("bash").args([
        "-c",
        "shopt -s nullglob; ls -d /usr/lib/python3.*; dpkg -L coreutils | grep -E '^(/usr)?/bin/.'",
    ]));
    assert!(ok, "{listed}");
    let mut files: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    files.extend(PROGRAMS.iter().map(|name| format!("/usr/bin/{name}")));
    files.insert("/bin/bash".to_owned());
    let programs: Vec<String> = files
        .iter()
        .filter(|path| Path::new(path).is_file())
        .cloned()
        .collect();
    let more = said(program("bash").args(["-c", "ls /usr/lib/python3.*/lib-dynload/*.so"])).1;
    let (_, loads) = said(program("ldd").args(programs).args(more.lines()));
    files.extend(
        loads
            .split_whitespace()
            .filter(|word| word.starts_with('/') && word.contains(".so"))
            .map(str::to_owned),
    );
    files
}
