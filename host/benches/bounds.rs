//! What each bound costs where it is never hit, and how soon a guest is gone where it has to end.
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

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use toolgate::Host;
use toolgate::approval::Fixed;
use toolgate::config::{Config, LimitSetting};
use toolgate::model::RawCall;

use bare::{Bare, Bounds};

/// Calls that one measurement of small calls spans.
const CALLS: usize = 200;
/// Bytes of a call that mostly computes.
const LARGE: usize = 512 << 10;
/// Ends that are measured of each kind.
const ENDS: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    costs(&runtime)?;
    println!("\nHow soon a guest is gone, {ENDS} of each: median, most");
    for (what, tool, input) in [
        ("computes", "LoopsForever", "{}"),
        ("sleeps", "WaitsInHost", r#"{"how":"clock","ms":3600000}"#),
        ("polls", "WaitsInHost", r#"{"how":"poll"}"#),
        (
            "writes",
            "ReplacesSlowly",
            r#"{"path":"a.txt","bytes":33554432}"#,
        ),
    ] {
        ends(&runtime, what, tool, input)?;
    }
    Ok(())
}

/// Each bound by itself, and all of them, against none.
fn costs(runtime: &Runtime) -> Result<(), Box<dyn std::error::Error>> {
    let none = Bounds::default();
    let kinds = [
        ("fuel", Bounds { fuel: true, ..none }),
        (
            "epoch",
            Bounds {
                epoch: true,
                ..none
            },
        ),
        (
            "memory, tables, instances",
            Bounds {
                limiter: true,
                ..none
            },
        ),
        (
            "handles, transfer",
            Bounds {
                counts: true,
                ..none
            },
        ),
        ("all of them", Bounds::ALL),
        ("none (the noise)", none),
    ];
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(LARGE));
    for (head, input, calls) in [
        (
            "A small call, 200 a run, in bare wasmtime",
            r#"{"text":"hello"}"#,
            CALLS,
        ),
        (
            "A call that reads 512 KiB of JSON, 5 a run, in bare wasmtime",
            large.as_str(),
            5,
        ),
    ] {
        measure::head(head);
        let reference = Bare::within(toolgate_artifacts::ECHO, none)?;
        for (name, bounds) in kinds {
            let subject = Bare::within(toolgate_artifacts::ECHO, bounds)?;
            let run = |bare: &Bare| {
                runtime.block_on(async {
                    for _ in 0..calls {
                        bare.call(input).await.expect("a call");
                    }
                });
            };
            let times = measure::pair(30, || run(&subject), || run(&reference));
            measure::report(name, "no bound", times, "-");
        }
    }
    Ok(())
}

/// A host whose guests say when they begin.
fn host(
    runtime: &Runtime,
) -> Result<(Host, Arc<Semaphore>, tempfile::TempDir), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let begun = Arc::new(Semaphore::new(0));
    let beginning = Arc::clone(&begun);
    let config = Config {
        limits: LimitSetting {
            timeout_ms: Some(1_000.into()),
            ..LimitSetting::default()
        },
        ..Config::default()
    };
    let host = runtime.block_on(
        Host::builder(folder.path())
            .config(config)
            .state_dir(folder.path().join("state"))
            .component("loops", toolgate_artifacts::LOOPS_FOREVER.to_vec())
            .component("waits", toolgate_artifacts::WAITS_IN_HOST.to_vec())
            .component("writes", toolgate_artifacts::REPLACES_SLOWLY.to_vec())
            .approver(Fixed::approve("the bench"))
            .on_progress(Arc::new(move |_, _, _, _| beginning.add_permits(1)))
            .build(),
    )?;
    Ok((host, begun, folder))
}

fn ends(
    runtime: &Runtime,
    what: &str,
    tool: &'static str,
    input: &'static str,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut after = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ENDS {
        let (host, begun, _folder) = host(runtime)?;
        let call = || {
            let host = host.clone();
            async move { host.call(RawCall::new(tool, input)).await }
        };
        runtime.block_on(async {
            // Dropped by its caller.
            let dropped = tokio::spawn(call());
            begun.acquire().await.expect("never closed").forget();
            let at = Instant::now();
            dropped.abort();
            drop(dropped.await);
            after.0.push(at.elapsed());
            // Ended by its deadline.
            let outcome = call().await;
            after
                .1
                .push(outcome.usage.wall.saturating_sub(Duration::from_secs(1)));
            // Ended with its host.
            begun.forget_permits(usize::MAX >> 3);
            let ended = tokio::spawn(call());
            begun.acquire().await.expect("never closed").forget();
            let at = Instant::now();
            host.shutdown().await;
            after.2.push(at.elapsed());
            drop(ended.await);
        });
    }
    for (how, mut times) in [
        ("dropped", after.0),
        ("deadline", after.1),
        ("shutdown", after.2),
    ] {
        times.sort();
        let most = times.last().copied().unwrap_or_default();
        println!(
            "{what:<10} {how:<10} {:>10.1?} {most:>10.1?} | goal 100 ms",
            times[times.len() / 2]
        );
    }
    Ok(())
}
