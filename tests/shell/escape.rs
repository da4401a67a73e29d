//! Family F: trees that do not want to end.

use std::time::{Duration, Instant};

use crate::adversary::Adversary;
use crate::place::{Place, SLACK, exit, timed_out, with_timeout};

async fn dies_at_the_deadline(manner: &str, count: u32) {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let line = Adversary::line(manner, count, true);
    let (ended, took) = place.timed(&line, 1_000).await;
    assert_eq!(ended.outcome, timed_out(1_000));
    adversary.is_dead(&ended).await;
    assert!(took < Duration::from_secs(2) * SLACK, "{took:?}");
    println!(
        "{manner} x{count}: dead {:?} after the deadline",
        took - Duration::from_secs(1)
    );
}

#[tokio::test]
async fn f01_children() {
    dies_at_the_deadline("plain", 5).await;
}

#[tokio::test]
async fn f02_children_that_ignore_signals() {
    dies_at_the_deadline("ignterm", 5).await;
}

#[tokio::test]
async fn f03_daemons() {
    dies_at_the_deadline("dsetsid", 5).await;
}

#[tokio::test]
async fn f04_daemons_born_late() {
    dies_at_the_deadline("late", 2).await;
}

#[tokio::test]
async fn f05_comets() {
    dies_at_the_deadline("comet", 3).await;
}

#[tokio::test]
async fn f06_comets_with_sessions() {
    dies_at_the_deadline("scomet", 3).await;
}

#[tokio::test]
async fn f07_a_subreaper_inside() {
    dies_at_the_deadline("subreap", 5).await;
}

#[tokio::test]
async fn f08_a_comet_left_behind() {
    let place = Place::new();
    let adversary = Adversary::new(&place);
    let ended = place.run(&Adversary::line("scomet", 1, false)).await;
    assert_eq!(ended.outcome, exit(0), "{ended:?}");
    adversary.is_dead(&ended).await;
    let text = ended.text();
    assert!(ended.background_killed > 0, "{text}");
}

#[tokio::test]
async fn f09_killing_everything() {
    let ended = Place::new().run("sleep 60 & kill -9 -1; echo alone").await;
    assert_eq!(
        (ended.outcome, ended.output.text.as_str()),
        (exit(0), "alone\n")
    );
}

#[tokio::test]
async fn f10_a_thousand_sleepers() {
    // A number that nobody else sleeps for.
    let sleep = format!("{}", 100_000 + std::process::id());
    let line = format!("for i in $(seq 900); do sleep {sleep} & done; echo all; wait");
    let (ended, _) = Place::new().timed(&line, 10_000).await;
    assert_eq!(ended.outcome, timed_out(10_000));
    assert!(ended.output.text.ends_with("all\n"), "{ended:?}");
    let cmdline = format!("sleep\0{sleep}\0");
    let left = std::fs::read_dir("/proc").expect("processes").flatten();
    let left = left.filter(|entry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == cmdline.as_bytes())
    });
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn f11_orphans_are_buried() {
    let line = "for i in $(seq 50); do (sleep .01 &); done; sleep 1; cat /proc/[0-9]*/stat | grep -c ') Z'";
    let ended = Place::new().run(line).await;
    assert_eq!(
        (ended.outcome, ended.output.text.as_str()),
        (exit(1), "0\n")
    );
}

#[tokio::test]
async fn f12_only_its_own_processes_are_seen() {
    let ended = Place::new().run("echo /proc/[0-9]*").await;
    assert_eq!(ended.output.text, "/proc/1 /proc/2\n");
}

#[tokio::test]
async fn f13_many_comets() {
    dies_at_the_deadline("scomet", 64).await;
}

#[tokio::test]
async fn f14_a_fork_bomb() {
    let place = Place::new();
    let bomb = place
        .start(with_timeout(":(){ :|:& };: ; sleep 60", 3_000))
        .await;
    let bomb = bomb.expect("a start");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    let other = Place::new().run("echo here").await;
    let took = begun.elapsed();
    assert_eq!(other.output.text, "here\n");
    assert!(took < Duration::from_secs(2) * SLACK, "{took:?}");
    let ended = bomb.wait().await;
    assert_eq!(ended.outcome, timed_out(3_000));
    let text = &ended.output.text;
    assert!(text.contains("Resource temporarily unavailable"), "{text}");
    assert_eq!(ended.kill_incomplete, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_the_thread_that_starts_may_end() {
    let place = Place::new();
    let runtime = tokio::runtime::Handle::current();
    let running = std::thread::scope(|scope| {
        let started = scope
            .spawn(|| runtime.block_on(place.start(with_timeout("sleep 2; echo lives", 20_000))));
        started.join().expect("the thread")
    });
    let ended = running.expect("a start").wait().await;
    assert_eq!(
        (ended.outcome, ended.output.text.as_str()),
        (exit(0), "lives\n")
    );
}
