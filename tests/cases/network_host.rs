//! A host whose tool `Get` really dials, for cases: it names one URL in its call and follows redirects by itself.

use serde_json::{Value, json};
use toolgate::HostBuilder;
use toolgate::config::Config;
use toolgate::model::Outcome;
use toolgate_tests::net::{Names, read};
use toolgate_tests::{Scratch, Setup, TestHost};

/// What opens the names of a test, which lead to this machine.
pub(crate) const OPEN: &str = r#"
[egress]
allow = ["public", { url = "http://*.test:*", addresses = ["127.0.0.1"] }, { url = "https://*.test:*", addresses = ["127.0.0.1"] }]
"#;

/// A host that looks up names so, with a configuration and rules.
pub(crate) async fn host(
    names: &std::sync::Arc<Names>,
    config: &str,
    setup: impl FnOnce(Setup) -> Setup,
    more: impl FnOnce(HostBuilder) -> HostBuilder,
) -> TestHost {
    let scratch = Scratch::new();
    let config: Config = read(&scratch.outside, config);
    let names = std::sync::Arc::clone(names);
    TestHost::with(scratch, setup(Setup { config }), |builder| {
        more(
            builder
                .component("get", toolgate_artifacts::HTTP_GET.to_vec())
                .component("listed", toolgate_artifacts::HTTP_LISTED.to_vec())
                .resolver(names),
        )
    })
    .await
}

/// A host in which `Get` is allowed without a pattern.
pub(crate) async fn any(names: &std::sync::Arc<Names>, config: &str) -> TestHost {
    host(
        names,
        config,
        |setup| setup.allow(&["Get"]),
        |builder| builder,
    )
    .await
}

/// Gets a URL, with its redirects.
pub(crate) async fn get(host: &TestHost, url: &str) -> Outcome {
    host.call("Get", follow(url)).await
}

fn follow(url: &str) -> Value {
    json!({ "url": url, "follow": true })
}

/// The requests in the record of the last call.
pub(crate) fn requests(host: &TestHost) -> Vec<Value> {
    let record = host.journal.records().pop().expect("a record");
    record["requests"].as_array().cloned().unwrap_or_default()
}
