//! What a process costs: `toolgate call Read` against `cat`, `toolgate list` by installed components; and what a live
//! instance costs in memory.
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

#[path = "../../tests/sandbox/fixture.rs"]
mod fixture;
mod measure;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use toolgate::Host;
use toolgate::model::RawCall;
use toolgate::runtime::ToolEngine;

/// Instances that live at once.
const LIVE: [u32; 2] = [200, 10_000];
/// How long they may take to begin.
const BEGINNING: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    process()?;
    listing()?;
    LIVE.into_iter().try_for_each(memory)
}

fn process() -> Result<(), Box<dyn std::error::Error>> {
    measure::head("A process, from start to result");
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("a.txt"), "one line\n")?;
    let state = tempfile::tempdir()?;
    let toolgate = || {
        run(Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args([
                "call",
                "Read",
                r#"{"file_path":"a.txt"}"#,
                "--no-user-config",
                "--state",
            ])
            .arg(state.path())
            .current_dir(folder.path()));
    };
    let cat = || run(Command::new("cat").arg("a.txt").current_dir(folder.path()));
    let (subject, reference) = measure::pair(50, toolgate, cat);
    measure::report("toolgate call Read", "cat", (subject, reference), "-");
    println!(
        "more than cat: {:.1?} (minimum) | goal 20 ms",
        subject.min.saturating_sub(reference.min)
    );
    Ok(())
}

/// `toolgate list` over 10 and over 1,000 installed components, all different.
fn listing() -> Result<(), Box<dyn std::error::Error>> {
    measure::head("toolgate list, by installed components");
    let (few, many) = (store_of(10)?, store_of(1_000)?);
    let list = |state: &tempfile::TempDir| {
        run(Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(["list", "--no-user-config", "--state"])
            .arg(state.path())
            .current_dir(state.path()));
    };
    let (subject, reference) = measure::pair(20, || list(&many), || list(&few));
    measure::report("1,000 installed", "10 installed", (subject, reference), "3");
    Ok(())
}

/// A state directory with so many installed components.
fn store_of(count: usize) -> Result<tempfile::TempDir, Box<dyn std::error::Error>> {
    use toolgate::store::{Choice, Fetched, Grants, Signed, Store};
    let state = tempfile::tempdir()?;
    let store = Store::open(state.path())?;
    let engine = toolgate::runtime::ToolEngine::new(1)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut candidates = Vec::new();
    for number in 0..count {
        let letters: String = format!("{number:04}")
            .bytes()
            .map(|digit| char::from(b"abcdefghjk"[usize::from(digit - b'0')]))
            .collect();
        let fixture = fixture::Fixture {
            name: format!("Tool{letters}"),
            ..fixture::Fixture::default()
        };
        let fetched = Fetched {
            bytes: fixture.text(),
            source: format!("/tools/{number}.wasm"),
            manifest: None,
            signed: Signed::Nobody,
        };
        let choice = Choice::default();
        let examined = runtime.block_on(store.examine(&engine, fetched, &choice))?;
        candidates.extend(examined.into_iter().map(|one| (one, Grants::Withhold)));
    }
    store.install(&candidates)?;
    Ok(state)
}

fn run(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("a program");
    assert!(status.success());
}

/// Instances of two guests that wait in the host, half of each: what one component may have is less than all.
fn memory(live: u32) -> Result<(), Box<dyn std::error::Error>> {
    println!("\nMemory of {live} live instances");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let folder = tempfile::tempdir()?;
    let begun = Arc::new(AtomicU32::new(0));
    let beginning = Arc::clone(&begun);
    let host = runtime.block_on(
        Host::builder(folder.path())
            .state_dir(folder.path().join("state"))
            .engine(ToolEngine::new(live)?)
            .component("sleeps", toolgate_artifacts::SLEEPS_IN_HOST_WAIT.to_vec())
            .component("waits", toolgate_artifacts::WAITS_IN_HOST.to_vec())
            .on_progress(Arc::new(move |_, _, _, _| {
                beginning.fetch_add(1, Ordering::Relaxed);
            }))
            .build(),
    )?;
    let host = Arc::new(host);
    let before = Memory::now()?;
    let calls: Vec<_> = (0..live)
        .map(|number| {
            let raw = match number % 2 {
                0 => RawCall::new("SleepsInHostWait", "{}"),
                _ => RawCall::new("WaitsInHost", r#"{"how":"clock"}"#),
            };
            let host = Arc::clone(&host);
            runtime.spawn(async move { host.call(raw).await })
        })
        .collect();
    let until = Instant::now() + BEGINNING;
    while begun.load(Ordering::Relaxed) < live && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let after = Memory::now()?;
    let mappings = std::fs::read_to_string("/proc/self/maps")?.lines().count();
    let begun = begun.load(Ordering::Relaxed);
    assert_eq!(begun, live, "so many began within {BEGINNING:?}");
    println!("{mappings} mappings of the process");
    println!(
        "{} KiB each of their own | goal 64 KiB",
        after.own.saturating_sub(before.own) / live
    );
    println!(
        "{} KiB each mapped: the pages of the component's memory that all of them share are in each",
        after.mapped.saturating_sub(before.mapped) / live
    );
    for call in calls {
        call.abort();
    }
    Ok(())
}

/// Memory of this process, KiB.
struct Memory {
    /// A page that several mappings share counts once (`Pss`).
    own: u32,
    /// A page counts in each mapping (`Rss`).
    mapped: u32,
}

impl Memory {
    fn now() -> Result<Self, Box<dyn std::error::Error>> {
        let rollup = std::fs::read_to_string("/proc/self/smaps_rollup")?;
        let line = |name: &str| -> Result<u32, Box<dyn std::error::Error>> {
            let line = rollup.lines().find(|line| line.starts_with(name));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            Ok(number.ok_or("a number")?.parse()?)
        };
        Ok(Self {
            own: line("Pss:")?,
            mapped: line("Rss:")?,
        })
    }
}
