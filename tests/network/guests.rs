//! Guests that dial: what they reach is what the verdict and the operator say, whatever they try.

use std::time::Duration;

use serde_json::json;
use toolgate::model::{Ending, Stop};

use crate::hosts::{Net, neighbour, requests};
use crate::server::{HERE, Names, Server, ok, redirect, response, run};

/// Opens the names of a test for every tool.
const OPEN: &str = r#"
[egress]
allow = ["public", { url = "http://*.test:*", addresses = ["127.0.0.1"] }]
"#;

#[test]
pub(crate) fn http_get() {
    run(async {
        let server = Server::saying("hello").await;
        let names = Names::new().here("ok.test").here("evil.test");
        let host = Net::new(&names, OPEN)
            .allow(&["Get(http://ok.test:*)"])
            .host()
            .await;
        let (url, evil) = (
            format!("http://ok.test:{}/a?q=VALUE", server.port()),
            format!("http://evil.test:{}/", server.port()),
        );
        let other = format!("http://ok.test:{}/b", server.port());
        let text = host
            .done("Get", json!({"url": url, "also": [evil, other]}))
            .await;
        assert!(
            text.contains("/a?q=VALUE: 200 5 bytes, whole: hello"),
            "{text}"
        );
        assert_eq!(
            text.matches("asked for another URL than the call names")
                .count(),
            2,
            "{text}"
        );
        assert!(text.ends_with("secret: false"), "{text}");
        assert_eq!((server.connections(), names.asked().len()), (1, 1));
        let noted = requests(&host);
        assert_eq!(noted.len(), 3);
        assert_eq!(
            noted[0]["url"],
            format!("http://ok.test:{}/a?q=…", server.port())
        );
        assert_eq!(noted[0]["address"], server.address.to_string());
        assert_eq!(
            (&noted[0]["status"], &noted[0]["received"]),
            (&json!(200), &json!(5))
        );
        assert!(
            noted[1]["failure"]
                .as_str()
                .is_some_and(|why| why.contains("another URL"))
        );
        // What no rule allows is asked for, and nobody is there.
        host.denied(
            "Get",
            json!({"url": format!("http://evil.test:{}/", server.port())}),
        )
        .await;
        neighbour(&host).await;
    });
}

#[test]
pub(crate) fn http_listed() {
    run(async {
        let server = Server::saying("hello").await;
        let port = server.port();
        let names = Names::new().here("ok.test").here("evil.test");
        let config = r#"
            [egress.tools.Listed]
            allow = [{ url = "http://ok.test:*", methods = ["GET"], addresses = ["127.0.0.1"] }]
        "#;
        let host = Net::new(&names, config).allow(&["Listed"]).host().await;
        let tried = json!({"urls": [
            format!("http://ok.test:{port}/"),
            format!("http://evil.test:{port}/"),
            format!("http://{HERE}:{port}/"),
            "http://elsewhere.example/",
        ]});
        let text = host.done("Listed", tried).await;
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(": 200 hello"), "{text}");
        assert!(
            lines[1].contains("no entry of the operator opens"),
            "{text}"
        );
        assert!(
            lines[2].contains("no entry of the operator opens"),
            "{text}"
        );
        assert!(lines[3].contains("does not declare"), "{text}");
        let posted = json!({"urls": [format!("http://ok.test:{port}/")], "method": "POST"});
        let text = host.done("Listed", posted).await;
        assert!(text.contains("for other methods only"), "{text}");
        assert_eq!((server.connections(), names.asked().len()), (1, 1));
        neighbour(&host).await;
    });
}

#[test]
fn without_a_word_of_the_operator_a_listing_stranger_reaches_nothing() {
    run(async {
        let server = Server::saying("hello").await;
        let host = Net::new(&Names::new().here("ok.test"), "")
            .allow(&["Listed"])
            .host()
            .await;
        let url = format!("http://ok.test:{}/", server.port());
        let text = host.done("Listed", json!({"urls": [url]})).await;
        assert!(text.contains("no entry of the operator opens"), "{text}");
        assert_eq!(server.connections(), 0);
    });
}

#[test]
pub(crate) fn http_undeclared() {
    run(async {
        let server = Server::saying("hello").await;
        let host = Net::new(&Names::new().here("ok.test"), OPEN)
            .allow(&["Undeclared"])
            .host()
            .await;
        let url = format!("http://ok.test:{}/", server.port());
        let text = host.done("Undeclared", json!({ "url": url })).await;
        assert!(
            text.contains("HttpRequestDenied") && text.ends_with("secret: false"),
            "{text}"
        );
        let noted = requests(&host);
        assert_eq!((noted.len(), server.connections()), (1, 0));
        assert!(
            noted[0]["failure"]
                .as_str()
                .is_some_and(|why| why.contains("not granted"))
        );
        neighbour(&host).await;
    });
}

#[test]
pub(crate) fn http_reads() {
    run(async {
        let server = Server::saying("hello").await;
        let host = Net::new(&Names::new().here("ok.test"), OPEN)
            .allow(&["Reads"])
            .host()
            .await;
        let url = format!("http://ok.test:{}/", server.port());
        let text = host.done("Reads", json!({ "url": url })).await;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(&lines[..2], ["GET 0: 200", "HEAD 0: 200"], "{text}");
        assert!(
            lines[2..].iter().all(|line| line.contains("read-only")),
            "{text}"
        );
        let sent = server.heads();
        assert!(
            sent.iter()
                .all(|head| !head.contains("POST") && !head.contains("DELETE"))
        );
        neighbour(&host).await;
    });
}

#[test]
fn deny_rules_bind_every_tool_and_every_hop() {
    run(async {
        let server = Server::raw(|mut caller| async move {
            let head = caller.head().await;
            let answer = match head.contains("/start") {
                true => redirect("/secret/x"),
                false => ok("secret"),
            };
            caller.send(answer).await;
        })
        .await;
        let names = Names::new().here("ok.test");
        // The rule is written for one tool, and speaks of a place.
        let rules = ["Reads(http://ok.test:*/secret/**)"];
        let host = Net::new(&names, OPEN)
            .allow(&["Get", "Listed", "Reads"])
            .deny(&rules)
            .host()
            .await;
        let base = format!("http://ok.test:{}", server.port());
        let listed = json!({"urls": [format!("{base}/secret/y"), format!("{base}/SECRET/y"), format!("{base}/%73ecret/y")]});
        let text = host.done("Listed", listed).await;
        assert_eq!(text.matches("denies it").count(), 3, "{text}");
        let text = host
            .done(
                "Get",
                json!({"url": format!("{base}/start"), "follow": true}),
            )
            .await;
        assert!(text.contains("/start: 302"), "{text}");
        assert!(
            text.contains("/secret/x: ") && text.contains("denies it"),
            "{text}"
        );
        assert!(!text.contains(": secret"), "{text}");
        assert_eq!(server.connections(), 1);
        neighbour(&host).await;
    });
}

#[test]
fn redirects_lead_where_the_rules_allow_and_nowhere_else() {
    run(async {
        let private = Server::saying("private").await;
        let at = private.address;
        let server = Server::raw(move |mut caller| async move {
            let head = caller.head().await;
            let host = head
                .lines()
                .find_map(|line| line.strip_prefix("host: "))
                .unwrap_or_default();
            let port = host.rsplit(':').next().unwrap_or_default();
            let answer = match head.split(' ').nth(1).unwrap_or_default() {
                "/same" => redirect("/end"),
                "/allowed" => redirect(&format!("http://allowed.test:{port}/end")),
                "/other" => redirect(&format!("http://other.test:{port}/end")),
                "/private" => redirect(&format!("http://{at}/")),
                "/metadata" => redirect("http://169.254.169.254/latest/"),
                "/loop" => redirect("/loop"),
                _ => ok("end"),
            };
            caller.send(answer).await;
        })
        .await;
        let names = Names::new()
            .here("ok.test")
            .here("allowed.test")
            .here("other.test");
        let rules = [
            "Get(http://ok.test:*)",
            "Get(http://allowed.test:*)",
            "Get(http://169.254.169.254)",
        ];
        let host = Net::new(&names, OPEN).allow(&rules).host().await;
        let base = format!("http://ok.test:{}", server.port());
        for (path, said) in [
            ("same", "/end: 200 3 bytes, whole: end"),
            ("allowed", "/end: 200 3 bytes, whole: end"),
            ("other", "leads to what no rule allows"),
            ("private", "leads to what no rule allows"),
            ("metadata", "a link-local address, which is never dialled"),
        ] {
            let text = host
                .done(
                    "Get",
                    json!({"url": format!("{base}/{path}"), "follow": true}),
                )
                .await;
            assert!(text.contains(said), "{path}: {text}");
        }
        let text = host
            .done(
                "Get",
                json!({"url": format!("{base}/loop"), "follow": true}),
            )
            .await;
        assert_eq!(text.matches("/loop: 302").count(), 12, "{text}");
        assert_eq!(private.connections(), 0);
        // A redirect that no server answered with opens nothing.
        let also = format!("http://allowed.test:{}/end", server.port());
        let text = host
            .done("Get", json!({"url": format!("{base}/end"), "also": [also]}))
            .await;
        assert!(
            text.contains("asked for another URL than the call names"),
            "{text}"
        );
        neighbour(&host).await;
    });
}

#[test]
fn a_yes_is_for_the_url_that_was_shown() {
    run(async {
        let server = Server::raw(|mut caller| async move {
            let head = caller.head().await;
            let port = head
                .lines()
                .find_map(|line| line.strip_prefix("host: ")?.rsplit(':').next());
            let port = port.unwrap_or_default().to_owned();
            let answer = match head.contains("/start") {
                true => redirect(&format!("http://other.test:{port}/end")),
                false => ok("end"),
            };
            caller.send(answer).await;
        })
        .await;
        let names = Names::new().here("ok.test").here("other.test");
        let host = Net::new(&names, OPEN)
            .ask(&["Get(http://asked.test:*)"])
            .approving()
            .await;
        let url = format!("http://ok.test:{}/start", server.port());
        let text = host.done("Get", json!({"url": url, "follow": true})).await;
        assert!(text.contains("leads to what no rule allows"), "{text}");
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn slow_and_endless_servers_end_with_the_call_and_leave_no_connection() {
    run(async {
        let drip = Server::raw(|mut caller| async move {
            caller.head().await;
            caller
                .send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                .await;
            while caller.send("x").await {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        })
        .await;
        let config = format!("{OPEN}\n[limits.tools.Get]\ntimeout_ms = 1000\n");
        let host = Net::new(&Names::new().here("slow.test"), &config)
            .allow(&["Get"])
            .host()
            .await;
        let url = format!("http://slow.test:{}/", drip.port());
        let (outcome, ()) = tokio::join!(host.call("Get", json!({ "url": url })), neighbour(&host));
        match &outcome.ending {
            Ending::Stopped(Stop::WallClock { limit }) => {
                assert_eq!(*limit, Duration::from_secs(1))
            }
            other => panic!("not ended by its deadline: {other:?}"),
        }
        drip.until_idle().await;
        let record = host.journal.records();
        let noted = record
            .iter()
            .find_map(|record| record["requests"].as_array())
            .expect("requests");
        assert_eq!(
            (&noted[0]["status"], &noted[0]["complete"]),
            (&json!(200), &json!(false))
        );
    });
}

#[test]
fn floods_and_endless_bodies_reach_a_guest_as_errors() {
    run(async {
        let flood = Server::answering(response("200 OK", &"x-a: b\r\n".repeat(500), b"x")).await;
        let endless = Server::raw(|mut caller| async move {
            caller.head().await;
            caller.send("HTTP/1.1 200 OK\r\n\r\n").await;
            while caller.send([b'0'; 65_536]).await {}
        })
        .await;
        let config = format!("{OPEN}\nmax_response_mib = 2\n");
        let host = Net::new(&Names::new().here("ok.test"), &config)
            .allow(&["Get"])
            .host()
            .await;
        let url = |server: &Server| format!("http://ok.test:{}/", server.port());
        let text = host.done("Get", json!({"url": url(&flood)})).await;
        assert!(text.contains("more than 128 fields"), "{text}");
        let text = host.done("Get", json!({"url": url(&endless)})).await;
        assert!(text.contains("exceeds limit"), "{text}");
        // A part that goes over the bound is not handed on, whatever of it was within.
        let read: usize = text
            .split_once("200 ")
            .and_then(|(_, rest)| rest.split(' ').next())
            .and_then(|bytes| bytes.parse().ok())
            .unwrap_or_else(|| panic!("no count: {text}"));
        assert!((1 << 20..=2 << 20).contains(&read), "{read}");
        endless.until_idle().await;
        neighbour(&host).await;
    });
}

#[test]
fn a_call_has_its_share_of_requests_and_the_next_one_too() {
    run(async {
        let server = Server::saying("x").await;
        let config = r#"
            [egress]
            allow = ["http://127.0.0.1:*"]
        "#;
        let host = Net::new(&Names::new(), config)
            .allow(&["Listed"])
            .host()
            .await;
        let url = format!("http://{HERE}:{}/", server.port());
        let shut = "http://127.0.0.1:1/".to_owned();
        let text = host
            .done("Listed", json!({"urls": [shut, url], "times": 999}))
            .await;
        // Its middle is cut, being long.
        assert!(text.contains("has made 1000 requests"), "{text}");
        let noted = requests(&host);
        let answered = noted.iter().filter(|request| request["status"] == 200);
        assert_eq!((noted.len(), answered.count()), (1_000, 1));
        assert_eq!(server.connections(), 1);
        let text = host.done("Listed", json!({"urls": [url]})).await;
        assert!(text.ends_with(": 200 x"), "{text}");
    });
}

#[test]
fn explain_says_what_could_be_reached() {
    run(async {
        let names = Names::new();
        let host = Net::new(&names, OPEN)
            .allow(&["Get", "Listed"])
            .host()
            .await;
        for (tool, input, said) in [
            (
                "Get",
                json!({"url": "https://ok.example/a?key=VALUE"}),
                "send requests to https://ok.example/a",
            ),
            (
                "Listed",
                json!({"urls": []}),
                "send requests to the public Internet, http://*.test:* (127.0.0.1/32)",
            ),
        ] {
            let explained = host.explain(tool, input).await;
            let text = serde_json::to_string(&explained).expect("JSON");
            assert!(text.contains(said) && !text.contains("VALUE"), "{text}");
        }
        assert_eq!(names.asked(), [""; 0]);
    });
}
