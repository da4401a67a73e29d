//! What WASI gives without measure unless the host measures: random bytes, pollables, fields, waits, progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolgate::config::LimitSetting;
use toolgate::model::{Ending, Stop};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup};

use crate::beside::{Guest, beside, bounded, host, host_in, one_second, stop};

#[tokio::test]
pub async fn asks_random() {
    let guest: Guest = ("AsksRandom", guests::ASKS_RANDOM);
    let two = LimitSetting {
        random_mib: Some(2.into()),
        ..LimitSetting::default()
    };
    let host = host(guest, bounded("AsksRandom", two)).await;
    let ask = |exponent: u32, times: u32, insecure: bool| json!({ "exponent": exponent, "times": times, "insecure": insecure });
    for insecure in [true, false] {
        let few = host.done("AsksRandom", ask(18, 8, insecure)).await;
        assert_eq!(few, "262144 bytes at last");
        // At once, by a number that no machine has, and little by little.
        for (exponent, times) in [(22, 1), (62, 1), (63, 1), (18, 9)] {
            let outcome = beside(&host, "AsksRandom", ask(exponent, times, insecure)).await;
            assert_eq!(stop(&outcome), &Stop::Random { limit: 2 << 20 });
            assert_eq!(
                outcome.ending.text(),
                "The tool asked for more than 2 MiB of random bytes (limits.random_mib)."
            );
        }
    }
}

#[tokio::test]
pub async fn leaks_pollables() {
    let guest: Guest = ("LeaksPollables", guests::LEAKS_POLLABLES);
    let few = LimitSetting {
        handles: Some(100.into()),
        ..LimitSetting::default()
    };
    for (setup, fits, limit) in [
        (Setup::default(), 400, 1_000),
        (bounded("LeaksPollables", few), 40, 100),
    ] {
        let host = host(guest, setup).await;
        let given = host.done("LeaksPollables", json!({ "times": fits })).await;
        assert_eq!(given, "all were given");
        let outcome = beside(&host, "LeaksPollables", json!({ "times": 10_000_000 })).await;
        assert_eq!(stop(&outcome), &Stop::Handles { limit });
        assert_eq!(
            outcome.ending.text(),
            format!("The tool reached its limit of {limit} handles (limits.handles).")
        );
    }
}

#[tokio::test]
pub async fn fills_fields() {
    let host = host(("FillsFields", guests::FILLS_FIELDS), Setup::default()).await;
    let few = json!({ "entries": 100, "width": 100 });
    assert_eq!(host.done("FillsFields", few).await, "all were taken");
    for (entries, width) in [(40_000, 1), (40_000, 0), (10, 1 << 20)] {
        let input = json!({ "entries": entries, "width": width });
        let outcome = beside(&host, "FillsFields", input).await;
        assert_eq!(stop(&outcome), &Stop::Fields { limit: 32 << 10 });
        assert_eq!(
            outcome.ending.text(),
            "The tool made HTTP fields of more than 32 KiB."
        );
    }
}

#[tokio::test]
pub async fn floods_progress() {
    let told = Arc::new(AtomicUsize::new(0));
    let longest = Arc::new(AtomicUsize::new(0));
    let (count, length) = (Arc::clone(&told), Arc::clone(&longest));
    let guest: Guest = ("FloodsProgress", guests::FLOODS_PROGRESS);
    let host = host_in(Scratch::new(), guest, Setup::default(), |builder| {
        builder.on_progress(Arc::new(move |_, _, _, message| {
            count.fetch_add(1, Ordering::Relaxed);
            length.fetch_max(message.chars().count(), Ordering::Relaxed);
        }))
    })
    .await;
    let input = json!({ "times": 50_000, "width": 5_000 });
    let outcome = beside(&host, "FloodsProgress", input).await;
    assert_eq!(outcome.ending.text(), "told", "{:?}", outcome.ending);
    assert_eq!(told.load(Ordering::Relaxed), 10_000);
    assert_eq!(longest.load(Ordering::Relaxed), 400);
}

#[tokio::test]
pub async fn waits_in_host() {
    let guest: Guest = ("WaitsInHost", guests::WAITS_IN_HOST);
    let host = host(guest, bounded("WaitsInHost", one_second())).await;
    let short = json!({ "how": "clock", "ms": 1 });
    assert_eq!(host.done("WaitsInHost", short).await, "waited");
    for how in ["clock", "block", "poll", "stdin"] {
        let outcome = beside(&host, "WaitsInHost", json!({ "how": how })).await;
        let limit = Duration::from_secs(1);
        assert_eq!(stop(&outcome), &Stop::WallClock { limit }, "{how}");
    }
}

#[tokio::test]
pub async fn keeps_state() {
    let host = host(("KeepsState", guests::KEEPS_STATE), Setup::default()).await;
    for _ in 0..3 {
        let outcome = beside(&host, "KeepsState", json!({})).await;
        assert_eq!(
            outcome.ending.text(),
            "global 0, files 0, written 0",
            "{:?}",
            outcome.ending
        );
    }
}

#[tokio::test]
pub async fn fetches() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let authority = listener.local_addr().expect("its address").to_string();
    let host = host(("Fetches", guests::FETCHES), Setup::default()).await;
    let outcome = beside(&host, "Fetches", json!({ "authority": authority })).await;
    match &outcome.ending {
        Ending::Failed(failure) => assert_eq!(failure.kind, "denied", "{failure:?}"),
        other => panic!("not refused: {other:?}"),
    }
    let accepted = listener.accept().map(drop).expect_err("somebody connected");
    assert_eq!(accepted.kind(), std::io::ErrorKind::WouldBlock);
}
