//! Family `wasm`: guests that want too much of a call.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::config::LimitSetting;
use toolgate::model::{Ending, Outcome, Stop};
use toolgate::policy::{EgressAllow, EgressPattern};
use toolgate_artifacts as guests;
use toolgate_tests::beside::{Guest, beside, bounded, host, host_in, neighbour, stop};
use toolgate_tests::fixture::Fixture;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::grown::{Grown, grown};
use crate::run::{alone, is_alone};

cases! {
    "W01" => w01_a_call_that_spins_is_ended_and_its_neighbour_answers,
    "W02" => w02_a_start_function_that_spins_is_within_the_budget,
    "W04" => w04_memory_is_bounded_at_its_start_in_its_growth_and_together,
    "W06" => w06_a_small_file_of_many_instances_is_not_loaded,
    "W09" => w09_a_wait_inside_of_the_host_is_ended,
    "W11" => w11_handles_are_counted,
    "W12" => w12_a_result_is_measured_before_it_is_copied,
    "W13" => w13_random_bytes_are_bounded,
    "W14" => w14_http_fields_are_bounded,
    "W27" => w27_a_flood_is_dropped,
}

/// Bytes of so many MiB.
const fn mebibytes(count: u64) -> u64 {
    count << 20
}

fn deadline(millis: u64) -> LimitSetting {
    LimitSetting {
        timeout_ms: Some(millis.into()),
        ..LimitSetting::default()
    }
}

fn two_seconds() -> Stop {
    let limit = Duration::from_secs(2);
    Stop::WallClock { limit }
}

/// A host of a component as text, and the neighbour.
async fn fixture_host(fixture: Fixture, limits: LimitSetting) -> TestHost {
    let bytes: &'static [u8] = fixture.text().leak();
    host_in(
        Scratch::new(),
        ("Fixture", bytes),
        bounded("Fixture", limits),
        |builder| builder,
    )
    .await
}

/// One call beside the neighbour, with what the process grew by.
async fn measured(host: &TestHost, tool: &str, input: Value) -> (Outcome, Grown) {
    neighbour(host, 3).await;
    grown(beside(host, tool, input)).await
}

async fn w01_a_call_that_spins_is_ended_and_its_neighbour_answers() {
    let guest: Guest = ("LoopsForever", guests::LOOPS_FOREVER);
    let host = host(guest, bounded("LoopsForever", deadline(2_000))).await;
    let outcome = beside(&host, "LoopsForever", json!({})).await;
    assert_eq!(stop(&outcome), &two_seconds());
}

async fn w02_a_start_function_that_spins_is_within_the_budget() {
    let host = fixture_host(Fixture::spinning_in_start(), deadline(2_000)).await;
    let outcome = beside(&host, "Fixture", json!({})).await;
    assert_eq!(stop(&outcome), &two_seconds());
}

async fn w04_memory_is_bounded_at_its_start_in_its_growth_and_together() {
    const CASE: &str =
        "wasm_bounds::case::w04_memory_is_bounded_at_its_start_in_its_growth_and_together";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let limits = || LimitSetting {
        memory_mib: Some(64.into()),
        ..LimitSetting::default()
    };
    let initial = Fixture {
        pages: 65 * 16,
        ..Fixture::default()
    };
    let grows = Fixture {
        call: "(if (i32.eq (memory.grow (i32.const 1032)) (i32.const -1)) (then unreachable)) \
               (i32.const 200000)"
            .to_owned(),
        ..Fixture::default()
    };
    let two = Fixture {
        imports: "(core module $more (memory 640)) (core instance (instantiate $more)) \
                  (core instance (instantiate $more))",
        ..Fixture::default()
    };
    for fixture in [initial, grows, two] {
        let host = fixture_host(fixture, limits()).await;
        let (outcome, grown) = measured(&host, "Fixture", json!({})).await;
        assert_eq!(stop(&outcome), &Stop::Memory { limit: 64 << 20 });
        assert!(grown.memory < mebibytes(80), "{grown:?}");
    }
}

async fn w06_a_small_file_of_many_instances_is_not_loaded() {
    const CASE: &str = "wasm_bounds::case::w06_a_small_file_of_many_instances_is_not_loaded";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let many: String = "(core instance (instantiate $more))".repeat(900);
    let text: &'static str = format!("(core module $more (memory 1)) {many}").leak();
    let fixture = Fixture {
        imports: text,
        ..Fixture::default()
    };
    let bytes = fixture.text();
    drop(TestHost::new().await);
    let building = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
        builder.component("many.wasm", bytes)
    });
    let (built, grown) = grown(building).await;
    let message = built.map(drop).expect_err("there is a host").to_string();
    let said =
        "many.wasm: the component cannot be given what it needs: it has more than 64 instances";
    assert!(message.starts_with(said), "{message}");
    assert!(grown.memory < mebibytes(128), "{grown:?}");
}

/// The server that never answers is a wait like any other; without a network no guest comes so far.
async fn w09_a_wait_inside_of_the_host_is_ended() {
    let guest: Guest = ("WaitsInHost", guests::WAITS_IN_HOST);
    let host = host(guest, bounded("WaitsInHost", deadline(2_000))).await;
    for how in ["clock", "block", "poll", "stdin"] {
        let input = json!({ "how": how, "ms": 60_000 });
        let outcome = beside(&host, "WaitsInHost", input).await;
        assert_eq!(stop(&outcome), &two_seconds(), "{how}");
    }
    // A server that takes the request and never answers.
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    let authority = listener.local_addr().expect("its address").to_string();
    let mut setup = bounded("fetch", deadline(2_000));
    let opened = EgressPattern::parse(&format!("http://{authority}/**")).expect("a pattern");
    let opened = vec![EgressAllow::Pattern(opened)];
    setup
        .config
        .egress
        .allow_of
        .insert("fetch".to_owned(), opened.into());
    let fetches: Guest = ("fetch.wasm", guests::PLAIN_FETCH);
    let host = host_in(Scratch::new(), fetches, setup, |builder| {
        builder.approver(Fixed::approve("the test"))
    })
    .await;
    let outcome = beside(&host, "fetch", json!({ "authority": authority })).await;
    assert_eq!(stop(&outcome), &two_seconds(), "a silent server");
    listener.accept().expect("it was asked");
}

async fn w11_handles_are_counted() {
    const CASE: &str = "wasm_bounds::case::w11_handles_are_counted";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let opens = |what: &str| json!({ "what": what, "path": "/ws/a.txt", "times": 100_000_000 });
    let files: Guest = ("LeaksHandles", guests::LEAKS_HANDLES);
    let pollables: Guest = ("LeaksPollables", guests::LEAKS_POLLABLES);
    for (guest, input) in [
        (files, opens("std_file")),
        (files, opens("host_file")),
        (files, opens("walker")),
        (pollables, json!({ "times": 100_000_000 })),
    ] {
        let scratch = Scratch::new();
        scratch.file("a.txt", "a");
        let host = host_in(scratch, guest, Setup::default(), |builder| builder).await;
        let (outcome, grown) = measured(&host, guest.0, input.clone()).await;
        let ended = match &outcome.ending {
            Ending::Stopped(stop) => *stop == Stop::Handles { limit: 1_000 },
            Ending::Failed(_) => true,
            _ => false,
        };
        assert!(ended, "{input}: {:?}", outcome.ending);
        assert!(grown.memory < mebibytes(64), "{input}: {grown:?}");
        assert!(grown.descriptors < 1_024, "{input}: {grown:?}");
    }
}

async fn w12_a_result_is_measured_before_it_is_copied() {
    const CASE: &str = "wasm_bounds::case::w12_a_result_is_measured_before_it_is_copied";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    // Kinds of a failure by their place in the contract: one text, and a list of texts. The memory is made before, by a
    // call of the same component: what counts is what the answer adds.
    let lying = |kind, length: u32, pages: u32| Fixture {
        call: format!(
            "(drop (memory.grow (i32.const {pages}))) {}",
            Fixture::failing(kind, 1 << 19, length)
        ),
        ..Fixture::default()
    };
    for (fixture, there) in [
        (lying(4, 1 << 30, 0), false),
        (lying(0, 10_000_000, 1_300), true),
        (lying(4, 500_000_000, 7_700), true),
    ] {
        let limits = LimitSetting {
            memory_mib: Some(1_024.into()),
            ..LimitSetting::default()
        };
        let host = fixture_host(fixture, limits).await;
        let (outcome, grown) = measured(&host, "Fixture", json!({})).await;
        match there {
            true => assert_eq!(stop(&outcome), &Stop::Transfer { limit: 72 << 20 }),
            false => assert_eq!(outcome.ending.word(), "trapped", "{:?}", outcome.ending),
        }
        assert!(grown.memory < mebibytes(64), "{grown:?}");
    }
}

async fn w13_random_bytes_are_bounded() {
    let host = host(("AsksRandom", guests::ASKS_RANDOM), Setup::default()).await;
    let input = json!({ "exponent": 63, "times": 1, "insecure": false });
    let outcome = beside(&host, "AsksRandom", input).await;
    assert_eq!(stop(&outcome), &Stop::Random { limit: 16 << 20 });
}

async fn w14_http_fields_are_bounded() {
    let host = host(("FillsFields", guests::FILLS_FIELDS), Setup::default()).await;
    let input = json!({ "entries": 40_000, "width": 1 });
    let outcome = beside(&host, "FillsFields", input).await;
    assert_eq!(stop(&outcome), &Stop::Fields { limit: 32 << 10 });
}

async fn w27_a_flood_is_dropped() {
    const CASE: &str = "wasm_bounds::case::w27_a_flood_is_dropped";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let guest: Guest = ("FloodsOutput", guests::FLOODS_OUTPUT);
    let host = host(guest, bounded("FloodsOutput", deadline(2_000))).await;
    // A first call grows the pools that stay.
    let few = json!({ "lines": 2_000, "width": 1_024 });
    assert_eq!(host.done("FloodsOutput", few).await, "flooded");
    let input = json!({ "lines": 10_000_000, "width": 1_024 });
    let (outcome, grown) = measured(&host, "FloodsOutput", input).await;
    assert_eq!(stop(&outcome), &two_seconds());
    assert_eq!(
        outcome.log.len(),
        1_001,
        "a line that says how many are missing"
    );
    assert!(grown.memory < mebibytes(16), "{grown:?}");
}
