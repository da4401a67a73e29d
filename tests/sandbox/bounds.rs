//! Bounds: time, fuel, memory, stack, handles; and what is left when one of them ended a guest.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use toolgate::config::LimitSetting;
use toolgate::model::{Ending, Stop};
use toolgate::runtime::ToolEngine;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{
    CEILING, Guest, beside, bounded, host, host_in, neighbour, one_second, stop, trap,
};

const LOOPS_FOREVER: Guest = ("LoopsForever", guests::LOOPS_FOREVER);

#[tokio::test]
pub async fn loops_forever() {
    let host = host(LOOPS_FOREVER, bounded("LoopsForever", one_second())).await;
    let outcome = beside(&host, "LoopsForever", json!({})).await;
    let limit = Duration::from_secs(1);
    assert_eq!(stop(&outcome), &Stop::WallClock { limit });
    assert_eq!(
        outcome.ending.text(),
        "The tool was ended by its deadline of 1000 ms (limits.timeout_ms)."
    );
    assert!(outcome.usage.wall >= limit);
    assert!(outcome.usage.fuel > 0);
}

#[tokio::test]
async fn a_guest_that_computes_is_ended_by_its_fuel() {
    let low = LimitSetting {
        fuel: Some(1_000_000.into()),
        ..LimitSetting::default()
    };
    let host = host(LOOPS_FOREVER, bounded("LoopsForever", low)).await;
    let outcome = beside(&host, "LoopsForever", json!({})).await;
    assert_eq!(stop(&outcome), &Stop::Fuel { limit: 1_000_000 });
    assert_eq!(
        outcome.ending.text(),
        "The tool used up its fuel of 1000000 instructions (limits.fuel)."
    );
    assert_eq!(outcome.usage.fuel, 1_000_000);
}

#[tokio::test]
pub async fn sleeps_in_host_wait() {
    let guest = ("SleepsInHostWait", guests::SLEEPS_IN_HOST_WAIT);
    let host = host(guest, bounded("SleepsInHostWait", one_second())).await;
    let outcome = beside(&host, "SleepsInHostWait", json!({})).await;
    let limit = Duration::from_secs(1);
    assert_eq!(stop(&outcome), &Stop::WallClock { limit });
}

#[tokio::test]
pub async fn eats_memory() {
    let limit = LimitSetting {
        memory_mib: Some(32.into()),
        ..LimitSetting::default()
    };
    let host = host(
        ("EatsMemory", guests::EATS_MEMORY),
        bounded("EatsMemory", limit),
    )
    .await;
    let outcome = beside(&host, "EatsMemory", json!({})).await;
    assert_eq!(stop(&outcome), &Stop::Memory { limit: 32 << 20 });
    assert_eq!(
        outcome.ending.text(),
        "The tool reached its memory limit of 32 MiB (limits.memory_mib)."
    );
    assert!(
        outcome.usage.memory <= 32 << 20,
        "{} bytes were held",
        outcome.usage.memory
    );
    assert!(
        outcome.usage.memory > 16 << 20,
        "only {} bytes were held",
        outcome.usage.memory
    );
}

#[tokio::test]
pub async fn overflows_stack() {
    let host = host(
        ("OverflowsStack", guests::OVERFLOWS_STACK),
        Setup::default(),
    )
    .await;
    let outcome = beside(&host, "OverflowsStack", json!({})).await;
    assert_eq!(stop(&outcome), &Stop::Stack);
    assert_eq!(outcome.ending.text(), "The tool used up its stack.");
}

#[tokio::test]
pub async fn traps() {
    let host = host(("Traps", guests::TRAPS), Setup::default()).await;
    for how in ["panic", "abort"] {
        let outcome = beside(&host, "Traps", json!({ "how": how })).await;
        assert!(
            trap(&outcome).contains("unreachable"),
            "{:?}",
            outcome.ending
        );
        let text = outcome.ending.text();
        assert!(text.starts_with("The tool crashed: "), "{text}");
        assert!(
            !text.contains("the guest's own words") && !text.contains(".rs"),
            "{text}"
        );
        let said = outcome
            .log
            .iter()
            .any(|line| line.starts_with("stderr: ") && line.contains("the guest's own words"));
        assert_eq!(said, how == "panic", "{:?}", outcome.log);
    }
}

#[tokio::test]
pub async fn exits() {
    let host = host(("Exits", guests::EXITS), Setup::default()).await;
    for code in [0, 3] {
        let outcome = beside(&host, "Exits", json!({ "code": code })).await;
        let cause = trap(&outcome);
        assert!(cause.starts_with("it left with exit code "), "{cause}");
        assert!(cause.ends_with(" instead of answering"), "{cause}");
    }
}

#[tokio::test]
pub async fn leaks_handles() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "a");
    let guest = ("LeaksHandles", guests::LEAKS_HANDLES);
    let host = host_in(scratch, guest, Setup::default(), |builder| builder).await;
    for what in ["std_file", "host_file", "walker"] {
        let few = json!({ "what": what, "path": "/ws/a.txt", "times": 10 });
        assert_eq!(host.done("LeaksHandles", few).await, "all are open");
        let input = json!({ "what": what, "path": "/ws/a.txt", "times": 1_000_000 });
        let outcome = beside(&host, "LeaksHandles", input).await;
        match &outcome.ending {
            Ending::Stopped(Stop::Handles { limit: 1_000 }) | Ending::Failed(_) => {}
            other => panic!("{what}: a million handles were given: {other:?}"),
        }
        let read = host.done("Read", json!({ "file_path": "/ws/a.txt" })).await;
        assert!(read.contains('a'), "{what}: {read}");
    }
}

/// A guest that holds every handle it may have leaves enough to its neighbours.
#[tokio::test]
async fn a_guest_that_holds_many_handles_starves_nobody() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "a");
    let holding = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&holding);
    let guest = ("LeaksHandles", guests::LEAKS_HANDLES);
    let host = host_in(scratch, guest, Setup::default(), |builder| {
        builder.on_progress(Arc::new(move |_, _, _, _| held.add_permits(1)))
    })
    .await;
    let input =
        json!({ "what": "host_file", "path": "/ws/a.txt", "times": 900, "hold_ms": 3_600_000 });
    let leaking = host.call("LeaksHandles", input);
    let neighbours = async {
        holding.acquire().await.expect("never closed").forget();
        for _ in 0..3 {
            let read = host.done("Read", json!({ "file_path": "/ws/a.txt" })).await;
            assert!(read.contains('a'), "{read}");
        }
        neighbour(&host, 1).await;
    };
    let first = async {
        tokio::select! {
            outcome = leaking => panic!("the guest did not hold its handles: {:?}", outcome.ending),
            () = neighbours => {}
        }
    };
    tokio::time::timeout(CEILING, first)
        .await
        .expect("the neighbours answer");
}

/// Waits until a guest says by its progress that it runs, then drops its call.
async fn start_and_drop(host: &TestHost, started: &Semaphore) {
    let call = host.call("LoopsForever", json!({}));
    let running = async { started.acquire().await.expect("never closed").forget() };
    let until_running = async {
        tokio::select! {
            outcome = call => panic!("the guest ended by itself: {:?}", outcome.ending),
            () = running => {}
        }
    };
    tokio::time::timeout(CEILING, until_running)
        .await
        .expect("the guest starts");
}

#[tokio::test]
async fn a_dropped_call_ends_the_guest_and_leaves_one_record() {
    let started = Arc::new(Semaphore::new(0));
    let starting = Arc::clone(&started);
    // One instance at a time: a guest that goes on running would keep the next call out.
    let engine = ToolEngine::new(1).expect("an engine");
    let host = host_in(Scratch::new(), LOOPS_FOREVER, Setup::default(), |builder| {
        builder
            .engine(engine)
            .on_progress(Arc::new(move |_, _, _, _| starting.add_permits(1)))
    })
    .await;
    for round in 1..=3 {
        start_and_drop(&host, &started).await;
        neighbour(&host, 1).await;
        let records = host.journal.records();
        let dropped: Vec<_> = records
            .iter()
            .filter(|record| record["tool"] == "LoopsForever")
            .collect();
        assert_eq!(dropped.len(), round, "one record for each dropped call");
        let record = dropped.last().expect("a record");
        assert_eq!(record["ending"], "stopped");
        assert_eq!(record["detail"]["bound"], "cancelled");
    }
}

/// While a guest computes without yielding, its neighbour on the same thread comes to its end.
#[tokio::test(flavor = "current_thread")]
async fn a_neighbour_on_the_same_thread_goes_on() {
    let started = Arc::new(Semaphore::new(0));
    let starting = Arc::clone(&started);
    let host = host_in(Scratch::new(), LOOPS_FOREVER, Setup::default(), |builder| {
        builder.on_progress(Arc::new(move |_, _, _, _| starting.add_permits(1)))
    })
    .await;
    let neighbours = async {
        started.acquire().await.expect("never closed").forget();
        neighbour(&host, 5).await;
    };
    let first = async {
        tokio::select! {
            outcome = host.call("LoopsForever", json!({})) => panic!("the loop ended: {:?}", outcome.ending),
            () = neighbours => {}
        }
    };
    tokio::time::timeout(CEILING, first)
        .await
        .expect("the neighbour answers");
}

#[tokio::test]
async fn many_hostile_guests_at_once_end_each_by_its_own_bound() {
    let host = host(LOOPS_FOREVER, bounded("LoopsForever", one_second())).await;
    let calls = async {
        tokio::join!(
            host.call("LoopsForever", json!({})),
            host.call("LoopsForever", json!({})),
            host.call("LoopsForever", json!({})),
            host.call("LoopsForever", json!({})),
            neighbour(&host, 3),
        )
    };
    let (first, second, third, fourth, ()) = tokio::time::timeout(CEILING, calls)
        .await
        .expect("they end");
    for outcome in [first, second, third, fourth] {
        assert!(matches!(stop(&outcome), Stop::WallClock { .. }));
    }
}
