//! Family M: many commands, and a big host.

use std::time::{Duration, Instant};

use toolgate::shell::{Command, Sandbox, Settings};

use crate::helper;
use crate::output::resident;
use crate::place::{SLACK, exit, made};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("descriptors")
        .count()
}

fn zombies() -> usize {
    let own = format!("PPid:\t{}\n", std::process::id());
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let statuses =
        entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
    statuses
        .filter(|status| status.contains("State:\tZ") && status.contains(&own))
        .count()
}

#[test]
fn m01_fifty_at_once_leave_nothing() {
    helper::alone("many::m01_alone");
}

#[tokio::test]
#[ignore = "counted in a process of its own"]
async fn m01_alone() {
    let shell = std::sync::Arc::new(made(Settings::default()).expect("settings"));
    let run = |number: usize, dropped: bool| {
        let shell = std::sync::Arc::clone(&shell);
        async move {
            let line = format!("echo {number}; sleep 0.2");
            let running = shell.start(Command::new(line), &Sandbox::default()).await;
            let running = running.expect("a start");
            if dropped {
                drop(running);
            } else {
                let ended = running.wait().await;
                assert_eq!(
                    (ended.outcome, ended.output.text),
                    (exit(0), format!("{number}\n"))
                );
            }
        }
    };
    run(0, false).await;
    let before = descriptors();
    for dropped in [false, true] {
        let all: Vec<_> = (0..50)
            .map(|number| tokio::spawn(run(number, dropped)))
            .collect();
        for one in all {
            one.await.expect("a run");
        }
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    run(0, false).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!((descriptors(), zombies()), (before, 0));
}

#[test]
fn m02_many_in_a_row_leave_nothing() {
    helper::alone("many::m02_alone");
}

#[tokio::test]
#[ignore = "counted in a process of its own"]
async fn m02_alone() {
    let shell = made(Settings::default()).expect("settings");
    let mut before = (0, 0);
    let begun = Instant::now();
    for number in 0..300 {
        let running = shell.start(Command::new("true"), &Sandbox::default()).await;
        assert_eq!(running.expect("a start").wait().await.outcome, exit(0));
        if number == 50 {
            before = (descriptors(), resident());
        }
    }
    let after = (descriptors(), resident());
    println!(
        "measured: m02 {:?} a command, {before:?} to {after:?}",
        begun.elapsed() / 300
    );
    assert_eq!(after.0, before.0);
    assert!(after.1 < before.1 + 2_048, "{before:?} {after:?}");
}

#[test]
fn m03_a_big_host_starts_as_fast() {
    helper::alone("many::m03_alone");
}

#[tokio::test]
#[ignore = "measured in a process of its own"]
async fn m03_alone() {
    let big = vec![1_u8; 512 << 20];
    let shell = made(Settings::default()).expect("settings");
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        let running = shell.start(Command::new("true"), &Sandbox::default()).await;
        let running = running.expect("a start");
        times.push(begun.elapsed());
        running.wait().await;
    }
    times.sort();
    let median = times[times.len() / 2];
    println!(
        "measured: m03 {median:?} to start beside {} MiB",
        big.len() >> 20
    );
    // A copy of this process's tables alone takes 80 ms.
    assert!(median < Duration::from_millis(20) * SLACK, "{times:?}");
}
