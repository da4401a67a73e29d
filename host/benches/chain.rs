//! What the gates cost: the whole chain for a trivial tool against the same component in bare wasmtime.
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

mod bare;
mod measure;

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate::Host;
use toolgate::model::RawCall;

use bare::Bare;

const INPUT: &str = r#"{"text":"hello"}"#;
/// Calls that one measurement spans.
const CALLS: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let folder = tempfile::tempdir()?;
    let host = runtime.block_on(
        Host::builder(folder.path())
            .state_dir(folder.path().join("state"))
            .component("echo", toolgate_artifacts::ECHO.to_vec())
            .build(),
    )?;
    let plain = Bare::new(toolgate_artifacts::ECHO, false)?;
    let bounded = Bare::new(toolgate_artifacts::ECHO, true)?;

    measure::head("One call at a time, 200 calls a run");
    for (name, bare, goal) in [
        ("bare wasmtime", &plain, "1.30"),
        ("bare wasmtime with fuel and epoch", &bounded, "-"),
    ] {
        let times = measure::pair(
            30,
            || {
                runtime.block_on(async {
                    for _ in 0..CALLS {
                        host.call(RawCall::new("Echo", INPUT)).await;
                    }
                });
            },
            || {
                runtime.block_on(async {
                    for _ in 0..CALLS {
                        bare.call(INPUT).await.expect("a call");
                    }
                });
            },
        );
        measure::report("chain, journal on, hooks off", name, times, goal);
    }

    println!("\nThroughput with 64 calls in flight, calls/s");
    let host_rate = runtime.block_on(rate(move |input| {
        let host = host.clone();
        async move {
            host.call(RawCall::new("Echo", input)).await;
        }
    }));
    let bare_rate = runtime.block_on(rate(move |input| {
        let bare = plain.clone();
        async move {
            bare.call(&input).await.expect("a call");
        }
    }));
    println!(
        "chain {host_rate:.0}, bare {bare_rate:.0}: {:.2} of bare | goal 0.80",
        host_rate / bare_rate
    );
    Ok(())
}

/// Calls a second over two seconds.
async fn rate<F: Future<Output = ()> + Send + 'static>(
    call: impl Fn(String) -> F + Send + Sync + 'static,
) -> f64 {
    let call = Arc::new(call);
    let until = Instant::now() + Duration::from_secs(2);
    let started = Instant::now();
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let call = Arc::clone(&call);
            tokio::spawn(async move {
                let mut count = 0_u32;
                while Instant::now() < until {
                    call(INPUT.to_owned()).await;
                    count += 1;
                }
                count
            })
        })
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.unwrap_or(0);
    }
    f64::from(total) / started.elapsed().as_secs_f64()
}
