//! Instances that want too much before, or without, a single instruction of their own: as text, because no compiler writes
//! such components.

use std::time::Duration;

use serde_json::json;
use toolgate::config::LimitSetting;
use toolgate::model::{Outcome, Stop};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{CEILING, beside, bounded, host_in, stop, trap};
use crate::fixture::Fixture;

/// Calls a fixture beside the neighbour.
async fn call(fixture: Fixture, limits: LimitSetting) -> Outcome {
    let text = fixture.text();
    let bytes: &'static [u8] = text.leak();
    let setup = bounded("Fixture", limits);
    let host = host_in(Scratch::new(), ("Fixture", bytes), setup, |builder| builder).await;
    beside(&host, "Fixture", json!({})).await
}

/// The message of a host that does not come to be.
async fn refusal(fixture: Fixture) -> String {
    let text = fixture.text();
    let building = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
        builder.component("bad.wasm", text)
    });
    let built = tokio::time::timeout(CEILING, building).await;
    match built.expect("it does not hang") {
        Ok(_) => panic!("there is a host"),
        Err(error) => error.to_string(),
    }
}

/// A limit of memory.
fn memory(mebibytes: u64) -> LimitSetting {
    LimitSetting {
        memory_mib: Some(mebibytes.into()),
        ..LimitSetting::default()
    }
}

/// It describes itself in good order: its start function loops only where the time left is that of a call.
#[tokio::test]
async fn loops_in_start() {
    let limits = LimitSetting {
        timeout_ms: Some(2_000.into()),
        ..LimitSetting::default()
    };
    let outcome = call(Fixture::spinning_in_start(), limits).await;
    let limit = Duration::from_secs(2);
    assert_eq!(stop(&outcome), &Stop::WallClock { limit });
}

#[tokio::test]
async fn a_start_function_that_never_ends_stops_the_start() {
    let fixture = Fixture {
        core: "(func $start (loop $on (br $on))) (start $start)",
        ..Fixture::default()
    };
    let message = refusal(fixture).await;
    assert!(
        message.starts_with("bad.wasm: the component does not describe itself: "),
        "{message}"
    );
}

/// An initial size is judged like a growth.
#[tokio::test]
async fn initial_memory_is_within_the_bound() {
    let fixture = |pages| Fixture {
        pages,
        ..Fixture::default()
    };
    let fits = call(fixture(64 * 16), memory(64)).await;
    assert_eq!(fits.ending.word(), "done", "{:?}", fits.ending);
    let outcome = call(fixture(65 * 16), memory(64)).await;
    assert_eq!(stop(&outcome), &Stop::Memory { limit: 64 << 20 });
    assert_eq!(
        outcome.ending.text(),
        "The tool reached its memory limit of 64 MiB (limits.memory_mib)."
    );
}

#[tokio::test]
async fn memories_count_together() {
    let fixture = || Fixture {
        imports: "(core module $more (memory 640)) (core instance (instantiate $more)) \
                  (core instance (instantiate $more))",
        ..Fixture::default()
    };
    let outcome = call(fixture(), memory(64)).await;
    assert_eq!(stop(&outcome), &Stop::Memory { limit: 64 << 20 });
    let fits = call(fixture(), memory(128)).await;
    assert_eq!(fits.ending.word(), "done", "{:?}", fits.ending);
    assert!(fits.usage.memory >= 80 << 20, "{}", fits.usage.memory);
}

/// A growth that is refused is told to the guest, which may go on; one that dies of it, died of the bound.
#[tokio::test]
async fn growth_is_within_the_bound() {
    let grows = |then: &str| Fixture {
        call: format!(
            "(if (i32.eq (memory.grow (i32.const 1040)) (i32.const -1)) (then {then})) (i32.const 200000)"
        ),
        ..Fixture::default()
    };
    let goes_on = call(grows(""), memory(64)).await;
    assert_eq!(goes_on.ending.word(), "done", "{:?}", goes_on.ending);
    assert!(goes_on.usage.memory < 64 << 20, "{}", goes_on.usage.memory);
    let outcome = call(grows("unreachable"), memory(64)).await;
    assert_eq!(stop(&outcome), &Stop::Memory { limit: 64 << 20 });
}

#[tokio::test]
async fn tables_count_together() {
    let limits = || LimitSetting {
        table_elements: Some(10_000.into()),
        ..LimitSetting::default()
    };
    let fixture = |core, call: &str| Fixture {
        core,
        call: format!("{call} (i32.const 200000)"),
        ..Fixture::default()
    };
    let two = "(table $a 4000 funcref) (table $b 4000 funcref)";
    let grow = "(if (i32.eq (table.grow $a (ref.null func) (i32.const 4000)) (i32.const -1)) (then unreachable))";
    let fits = call(fixture(two, ""), limits()).await;
    assert_eq!(fits.ending.word(), "done", "{:?}", fits.ending);
    let three = "(table $a 4000 funcref) (table $b 4000 funcref) (table $c 4000 funcref)";
    for (core, body) in [(two, grow), (three, "")] {
        let outcome = call(fixture(core, body), limits()).await;
        assert_eq!(stop(&outcome), &Stop::Tables { limit: 10_000 });
        assert_eq!(
            outcome.ending.text(),
            "The tool reached its limit of 10000 table elements (limits.table_elements)."
        );
    }
}

#[tokio::test]
async fn instances_are_counted() {
    let fixture = || Fixture {
        imports: "(core module $more) (core instance (instantiate $more)) (core instance (instantiate $more))",
        ..Fixture::default()
    };
    let limits = |instances: u64| LimitSetting {
        instances: Some(instances.into()),
        ..LimitSetting::default()
    };
    let outcome = call(fixture(), limits(2)).await;
    assert_eq!(stop(&outcome), &Stop::Instances { limit: 2 });
    assert_eq!(
        outcome.ending.text(),
        "The tool reached its limit of 2 instances (limits.instances)."
    );
    let fits = call(fixture(), limits(3)).await;
    assert_eq!(fits.ending.word(), "done", "{:?}", fits.ending);
}

/// A small file that asks for a lot is refused before anything is made.
#[tokio::test]
async fn what_multiplies_is_not_loaded() {
    let times = |count: usize, module: &str| {
        let instances = "(core instance (instantiate $more))".repeat(count);
        let text: &'static str = format!("(core module $more {module}) {instances}").leak();
        Fixture {
            imports: text,
            ..Fixture::default()
        }
    };
    for (count, module, said) in [
        (900, "(memory 1)", "64 instances of core modules"),
        (20, "(memory 1)", "16 memories"),
        (3, &"(table 1 funcref)".repeat(30), "64 tables"),
    ] {
        let message = refusal(times(count, module)).await;
        let expected = format!(
            "bad.wasm: the component cannot be given what it needs: it has more than {said}, which is the most that one \
             call is given"
        );
        assert_eq!(message, expected);
    }
    for core in ["(memory $more 20000)", "(table 30000 funcref)"] {
        let fixture = Fixture {
            core,
            ..Fixture::default()
        };
        let message = refusal(fixture).await;
        assert!(
            message.starts_with("bad.wasm: the component cannot be given what it needs: "),
            "{message}"
        );
    }
}

/// What an answer points at is measured before it is copied.
#[tokio::test]
async fn an_answer_that_lies_about_its_length_is_not_copied() {
    let failed = 4;
    let invalid_input = 0;
    let lying = |kind, pointer, length, grown: usize| Fixture {
        call: format!(
            "(drop (memory.grow (i32.const {grown}))) {}",
            Fixture::failing(kind, pointer, length)
        ),
        ..Fixture::default()
    };
    let text = call(lying(failed, 0, 1 << 30, 0), memory(256)).await;
    let cause = "it handed over a value that its interface does not allow";
    assert_eq!(trap(&text), cause);
    // It is there: 10 million empty texts, which take 80 MB of the guest and three times as much of the host.
    let list = call(
        lying(invalid_input, 1 << 19, 10_000_000, 1_300),
        memory(256),
    )
    .await;
    assert_eq!(stop(&list), &Stop::Transfer { limit: 72 << 20 });
    assert_eq!(
        list.ending.text(),
        "The tool handed more than 72 MiB to the host at once (limits.transfer_mib)."
    );
    let text = call(lying(failed, 1 << 19, 80 << 20, 1_300), memory(256)).await;
    assert_eq!(stop(&text), &Stop::Transfer { limit: 72 << 20 });
    let text = call(lying(failed, 1 << 19, 40 << 20, 1_300), memory(256)).await;
    assert_eq!(stop(&text), &Stop::ResultSize { limit: 32 << 20 });
}
