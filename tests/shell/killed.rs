//! D09 many times over: a host that is killed at any moment leaves nothing of its commands.
//!
//! Each trial starts a host of its own, lets it run commands and a background task whose processes do all they can to be
//! left alone, kills the host, and looks for anything that still lives: by the heart that beats into a file, by the
//! processes' own command lines, and by the launchers that were children of the host.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate::Host;
use toolgate::config::{Config, ShellSetting};
use toolgate::model::RawCall;
use toolgate::policy::{Decision, Rule};

use crate::helper;
use crate::place::{Place, length};

const TRIALS: usize = 100;
/// Trials that go on at once: most of a trial is waiting.
const AT_ONCE: usize = 4;
/// No step of a trial takes longer.
const LONGEST: Duration = Duration::from_secs(30);
/// How long what was killed may take to be gone.
const DYING: Duration = Duration::from_secs(4);
/// How long a heart is watched afterwards.
const WATCHED: Duration = Duration::from_millis(150);

/// Beats until it is ended, or for ten seconds. Ignores what asks it to end.
const BEATS: &str = "trap '' TERM INT HUP\n\
                     for i in $(seq 500); do [ -e stop ] && exit; printf . >> beat; sleep .02; done\n";
/// Starts itself anew, each time in a session of its own, and ends.
const COMET: &str = "printf . >> beat; [ -e stop ] && exit\n\
                     [ $1 -gt 0 ] && setsid bash comet.sh $(($1 - 1)) $2 & exit 0\n";

/// What the host runs: two commands that it waits for, and one that it does not. `MARK` tells whose they are.
const COMMANDS: [(&str, bool); 3] = [
    (
        "nohup bash beats.sh MARK & disown; (setsid bash beats.sh MARK &); bash comet.sh 300 MARK; sleep 20; : MARK",
        false,
    ),
    (
        "(trap '' TERM; (setsid bash beats.sh MARK &) &); exec bash beats.sh MARK",
        false,
    ),
    ("setsid bash comet.sh 300 MARK; bash beats.sh MARK", true),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a host for other tests"]
async fn as_a_busy_host() {
    let ws = std::env::var("TOOLGATE_TEST_WS").expect("a workspace");
    let mark = std::env::var("TOOLGATE_TEST_MARK").expect("a mark");
    let rule = Rule::parse(Decision::Allow, "Bash", Path::new("test.toml"), 1);
    let config = Config {
        shell: ShellSetting::local(),
        rules: vec![rule.expect("a rule")],
        ..Config::default()
    };
    let host = Host::builder(&ws)
        .config(config)
        .state_dir(std::env::var_os("TOOLGATE_TEST_STATE").expect("a folder"))
        .engine(toolgate_tests::engine().clone())
        .build()
        .await
        .expect("a host");
    std::fs::write(Path::new(&ws).join("ready"), "").expect("a file");
    let calls = COMMANDS.map(|(line, in_background)| {
        let input = json!({
            "command": line.replace("MARK", &mark),
            "run_in_background": in_background,
            "timeout": 20_000,
        });
        let host = host.clone();
        tokio::spawn(async move { host.call(RawCall::new("Bash", input.to_string())).await })
    });
    for call in calls {
        call.await.expect("a call");
    }
    // The test kills this process long before.
    tokio::time::sleep(LONGEST).await;
}

#[test]
fn d09_a_killed_host_leaves_no_survivor_in_a_hundred_trials() {
    let (next, alive) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < TRIALS {
                    let lived = trial();
                    alive.fetch_add(usize::from(lived), Ordering::Relaxed);
                }
            });
        }
    });
    let alive = alive.into_inner();
    println!("measured: d09 {TRIALS} hosts killed, {alive} of them with a living tree");
    // Some are killed before anything runs, which is a moment like others; most must not be.
    assert!(alive >= TRIALS / 2, "{alive}");
}

/// Kills one host. Whether something had lived.
fn trial() -> bool {
    let place = Place::new();
    place.file("beats.sh", BEATS);
    place.file("comet.sh", COMET);
    let chance = RandomState::new().hash_one(std::process::id());
    let mark = format!("mark-{chance:016x}");
    let mut host = Killed(start(&place, &mark));
    let beat = place.ws.join("beat");
    // Half of them while their commands start, half of them while all of them run.
    let (until, most) = if chance.is_multiple_of(2) {
        (place.ws.join("ready"), 60)
    } else {
        (beat.clone(), 200)
    };
    wait(|| until.exists(), "the host did not come so far");
    let delay = Duration::from_micros((chance >> 8) % (most * 1_000));
    std::thread::sleep(delay);
    let launchers = children(host.0.id());
    host.end();
    let gone = || living(&mark).is_empty() && !launchers.iter().any(Process::lives);
    let begun = Instant::now();
    while !gone() {
        let left = living(&mark);
        assert!(
            begun.elapsed() < DYING,
            "alive after {delay:?} and a kill: {left:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let before = length(&beat);
    std::thread::sleep(WATCHED);
    assert_eq!(length(&beat), before, "something still beats, {delay:?}");
    assert!(living(&mark).is_empty(), "something came back, {delay:?}");
    place.file("stop", "");
    before > 0
}

fn start(place: &Place, mark: &str) -> Child {
    helper::this_program("killed::as_a_busy_host")
        .env("TOOLGATE_TEST_WS", &place.ws)
        .env("TOOLGATE_TEST_STATE", place.outside.join("state"))
        .env("TOOLGATE_TEST_MARK", mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a host")
}

/// A host that does not outlive its trial, however that ends.
struct Killed(Child);

impl Killed {
    fn end(&mut self) {
        self.0.kill().expect("a kill");
        self.0.wait().expect("its end");
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        // A trial that failed half-way; of one that did not, there is nothing left to end.
        drop((self.0.kill(), self.0.wait()));
    }
}

fn wait(mut so_far: impl FnMut() -> bool, otherwise: &str) {
    let begun = Instant::now();
    while !so_far() {
        assert!(begun.elapsed() < LONGEST, "{otherwise}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A process, by its number and when it began: numbers are used again.
#[derive(Debug)]
struct Process {
    id: u32,
    began: String,
}

impl Process {
    /// Whether it is there and not only waits to be buried.
    fn lives(&self) -> bool {
        stat(self.id).is_some_and(|[state, _, began]| state != "Z" && began == self.began)
    }
}

/// State, parent and beginning of a process.
fn stat(id: u32) -> Option<[String; 3]> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some([0, 1, 19].map(|at| fields[at].to_owned()))
}

fn ids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The children of a process: of a host, its launchers.
fn children(parent: u32) -> Vec<Process> {
    let parent = parent.to_string();
    let of_parent = |id| {
        let [_, of, began] = stat(id)?;
        (of == parent).then_some(Process { id, began })
    };
    ids().filter_map(of_parent).collect()
}

/// Processes that carry the mark. The host itself does not.
fn living(mark: &str) -> BTreeSet<u32> {
    let carries = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let zombie = stat(*id).is_none_or(|[state, ..]| state == "Z");
        !zombie && String::from_utf8_lossy(&line).contains(mark)
    };
    ids().filter(carries).collect()
}
