//! What a command costs through the bridge: against the bare system, and against bubblewrap with the same promises; how fast
//! trees die; and what much output, many commands at once and many in a row take of the host.
//!
//! The host is as big as one that runs guests: 512 MiB are resident, which any way to start a process by copying it pays for.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "a bench prints figures, starts its references, and stops at the first surprise"
)]

mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toolgate::Host;
use toolgate::config::{Config, ShellSetting};
use toolgate::model::{Ending, RawCall};
use toolgate::policy::{Decision, Rule};
use toolgate::shell::{CommandEnd, Ended, LocalShell, Sandbox, Settings, Shell as _};

type Failure = Box<dyn std::error::Error>;

/// The shell as the bridge starts it.
const BASH: [&str; 5] = ["/bin/bash", "--norc", "--noprofile", "-c", "true"];
/// Runs of each, in turn.
const RUNS: usize = 200;
/// Commands at once.
const AT_ONCE: usize = 50;
/// Commands in a row.
const IN_A_ROW: usize = 1_000;

/// Two hosts of the same commands: the bridge alone, and all of Toolgate.
struct Bench {
    runtime: Runtime,
    shell: LocalShell,
    sandbox: Sandbox,
    host: Host,
    ws: PathBuf,
    bwrap: PathBuf,
}

fn main() -> Result<(), Failure> {
    let (bwrap, version) = bubblewrap_here()?;
    let resident = vec![1_u8; 512 << 20];
    let folder = tempfile::tempdir_in("/var/tmp")?;
    let bench = Bench::new(folder.path(), bwrap)?;
    println!(
        "{version}, as {}, beside {} MiB resident",
        if rustix::process::geteuid().is_root() {
            "root"
        } else {
            "an ordinary user"
        },
        resident.iter().filter(|byte| **byte == 1).count() >> 20
    );
    bench.start();
    bench.kill()?;
    bench.output()?;
    bench.at_once();
    bench.in_a_row()?;
    drop(resident);
    Ok(())
}

/// Where bubblewrap is, and its version. By its whole path, since a program that has to be looked for is started by copying
/// this process.
fn bubblewrap_here() -> Result<(PathBuf, String), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bwrap = std::env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .find(|bwrap| bwrap.is_file())
        .ok_or("there is no bwrap in PATH, and without it there is nothing to compare with: install bubblewrap")?;
    let output = Command::new(&bwrap).arg("--version").output()?;
    Ok((bwrap, String::from_utf8(output.stdout)?.trim().to_owned()))
}

/// Starts a reference, reads both of its streams and waits for it: no more and no less than the bridge has to do.
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).env_clear().output();
    let output = output.expect("a program");
    assert!(output.status.success(), "{output:?}");
}

fn plain() {
    run(Command::new(BASH[0]).args(&BASH[1..]));
}

/// What the bridge promises, as far as bubblewrap can: it has no second layer here, neither Landlock nor a filter of calls.
fn bubblewrap(bwrap: &Path, ws: &Path) -> Command {
    let mut command = Command::new(bwrap);
    command
        .args(["--unshare-user", "--unshare-pid", "--unshare-ipc"])
        .args(["--unshare-net", "--unshare-uts", "--unshare-cgroup-try"])
        .args(["--die-with-parent", "--new-session", "--cap-drop", "ALL"])
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--ro-bind", "/proc/sys", "/proc/sys"])
        .args(["--tmpfs", "/tmp", "--tmpfs", "/run", "--bind"])
        .args([ws, ws])
        .arg("--chdir")
        .arg(ws)
        .arg("--")
        .args(BASH);
    command
}

impl Bench {
    fn new(folder: &Path, bwrap: PathBuf) -> Result<Self, Failure> {
        let ws = folder.join("ws");
        fs::create_dir(&ws)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let config = Config {
            shell: ShellSetting::local(),
            rules: vec![Rule::parse(Decision::Allow, "Bash", Path::new("bench"), 0)?],
            ..Config::default()
        };
        let host = Host::builder(&ws)
            .config(config)
            .state_dir(folder.join("state"))
            .build();
        Ok(Self {
            host: runtime.block_on(host)?,
            shell: LocalShell::new(Settings::default())?,
            sandbox: Sandbox::new(vec![ws.clone()], None),
            runtime,
            ws,
            bwrap,
        })
    }

    async fn command(&self, line: &str, timeout: Duration) -> Ended {
        let mut command = toolgate::shell::Command::new(line);
        command.timeout = Some(timeout);
        let running = self.shell.start(command, &self.sandbox).await;
        running.expect("a start").wait().await
    }

    async fn works(&self, line: &str) {
        let ended = self.command(line, Duration::from_secs(60)).await;
        assert_eq!(ended.outcome, CommandEnd::Exit { code: 0 }, "{ended:?}");
    }

    async fn call(&self, line: &str) {
        let input = serde_json::json!({ "command": line }).to_string();
        let outcome = self.host.call(RawCall::new("Bash", input)).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{:?}",
            outcome.ending
        );
    }

    fn start(&self) {
        measure::head("bash -c true, from the start to the end of its tree");
        let bridge = || self.runtime.block_on(self.works("true"));
        let host = || self.runtime.block_on(self.call("true"));
        let bwrap = || run(&mut bubblewrap(&self.bwrap, &self.ws));
        for (what, subject) in [
            ("the bridge", &bridge as &dyn Fn()),
            ("Host::call of Bash", &host),
        ] {
            measure::report(
                what,
                "posix_spawn",
                measure::pair(RUNS, subject, plain),
                "-",
            );
            measure::report(
                what,
                "bubblewrap",
                measure::pair(RUNS, subject, bwrap),
                "0.80",
            );
        }
        measure::report(
            "bubblewrap",
            "posix_spawn",
            measure::pair(RUNS, bwrap, plain),
            "-",
        );
    }

    fn kill(&self) -> Result<(), Failure> {
        println!("\nThe end of a tree, from the wish to its last process");
        fs::write(self.ws.join("racers.py"), RACERS)?;
        for (racers, what) in [
            (0, "a sleeping shell"),
            (64, "64 racers, each hop a session"),
        ] {
            let mut times = Vec::new();
            for _ in 0..20 {
                times.push(self.runtime.block_on(self.killed(racers)));
            }
            times.sort();
            println!(
                "{what:<34} minimum {:>8.1?}, median {:>8.1?}, maximum {:>8.1?}",
                times[0],
                times[times.len() / 2],
                times[times.len() - 1]
            );
        }
        Ok(())
    }

    async fn killed(&self, racers: u32) -> Duration {
        let beat = self.ws.join("beat");
        if beat.exists() {
            fs::remove_file(&beat).expect("the file");
        }
        let line = format!("exec /usr/bin/python3 racers.py {racers}");
        let mut command = toolgate::shell::Command::new(line);
        command.timeout = Some(Duration::from_secs(30));
        let running = self.shell.start(command, &self.sandbox).await;
        let running = running.expect("a start");
        while !beat.exists() {
            assert!(!running.has_ended(), "/usr/bin/python3 does not run");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let begun = Instant::now();
        running.kill();
        let ended = running.wait().await;
        let took = begun.elapsed();
        assert_eq!(ended.outcome, CommandEnd::Cancelled);
        assert_eq!(ended.kill_incomplete, None);
        took
    }

    fn output(&self) -> Result<(), Failure> {
        println!("\nMuch output, and the most memory that it takes of the host");
        self.runtime.block_on(self.works("true"));
        for bytes in [10_000_000_u64, 1_000_000_000] {
            // From here on the peak is counted anew.
            fs::write("/proc/self/clear_refs", "5")?;
            let before = status("VmHWM:")?;
            let line = format!("head -c {bytes} /dev/zero | tr '\\0' x");
            let begun = Instant::now();
            let ended = self
                .runtime
                .block_on(self.command(&line, Duration::from_secs(300)));
            let took = begun.elapsed();
            assert_eq!(ended.output.bytes, bytes);
            println!(
                "{:>6} MB: {:>6.0} MB/s, peak {} KiB more than before",
                bytes / 1_000_000,
                bytes as f64 / 1e6 / took.as_secs_f64(),
                status("VmHWM:")?.saturating_sub(before)
            );
        }
        Ok(())
    }

    fn at_once(&self) {
        measure::head(&format!("{AT_ONCE} commands at once"));
        let bridge = || {
            self.runtime.block_on(async {
                let all = (0..AT_ONCE).map(|_| self.works("true"));
                futures::future::join_all(all).await;
            });
        };
        let host = || {
            self.runtime.block_on(async {
                let all = (0..AT_ONCE).map(|_| self.call("true"));
                futures::future::join_all(all).await;
            });
        };
        let bwrap = || {
            std::thread::scope(|scope| {
                for _ in 0..AT_ONCE {
                    scope.spawn(|| run(&mut bubblewrap(&self.bwrap, &self.ws)));
                }
            });
        };
        measure::report(
            "the bridge",
            "bubblewrap",
            measure::pair(10, bridge, bwrap),
            "0.80",
        );
        measure::report(
            "Host::call of Bash",
            "bubblewrap",
            measure::pair(10, host, bwrap),
            "0.80",
        );
    }

    fn in_a_row(&self) -> Result<(), Failure> {
        println!("\n{IN_A_ROW} commands in a row: what is left of them in the host");
        // What is made once is made before.
        for _ in 0..50 {
            self.runtime.block_on(self.call("true"));
        }
        let before = Held::now()?;
        for _ in 0..IN_A_ROW {
            self.runtime.block_on(self.call("true"));
        }
        let after = Held::now()?;
        println!("before {before:?}\nafter  {after:?}");
        assert_eq!(
            (before.descriptors, before.children),
            (after.descriptors, after.children)
        );
        Ok(())
    }
}

/// What a host holds.
#[derive(Debug)]
struct Held {
    descriptors: usize,
    children: usize,
    resident_kib: u64,
}

impl Held {
    fn now() -> Result<Self, Failure> {
        let own = format!(" {} ", std::process::id());
        let processes = fs::read_dir("/proc")?.flatten();
        let stats =
            processes.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        // State and parent stand behind the name, which is in parentheses.
        let of_this = |stat: &String| {
            stat.rsplit_once(')')
                .is_some_and(|(_, rest)| rest[2..].starts_with(&own))
        };
        Ok(Self {
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            children: stats.filter(of_this).count(),
            resident_kib: status("VmRSS:")?,
        })
    }
}

/// A line of this process's status, KiB.
fn status(line: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|found| found.strip_prefix(line));
    let number = found.and_then(|rest| rest.split_whitespace().next());
    Ok(number.ok_or("no such line")?.parse()?)
}

/// Processes that fork, leave their session and end, without rest; one stays.
const RACERS: &str = "
import os, sys, time
end = time.monotonic() + 20
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while time.monotonic() < end:
            try:
                if os.fork() != 0:
                    os._exit(0)
            except OSError:
                continue
            os.setsid()
        os._exit(0)
open('beat', 'w').close()
while time.monotonic() < end:
    time.sleep(0.01)
";
