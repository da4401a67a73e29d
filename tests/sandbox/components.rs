//! Components that are none, or not ours, or do not describe themselves: each stops the start with a sentence.

use serde_json::json;
use toolgate::HostError;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::CEILING;
use crate::fixture::Fixture;

/// Why there is no host.
fn no_host(built: Result<TestHost, HostError>) -> String {
    match built {
        Ok(_) => panic!("there is a host"),
        Err(error) => error.to_string(),
    }
}

/// The message of a host that does not come to be because of this component.
async fn refusal(bytes: &[u8]) -> String {
    let building = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
        builder.component("bad.wasm", bytes.to_vec())
    });
    let built = tokio::time::timeout(CEILING, building)
        .await
        .expect("it does not hang");
    let message = no_host(built);
    assert!(
        message.starts_with("bad.wasm: ") || message.starts_with("Fixture: "),
        "{message}"
    );
    message
}

#[tokio::test]
async fn the_fixture_itself_is_a_tool_that_works() {
    let good = Fixture::default().text();
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        builder.component("good.wasm", good)
    })
    .await;
    assert_eq!(host.done("Fixture", json!({})).await, "");
    let text = host.denied("Fixture", json!({ "undeclared": 1 })).await;
    assert!(text.contains("Unknown parameter 'undeclared'"), "{text}");
}

#[tokio::test]
async fn what_is_no_component_is_said_to_be_none() {
    let core = b"\0asm\x01\0\0\0";
    let wants = "bad.wasm: this is a core Wasm module, not a component: build for wasm32-wasip2, or wrap it as a component";
    assert_eq!(refusal(core).await, wants);
    let truncated = guests::ECHO.get(..guests::ECHO.len() / 2).expect("half");
    for bytes in [truncated, b"\0asm", b"(module)", b"(component"] {
        let message = refusal(bytes).await;
        let invalid = message.starts_with("bad.wasm: this is not a valid component: ");
        assert!(invalid || message == wants, "{message}");
    }
    for bytes in [&b""[..], b"#!/bin/sh\n", &[0xff; 100]] {
        assert_eq!(refusal(bytes).await, "bad.wasm: this is not WebAssembly");
    }
    let large = vec![0; (32 << 20) + 1];
    assert_eq!(
        refusal(&large).await,
        "bad.wasm: the component has 33554433 bytes or more, and 33554432 is the most"
    );
}

#[tokio::test]
async fn a_component_with_another_contract_is_refused_by_name() {
    let exporting = |export| {
        Fixture {
            export,
            ..Fixture::default()
        }
        .text()
    };
    let not_a_tool = "bad.wasm: the component exports neither toolgate:tool/tool nor a function, so it is not a tool";
    assert_eq!(refusal(b"(component)").await, not_a_tool);
    assert_eq!(
        refusal(&exporting("toolgate:tool/other@0.1.0")).await,
        not_a_tool
    );
    assert_eq!(
        refusal(&exporting("toolgate:tool/tool@0.2.0")).await,
        "bad.wasm: the component was built for toolgate:tool/tool@0.2.0, and this host has toolgate:tool 0.1"
    );
    let later = Fixture {
        levels: r#""read-only" "mutating" "apocalyptic""#,
        ..Fixture::default()
    };
    let message = refusal(&later.text()).await;
    assert!(
        message.starts_with("bad.wasm: the component does not "),
        "{message}"
    );
    assert!(
        message.contains("expected enum of 2 names, found 3 names"),
        "{message}"
    );
}

#[tokio::test]
async fn a_later_patch_of_the_contract_is_taken() {
    let later = Fixture {
        export: "toolgate:tool/tool@0.1.9",
        ..Fixture::default()
    };
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        builder.component("later.wasm", later.text())
    })
    .await;
    assert_eq!(host.done("Fixture", json!({})).await, "");
}

#[tokio::test]
async fn what_this_host_does_not_offer_is_named() {
    let importing = |imports| {
        Fixture {
            imports,
            ..Fixture::default()
        }
        .text()
    };
    assert_eq!(
        refusal(&importing(r#"(import "evil:host/root@1.0.0" (instance))"#)).await,
        "bad.wasm: the component imports evil:host/root@1.0.0, which this host does not offer"
    );
    assert_eq!(
        refusal(&importing(
            r#"(import "toolgate:shell/shell@0.1.0" (instance))"#
        ))
        .await,
        "bad.wasm: the component imports toolgate:shell and does not declare the capability 'shell', so that nobody could \
         grant it: declare it with the target 'run' or 'tasks', or leave the import out"
    );
    assert_eq!(
        refusal(&importing(
            r#"(import "toolgate:tool/host@0.2.0" (instance))"#
        ))
        .await,
        "bad.wasm: the component imports toolgate:tool/host@0.2.0, which this host does not offer"
    );
    let unknown = r#"(import "wasi:cli/root@0.2.0" (instance (export "own" (func))))"#;
    let message = refusal(&importing(unknown)).await;
    assert!(message.contains("wasi:cli/root@0.2.0"), "{message}");
}

#[tokio::test]
async fn a_component_that_does_not_describe_itself_is_refused() {
    let describing = |describe: &str| Fixture {
        describe: describe.to_owned(),
        ..Fixture::default()
    };
    let message = refusal(&describing("unreachable").text()).await;
    assert!(
        message.starts_with("bad.wasm: the component does not describe itself: "),
        "{message}"
    );
    assert!(message.contains("unreachable"), "{message}");
    let broken = refusal(&describing("(i32.const 3)").text()).await;
    assert!(
        broken.starts_with("bad.wasm: the component does not describe itself: "),
        "{broken}"
    );
    let beyond = refusal(&describing("(i32.const 2147483644)").text()).await;
    assert!(
        beyond.starts_with("bad.wasm: the component does not describe itself: "),
        "{beyond}"
    );
}

#[tokio::test]
async fn a_description_that_never_comes_is_not_waited_for() {
    let endless = Fixture {
        describe: "(loop br 0) unreachable".to_owned(),
        ..Fixture::default()
    };
    let message = refusal(&endless.text()).await;
    assert!(
        message.starts_with("bad.wasm: the component does not describe itself: "),
        "{message}"
    );
    let known = ["fuel", "it took more than 5 s"];
    assert!(
        known.iter().any(|part| message.contains(part)),
        "no bound is named: {message}"
    );
}

#[tokio::test]
async fn a_tool_that_needs_what_cannot_be_granted_is_not_registered() {
    for (kind, target, shown) in [("env", "HOME", "env:HOME"), ("store", "", "store")] {
        let asking = Fixture {
            capability: Some((kind, target)),
            ..Fixture::default()
        };
        assert_eq!(
            refusal(&asking.text()).await,
            format!(
                "bad.wasm: the tool needs the capability {shown}, which this version of the host cannot grant"
            )
        );
    }
}

#[tokio::test]
async fn a_network_that_cannot_be_is_refused_by_its_fault() {
    for (target, what) in [
        ("example.test", "does not begin with a scheme"),
        ("ftp://example.test", "requests are 'http://' or 'https://'"),
        ("https://a*.test", "only stands for a whole label"),
    ] {
        let asking = Fixture {
            capability: Some(("net", target)),
            ..Fixture::default()
        };
        let refused = refusal(&asking.text()).await;
        let begin = "bad.wasm: the component asks for a network that cannot be: ";
        assert!(
            refused.starts_with(begin) && refused.contains(what),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_declaration_that_does_not_hold_is_refused_by_its_fault() {
    let asking = |kind, target| Fixture {
        capability: Some((kind, target)),
        ..Fixture::default()
    };
    let with_schema = |schema: &str| Fixture {
        schema: schema.to_owned(),
        ..Fixture::default()
    };
    let faults = [
        (
            asking("gpu", "all"),
            "needs the capability 'gpu', unknown to this host",
        ),
        (
            asking("fs-write", "/"),
            "the capability 'fs-write' cannot have the target '/': it is 'subject' or 'workspace'",
        ),
        (with_schema("not JSON"), "the input schema is not JSON: "),
        (
            with_schema("{\"type\":\"array\"}"),
            "the input schema does not say \"type\": \"object\" at the top",
        ),
        (
            Fixture {
                name: "no spaces".to_owned(),
                ..Fixture::default()
            },
            "'no spaces' is not a tool name: ",
        ),
        (
            Fixture {
                description: String::new(),
                ..Fixture::default()
            },
            "the description is empty",
        ),
        (
            Fixture {
                description: "a\u{202e}b".to_owned(),
                ..Fixture::default()
            },
            "the description holds characters that a reader does not see",
        ),
    ];
    for (fixture, fault) in faults {
        let message = refusal(&fixture.text()).await;
        let expected = format!("bad.wasm: the component's declaration does not hold: {fault}");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[tokio::test]
async fn a_schema_that_refers_to_elsewhere_is_refused() {
    for reference in ["http://127.0.0.1:9/schema.json", "file:///etc/passwd"] {
        let schema = json!({ "type": "object", "properties": { "p": { "$ref": reference } }, "additionalProperties": false });
        let fixture = Fixture {
            schema: schema.to_string(),
            ..Fixture::default()
        };
        let message = refusal(&fixture.text()).await;
        assert!(
            message.contains("the input schema does not hold: "),
            "{message}"
        );
        assert!(!message.contains("root:"), "{message}");
    }
}

/// Good components beside it do not help: one bad component, no host.
#[tokio::test]
async fn w29_tools_of_one_name_or_of_one_look_are_refused() {
    let twice = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
        let echo = guests::ECHO.to_vec();
        builder
            .component("first.wasm", echo.clone())
            .component("second.wasm", echo)
    });
    let message = no_host(twice.await);
    assert_eq!(
        message,
        "the tools 'Echo' (first.wasm) and 'Echo' (second.wasm) have names that are the same or look alike: leave one of \
         them out"
    );
    for (name, says) in [
        ("Read", "'Read' (built in) and 'Read' (bad.wasm)"),
        ("read", "'Read' (built in) and 'read' (bad.wasm)"),
        ("Reаd", "is not a tool name"),
    ] {
        let like_built_in = Fixture {
            name: name.to_owned(),
            ..Fixture::default()
        };
        let shadowing = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
            builder.component("bad.wasm", like_built_in.text())
        });
        let message = no_host(shadowing.await);
        assert!(message.contains(says), "{message}");
    }
}
