//! The end from outside: a call that is dropped, and a host that ends, wherever the guest is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use toolgate::model::{Ending, Stop};
use toolgate::runtime::ToolEngine;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{CEILING, Guest, host_in, neighbour};

/// Guests that never end by themselves, each in another place.
const ENDLESS: [(Guest, &str); 4] = [
    (("LoopsForever", guests::LOOPS_FOREVER), "{}"),
    (
        ("WaitsInHost", guests::WAITS_IN_HOST),
        r#"{"how":"clock","ms":3600000}"#,
    ),
    (("WaitsInHost", guests::WAITS_IN_HOST), r#"{"how":"block"}"#),
    (("WaitsInHost", guests::WAITS_IN_HOST), r#"{"how":"poll"}"#),
];

/// A host that says when a guest begins. One instance at a time, so that one that goes on keeps everybody out.
async fn started(guest: Guest) -> (TestHost, Arc<Semaphore>) {
    let started = Arc::new(Semaphore::new(0));
    let starting = Arc::clone(&started);
    let engine = ToolEngine::new(1).expect("an engine");
    let host = host_in(Scratch::new(), guest, Setup::default(), |builder| {
        builder
            .engine(engine)
            .on_progress(Arc::new(move |_, _, _, message| {
                if matches!(message, "looping" | "waiting") {
                    starting.add_permits(1);
                }
            }))
    })
    .await;
    (host, started)
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(CEILING, what).await.expect("it ends")
}

/// A hundred times, so that what is left behind would add up.
#[tokio::test]
async fn a_dropped_call_leaves_room_for_the_next() {
    for (guest, input) in ENDLESS {
        let (host, begun) = started(guest).await;
        for _ in 0..25 {
            let until_begun = async {
                tokio::select! {
                    outcome = host.call_raw(guest.0, input) => panic!("it ended: {:?}", outcome.ending),
                    permit = begun.acquire() => permit.expect("never closed").forget(),
                }
            };
            within(until_begun).await;
            within(neighbour(&host, 1)).await;
        }
        let records = host.journal.records();
        let cancelled = records
            .iter()
            .filter(|record| record["detail"]["bound"] == "cancelled");
        assert_eq!(cancelled.count(), 25, "{input}");
    }
}

/// Calls in flight end with an outcome and a record, and so does every later one.
#[tokio::test]
async fn a_host_that_ends_ends_its_guests() {
    for (guest, input) in ENDLESS {
        let (host, begun) = started(guest).await;
        let ending = async {
            begun.acquire().await.expect("never closed").forget();
            host.host.shutdown().await;
            host.journal.records()
        };
        let (outcome, records) =
            within(async { tokio::join!(host.call_raw(guest.0, input), ending) }).await;
        assert_eq!(outcome.ending, Ending::Stopped(Stop::Shutdown), "{input}");
        assert_eq!(
            outcome.ending.text(),
            "The call was ended because the host ends."
        );
        assert_eq!(
            records.len(),
            1,
            "the record is there when the host has ended"
        );
        assert_eq!(records[0]["call"], outcome.id.to_string());
        assert_eq!(records[0]["detail"]["bound"], "shutdown");
        let late = within(host.call_raw("Echo", r#"{"text":"late"}"#)).await;
        assert_eq!(late.ending, Ending::Stopped(Stop::Shutdown));
        assert_eq!(host.journal.records().len(), 2);
        // Twice is as good as once.
        within(host.host.shutdown()).await;
    }
}

/// Somebody who is being asked is no reason to stay.
#[tokio::test]
async fn a_host_that_ends_waits_for_nobodys_answer() {
    use toolgate::gate::{Answer, ApprovalRequest, Approver};

    #[derive(Debug)]
    struct Never(Arc<Semaphore>);

    #[async_trait::async_trait]
    impl Approver for Never {
        async fn ask(&self, _: &ApprovalRequest) -> Answer {
            self.0.add_permits(1);
            std::future::pending().await
        }
    }

    let asked = Arc::new(Semaphore::new(0));
    let never = Never(Arc::clone(&asked));
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        builder.approver(never)
    })
    .await;
    let write = json!({ "file_path": "/ws/a.txt", "content": "a" });
    let ending = async {
        asked.acquire().await.expect("never closed").forget();
        host.host.shutdown().await;
    };
    let (outcome, ()) = within(async { tokio::join!(host.call("Write", write), ending) }).await;
    assert_eq!(outcome.ending, Ending::Stopped(Stop::Shutdown));
    assert!(!host.scratch.ws.join("a.txt").exists());
}

/// One component cannot take all room: its neighbour does not wait for it.
#[tokio::test]
async fn a_component_that_fills_its_share_leaves_room() {
    let begun = Arc::new(Semaphore::new(0));
    let beginning = Arc::clone(&begun);
    let engine = ToolEngine::new(8).expect("an engine");
    let guest: Guest = ("WaitsInHost", guests::WAITS_IN_HOST);
    let host = host_in(Scratch::new(), guest, Setup::default(), |builder| {
        builder
            .engine(engine)
            .on_progress(Arc::new(move |_, _, _, _| beginning.add_permits(1)))
    })
    .await;
    let calls = futures(&host, 20);
    let neighbours = async {
        begun.acquire_many(6).await.expect("never closed").forget();
        neighbour(&host, 5).await;
        // Those that wait for room have not begun.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(begun.available_permits(), 0, "more than its share began");
        host.host.shutdown().await;
    };
    let (outcomes, ()) = within(async { tokio::join!(calls, neighbours) }).await;
    assert_eq!(outcomes.len(), 20);
    for ending in outcomes {
        assert_eq!(ending, Ending::Stopped(Stop::Shutdown));
    }
}

/// So many calls at once that never end by themselves.
async fn futures(host: &TestHost, count: usize) -> Vec<Ending> {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let host = host.host.clone();
        tasks.spawn(async move {
            let call = toolgate::model::RawCall::new("WaitsInHost", r#"{"how":"block"}"#);
            host.call(call).await.ending
        });
    }
    tasks.join_all().await
}
