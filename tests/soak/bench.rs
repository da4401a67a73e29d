//! The soak: 100,000 mixed calls, hostile ones in between, and what the process holds before, on the way and after.
//!
//! `cargo bench -p toolgate-tests --bench soak`; another number of calls as an argument.

use std::time::Instant;

use toolgate_tests::Scratch;
use toolgate_tests::soak::{Held, host, soak};

/// Calls before it is measured.
const WARM: usize = 2_000;
/// Calls that are measured, unless said otherwise.
const CALLS: usize = 100_000;
/// Parts after which it is looked.
const PARTS: usize = 10;
/// Calls at a time.
const LANES: usize = 8;

fn main() {
    let given = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next();
    let calls: usize = given.unwrap_or(CALLS);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let scratch = Scratch::new();
    runtime.block_on(async {
        let host = host(&scratch).await;
        soak(&host, WARM, LANES).await;
        show(0, Held::now());
        let started = Instant::now();
        for part in 1..=PARTS {
            soak(&host, calls / PARTS, LANES).await;
            show(part * calls / PARTS, Held::now());
        }
        let took = started.elapsed().as_secs_f64();
        println!("{calls} calls in {took:.1} s, {LANES} at a time");
        host.shutdown().await;
    });
}

fn show(calls: usize, held: Held) {
    println!(
        "after {calls:>7} calls: {:>7.1} MiB resident, {:>4} descriptors, {:>3} threads",
        held.memory as f64 / f64::from(1 << 20),
        held.descriptors,
        held.threads
    );
}
