//! The soak in short, in a process of its own: thousands of mixed calls, hostile ones in between, leave nothing.

use std::time::Duration;

use toolgate_tests::Scratch;
use toolgate_tests::soak::{Held, host, soak};

/// Calls before it is measured: what is made once is made by then.
const WARM: usize = 1_000;
/// Calls between the measurements.
const CALLS: usize = 4_000;
/// Calls at a time.
const LANES: usize = 4;
/// What memory may differ by: the allocator's own movements.
const SLACK: u64 = 24 << 20;
/// Longer than it takes.
const CEILING: Duration = Duration::from_secs(570);

#[test]
fn thousands_of_mixed_calls_leave_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        // One thread that comes and goes would be counted.
        .max_blocking_threads(4)
        .thread_keep_alive(CEILING)
        .build()
        .expect("a runtime");
    let scratch = Scratch::new();
    let ended = runtime.block_on(async {
        tokio::time::timeout(CEILING, async {
            let host = host(&scratch).await;
            soak(&host, WARM, LANES).await;
            let before = Held::now();
            soak(&host, CALLS, LANES).await;
            let after = Held::now();
            println!("before {before:?}\nafter  {after:?}");
            host.shutdown().await;
            (before, after)
        })
        .await
    });
    let (before, after) = ended.expect("it ends");
    assert_eq!(after.descriptors, before.descriptors);
    assert!(after.threads <= before.threads, "{before:?} {after:?}");
    let grown = after.memory.saturating_sub(before.memory);
    assert!(grown < SLACK, "{grown} bytes more: {before:?} {after:?}");
}
