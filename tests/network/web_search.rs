//! WebSearch at services that answer as the real ones do.

use serde_json::{Value, json};
use toolgate::model::{Ending, Outcome};
use toolgate_tests::TestHost;

use crate::hosts::{Net, neighbour};
use crate::server::{Names, Server, response, run};

const BRAVE: &str = include_str!("../../tools/web-search/src/samples/brave.json");
const TAVILY: &str = include_str!("../../tools/web-search/src/samples/tavily.json");
const SEARXNG: &str = include_str!("../../tools/web-search/src/samples/searxng.json");
const DUCKDUCKGO: &str = include_str!("../../tools/web-search/src/samples/duckduckgo.html");

/// What nobody may see.
const KEY: &str = "KEY-0123456789";

/// A service that answers every question alike.
async fn answering(status: &str, content_type: &str, body: &str) -> Server {
    let fields = format!("content-type: {content_type}\r\n");
    Server::answering(response(status, &fields, body.as_bytes())).await
}

/// The configuration of a service, with its key where it wants one.
fn configured(backend: &str, port: u16) -> String {
    let search =
        format!("[web_search]\nbackend = \"{backend}\"\nurl = \"http://127.0.0.1:{port}/api\"\n");
    let field = match backend {
        "brave" => "header = \"X-Subscription-Token\"",
        "tavily" => "",
        _ => return search,
    };
    format!(
        "{search}secret = \"search\"\n[secrets.search]\ncommand = [\"/bin/echo\", \"{KEY}\"]\n\
         url = \"http://127.0.0.1:{port}\"\n{field}\n"
    )
}

async fn searching(backend: &str, server: &Server) -> TestHost {
    let config = configured(backend, server.port());
    Net::new(&Names::new(), &config)
        .allow(&["WebSearch"])
        .host()
        .await
}

fn urls(outcome: &Outcome) -> Vec<String> {
    let Ending::Done(output) = &outcome.ending else {
        panic!("not done: {:?}", outcome.ending)
    };
    let structured = output.structured.as_ref().expect("a structured result");
    let results = structured["results"].as_array().expect("results");
    let url = |result: &Value| result["url"].as_str().expect("a URL").to_owned();
    results.iter().map(url).collect()
}

#[test]
fn every_service_is_asked_in_its_way_and_its_answer_is_read() {
    run(async {
        for (backend, content_type, answer, request, key) in [
            (
                "brave",
                "application/json",
                BRAVE,
                "GET /api?q=rust+book&count=20",
                Some("x-subscription-token: KEY-"),
            ),
            (
                "tavily",
                "application/json",
                TAVILY,
                "POST /api HTTP/1.1",
                Some("authorization: Bearer KEY-"),
            ),
            (
                "searxng",
                "application/json",
                SEARXNG,
                "GET /api?q=rust+book&format=json",
                None,
            ),
            (
                "duckduckgo",
                "text/html",
                DUCKDUCKGO,
                "GET /api?q=rust+book",
                None,
            ),
        ] {
            let server = answering("200 OK", content_type, answer).await;
            let host = searching(backend, &server).await;
            let outcome = host
                .call("WebSearch", json!({ "query": "rust book" }))
                .await;
            assert_eq!(
                urls(&outcome)[0],
                "https://doc.rust-lang.org/book/",
                "{backend}"
            );
            let text = outcome.ending.text();
            assert!(
                text.starts_with("1. The Rust Programming Language"),
                "{text}"
            );
            let heads = server.heads();
            assert_eq!(heads.len(), 1, "{backend}");
            assert!(heads[0].starts_with(request), "{}", heads[0]);
            if let Some(key) = key {
                assert!(
                    heads[0].to_lowercase().contains(&key.to_lowercase()),
                    "{}",
                    heads[0]
                );
            }
            let told = format!("{text}{:?}{:?}", outcome, host.journal.records());
            assert!(!told.contains(KEY), "the key is told: {told}");
            neighbour(&host).await;
        }
    });
}

#[test]
fn domains_are_applied_to_what_comes_back() {
    run(async {
        let server = answering("200 OK", "application/json", BRAVE).await;
        let host = searching("brave", &server).await;
        let allowed = json!({ "query": "rust book", "allowed_domains": ["rust-lang.org"] });
        let outcome = host.call("WebSearch", allowed).await;
        assert_eq!(
            urls(&outcome),
            [
                "https://doc.rust-lang.org/book/",
                "https://www.rust-lang.org/learn"
            ]
        );
        assert!(
            outcome
                .ending
                .text()
                .contains("[1 result of other domains left out.]")
        );
        assert!(server.heads()[0].contains("site%3Arust-lang.org"));
        let blocked = json!({ "query": "rust book", "blocked_domains": ["doc.rust-lang.org", "rust-lang.example"] });
        assert_eq!(
            urls(&host.call("WebSearch", blocked).await),
            ["https://www.rust-lang.org/learn"]
        );
        let asked = server.heads().len();
        for (input, part) in [
            (
                json!({ "query": "q q", "allowed_domains": ["a.test"], "blocked_domains": ["b.test"] }),
                "exclude each other",
            ),
            (
                json!({ "query": "q q", "allowed_domains": ["https://a.test/"] }),
                "'allowed_domains[0]' must be a domain",
            ),
            (json!({ "query": " " }), "2 to 400 characters"),
        ] {
            let said = host.failed("WebSearch", input).await;
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(server.heads().len(), asked, "nothing was asked");
    });
}

#[test]
fn a_service_that_does_not_answer_is_a_failure_with_its_reason() {
    run(async {
        for (backend, status, body, part) in [
            ("brave", "401 Unauthorized", "{}", "does not accept the key"),
            ("tavily", "429 Too Many Requests", "{}", "asked too often"),
            ("searxng", "403 Forbidden", "", "'search.formats'"),
            ("searxng", "200 OK", "<html>", "no JSON"),
            (
                "duckduckgo",
                "200 OK",
                "<p>hello",
                "a form that is not known",
            ),
            ("brave", "302 Found", "", "status 302"),
        ] {
            let server = answering(status, "text/html", body).await;
            let host = searching(backend, &server).await;
            let said = host
                .failed("WebSearch", json!({ "query": "rust book" }))
                .await;
            assert!(said.contains(part), "{backend} {status}: {said}");
        }
    });
}

#[test]
fn the_tool_is_there_only_with_a_service_that_can_be_asked() {
    run(async {
        let host = Net::new(&Names::new(), "").host().await;
        let said = host
            .denied("WebSearch", json!({ "query": "rust book" }))
            .await;
        assert!(
            said.contains("unknown tool") || said.contains("no tool"),
            "{said}"
        );
        let brave = configured("brave", 81);
        for (config, says) in [
            (
                brave.replace("[secrets.search]", "[secrets.serach]"),
                "there is no secret 'search': write a table [secrets.search]. Did you mean 'serach'?",
            ),
            (
                brave.replace(
                    "url = \"http://127.0.0.1:81\"",
                    "url = \"http://127.0.0.1:82\"",
                ),
                "is for http://127.0.0.1:82, and the service answers at",
            ),
            (
                brave.replace("header =", "prefix = \"x \"\nheader ="),
                "'brave' reads it in 'x-subscription-token' behind ''",
            ),
            (
                format!("{brave}[tools.WebSearch.settings]\nurl = \"x\""),
                "[tools.WebSearch.settings] is filled by the host",
            ),
        ] {
            let refused = Net::new(&Names::new(), &config).try_host().await;
            let said = refused.map(drop).expect_err("no start").to_string();
            assert!(said.contains(says), "{said}");
        }
    });
}

/// A question goes to the service and nowhere else, whatever the service answers.
#[test]
fn a_service_that_sends_on_is_not_followed_and_its_key_stays_here() {
    run(async {
        let elsewhere = Server::saying("{}").await;
        let to = format!("location: http://127.0.0.1:{}/\r\n", elsewhere.port());
        let server = Server::answering(response("302 Found", &to, b"")).await;
        let host = searching("brave", &server).await;
        let said = host
            .failed("WebSearch", json!({ "query": "rust book" }))
            .await;
        assert!(said.contains("status 302"), "{said}");
        assert_eq!((server.connections(), elsewhere.connections()), (1, 0));
    });
}
