//! Guests that stand where a native tool will: what they are asked for, and that they do none of it.

use serde_json::json;
use toolgate::model::SideEffect;
use toolgate_artifacts as guests;
use toolgate_tests::Setup;

use crate::beside::{Guest, approving_host, beside, host};

const BASH: Guest = ("Bash", guests::BASH);

#[tokio::test]
pub async fn bash() {
    let host = approving_host(BASH, Setup::default()).await;
    let command = "touch made; echo \"$HOME\" >\r& \u{a0}x\n";
    let input = json!({ "command": command, "timeout": 600, "environment": {"A": "b"} });
    let outcome = beside(&host, "Bash", input).await;
    let expected = format!("ran: {command}\ntimeout: 600\nenvironment: {{\"A\":\"b\"}}");
    assert_eq!(outcome.ending.text(), expected);
    assert!(!host.scratch.ws.join("made").exists());
}

/// Without a yes it does not run: it is judged as the tool will be in whose place it stands.
#[tokio::test]
async fn bash_is_judged_like_a_shell() {
    let host = host(BASH, Setup::default()).await;
    let tool = host
        .host
        .all_tools()
        .find(|tool| tool.name().as_str() == "Bash")
        .expect("the tool");
    let traits = &tool.facts().traits;
    assert!(traits.level == SideEffect::Mutating && traits.destructive && traits.open_world);
    host.denied("Bash", json!({ "command": "true" })).await;
}

#[tokio::test]
pub async fn web_fetch() {
    let guest: Guest = ("WebFetch", guests::WEB_FETCH);
    let mut deny = Setup::default()
        .allow(&["WebFetch"])
        .deny(&["WebFetch(https://*.example.com/**)"]);
    deny.config.without = vec!["WebFetch".to_owned().into()];
    let host = host(guest, deny).await;
    let outcome = beside(&host, "WebFetch", json!({ "url": "https://a.test/x" })).await;
    assert_eq!(outcome.ending.text(), "fetched: https://a.test/x");
    let denied = host.denied("WebFetch", json!({ "url": "https://a.example.com/x" }));
    let text = denied.await;
    assert!(
        text.contains("WebFetch(https://*.example.com/**)"),
        "{text}"
    );
}
