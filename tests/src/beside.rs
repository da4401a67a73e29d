//! Hosts with a hostile guest and an innocent neighbour on them.

use std::time::Duration;

use crate::{Scratch, Setup, TestHost};
use serde_json::{Value, json};
use toolgate::HostBuilder;
use toolgate::approval::Fixed;
use toolgate::config::LimitSetting;
use toolgate::model::{Ending, Outcome, Stop};

/// Longer than anything here takes. Whoever waits so long waits for ever.
pub const CEILING: Duration = Duration::from_secs(180);

/// A component on its way into a host: the name it declares, and its bytes.
pub type Guest = (&'static str, &'static [u8]);

/// A setup whose only special thing is the bounds of one tool.
pub fn bounded(tool: &str, limits: LimitSetting) -> Setup {
    let mut setup = Setup::default();
    setup.config.limits_of.insert(tool.to_owned(), limits);
    setup
}

/// The shortest deadline there is.
pub fn one_second() -> LimitSetting {
    LimitSetting {
        timeout_ms: Some(1_000.into()),
        ..LimitSetting::default()
    }
}

/// A host with one guest and the neighbour.
pub async fn host(guest: Guest, setup: Setup) -> TestHost {
    host_in(Scratch::new(), guest, setup, |builder| builder).await
}

/// The same, where every question gets a yes.
pub async fn approving_host(guest: Guest, setup: Setup) -> TestHost {
    approving_host_in(Scratch::new(), guest, setup).await
}

/// The same in folders that hold something.
pub async fn approving_host_in(scratch: Scratch, guest: Guest, setup: Setup) -> TestHost {
    host_in(scratch, guest, setup, |builder| {
        builder.approver(Fixed::approve("the test"))
    })
    .await
}

/// The same with more of its own.
pub async fn host_in(
    scratch: Scratch,
    (name, bytes): Guest,
    setup: Setup,
    more: impl FnOnce(HostBuilder) -> HostBuilder,
) -> TestHost {
    TestHost::with(scratch, setup, |builder| {
        let neighbour = toolgate_artifacts::ECHO.to_vec();
        more(
            builder
                .component(name, bytes.to_vec())
                .component("Echo", neighbour),
        )
    })
    .await
}

/// Calls a tool while the neighbour is called too, and the neighbour once more after it. The neighbour must answer every
/// time, and every call must leave its one record.
pub async fn beside(host: &TestHost, tool: &str, input: Value) -> Outcome {
    let before = host.journal.records().len();
    let both = async { tokio::join!(host.call(tool, input), neighbour(host, 3)) };
    let (outcome, ()) = tokio::time::timeout(CEILING, both)
        .await
        .expect("the call ends");
    neighbour(host, 1).await;
    let records = host.journal.records();
    assert_eq!(records.len() - before, 5, "one record a call");
    let own = outcome.id.to_string();
    let mut own_records = records
        .iter()
        .filter(|record| record["call"] == own.as_str());
    let record = own_records.next().expect("a record of the call");
    assert_eq!(record["ending"], outcome.ending.word());
    assert!(own_records.next().is_none(), "a second record of the call");
    outcome
}

/// Calls the neighbour.
pub async fn neighbour(host: &TestHost, times: usize) {
    for number in 0..times {
        let text = format!("still here {number}");
        let answer =
            tokio::time::timeout(CEILING, host.done("Echo", json!({ "text": text }))).await;
        assert_eq!(answer.expect("the neighbour answers"), text);
    }
}

/// The bound that ended a call.
pub fn stop(outcome: &Outcome) -> &Stop {
    match &outcome.ending {
        Ending::Stopped(stop) => stop,
        other => panic!("no bound ended the call: {other:?}"),
    }
}

/// The cause that a guest died of.
pub fn trap(outcome: &Outcome) -> &str {
    match &outcome.ending {
        Ending::Trapped(trap) => &trap.cause,
        other => panic!("the guest did not die: {other:?}"),
    }
}
