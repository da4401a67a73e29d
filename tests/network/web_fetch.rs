//! WebFetch through every gate and the sandbox, at real servers.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::model::{Content, Ending};
use toolgate_tests::TestHost;

use crate::hosts::{Net, neighbour, requests};
use crate::server::{Names, Server, ok, redirect, response, run};

/// What the operator opens: servers of the tests, under any name of theirs.
const OPEN: &str = r#"[egress]
allow = [{ url = "http://*.test:*/**", addresses = ["127.0.0.1"] }]
"#;

/// A host whose WebFetch may reach servers of the tests.
async fn fetching(names: &Arc<Names>) -> TestHost {
    Net::new(names, OPEN).allow(&["WebFetch"]).host().await
}

/// A URL of a server under a name.
fn url(host: &str, port: u16, path: &str) -> String {
    format!("http://{host}:{port}{path}")
}

/// A page that must have been fetched.
async fn fetched(host: &TestHost, url: &str) -> String {
    host.done("WebFetch", json!({ "url": url })).await
}

/// Why a page was not fetched: by the tool or by a gate.
async fn not_fetched(host: &TestHost, url: &str) -> String {
    let outcome = host.call("WebFetch", json!({ "url": url })).await;
    assert!(
        matches!(outcome.ending, Ending::Failed(_) | Ending::Denied(_)),
        "{url}: {:?}",
        outcome.ending
    );
    outcome.ending.text()
}

/// The parts of a call that must have been done.
async fn parts(host: &TestHost, input: Value) -> Vec<Content> {
    match host.call("WebFetch", input).await.ending {
        Ending::Done(output) => output.content,
        other => panic!("not done: {other:?}"),
    }
}

/// `unpacked`, by gzip.
const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xcd\x2b\x48\x4c\xce\x4e\x4d\x01\x00\x96\x62\x2f\xca\x08\x00\x00\x00";

fn typed(content_type: &str, body: &[u8]) -> Vec<u8> {
    response("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

#[test]
fn a_page_comes_as_markdown_under_its_heading_and_the_request_is_in_the_record() {
    run(async {
        let html = "<!doctype html><title>T</title><script>evil()</script><h1>Head</h1><p>A <a href='/b'>link</a>.";
        let server = Server::answering(typed("text/html; charset=utf-8", html.as_bytes())).await;
        let names = Names::new().here("a.test");
        let host = fetching(&names).await;
        let page = url("a.test", server.port(), "/x?key=VALUE#part");
        let input = json!({ "url": page, "prompt": "Where does it lead?" });
        let text = host.done("WebFetch", input).await;
        let port = server.port();
        assert_eq!(
            text,
            format!(
                "[http://a.test:{port}/x?key=VALUE: text/html, UTF-8, {} bytes]\n[Title: T]\n[Asked of this page: Where does \
                 it lead?]\n\n# Head\n\nA [link](http://a.test:{port}/b).",
                html.len()
            )
        );
        let heads = server.heads();
        assert_eq!(heads.len(), 1);
        assert!(
            heads[0].starts_with("GET /x?key=VALUE HTTP/1.1\r\n"),
            "{heads:?}"
        );
        let requests = requests(&host);
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert_eq!(
            (&requests[0]["method"], &requests[0]["status"]),
            (&json!("GET"), &json!(200))
        );
        assert!(!format!("{requests:?}").contains("VALUE"), "{requests:?}");
    });
}

#[test]
fn a_redirect_on_the_host_is_followed_and_one_away_is_told_and_not_dialled() {
    run(async {
        let other = Server::saying("secret").await;
        let names = Names::new().here("a.test").here("b.test");
        let host = fetching(&names).await;
        let away = url("b.test", other.port(), "/next");
        let server = Server::raw({
            let away = away.clone();
            move |mut caller| {
                let away = away.clone();
                async move {
                    let head = caller.head().await;
                    let answer = match head.split(' ').nth(1) {
                        Some("/here") => redirect("/there"),
                        Some("/there") => ok("arrived"),
                        Some("/metadata") => redirect("http://169.254.169.254/latest/"),
                        _ => redirect(&away),
                    };
                    caller.send(answer).await;
                }
            }
        })
        .await;
        let at = |path: &str| url("a.test", server.port(), path);
        let text = fetched(&host, &at("/here")).await;
        assert!(
            text.contains("arrived") && text.contains("/there"),
            "{text}"
        );
        for (path, target) in [
            ("/away", away.as_str()),
            ("/metadata", "http://169.254.169.254/latest/"),
        ] {
            let said = not_fetched(&host, &at(path)).await;
            assert!(
                said.contains("redirects to another host") && said.contains(target),
                "{said}"
            );
        }
        assert_eq!(other.connections(), 0);
        assert_eq!(
            names
                .asked()
                .iter()
                .filter(|name| *name != "a.test")
                .count(),
            0
        );
    });
}

/// It changes nothing, and whoever answers is told something all the same.
#[test]
fn without_a_rule_somebody_is_asked_for_each_url() {
    run(async {
        let server = Server::saying("said").await;
        let names = Names::new().here("a.test");
        let page = url("a.test", server.port(), "/");
        let input = json!({ "url": page });
        let nobody = Net::new(&names, OPEN).host().await;
        nobody.denied("WebFetch", input.clone()).await;
        let line = format!("{OPEN}[approval]\nexempt_at_or_below = \"mutating\"\n");
        Net::new(&names, &line)
            .host()
            .await
            .denied("WebFetch", input.clone())
            .await;
        let other = Net::new(&names, OPEN)
            .allow(&["WebFetch(http://b.test:*/**)"])
            .host()
            .await;
        other.denied("WebFetch", input.clone()).await;
        assert_eq!((server.connections(), names.asked().len()), (0, 0));
        let asked = Net::new(&names, OPEN).approving().await;
        assert!(asked.done("WebFetch", input).await.ends_with("said"));
    });
}

#[test]
fn types_and_encodings_are_honoured() {
    run(async {
        let png = b"\x89PNG\r\n\x1a\nrest".as_slice();
        let server = Server::raw(move |mut caller| async move {
            let head = caller.head().await;
            let answer = match head.split(' ').nth(1) {
                Some("/json") => typed("application/json", b"{\"a\": [1]}"),
                Some("/latin") => typed("text/html; charset=iso-8859-1", b"<p>caf\xe9</p>"),
                Some("/meta") => typed("text/html", b"<meta charset=koi8-r><p>\xf4\xc5\xd3\xd4"),
                Some("/png") => typed("image/png", png),
                Some("/pdf") => typed("application/pdf", b"%PDF-1.7"),
                Some("/untyped") => response("200 OK", "", b"<html><b>bold</b></html>"),
                Some("/gzip") => {
                    let fields = "content-type: text/plain\r\ncontent-encoding: gzip\r\n";
                    response("200 OK", fields, PACKED)
                }
                _ => response(
                    "404 Not Found",
                    "content-type: text/html\r\n",
                    b"<h1>Gone fishing</h1>",
                ),
            };
            caller.send(answer).await;
        })
        .await;
        let names = Names::new().here("a.test");
        let host = fetching(&names).await;
        let at = |path: &str| url("a.test", server.port(), path);
        for (path, part) in [
            ("/json", "{\"a\": [1]}"),
            ("/latin", "café"),
            ("/meta", "Тест"),
            ("/untyped", "**bold**"),
            ("/gzip", "unpacked"),
        ] {
            let text = fetched(&host, &at(path)).await;
            assert!(text.ends_with(part), "{path}: {text}");
        }
        let shown = parts(&host, json!({ "url": at("/png") })).await;
        assert!(
            matches!(shown.as_slice(), [Content::Text { .. }, Content::Blob { mime, data, .. }] if mime == "image/png" && data == png),
            "{shown:?}"
        );
        for (path, part) in [
            ("/pdf", "is a PDF (8 bytes), which WebFetch does not show"),
            (
                "/none",
                "answered 404 (there is no such page). It says:\n# Gone fishing",
            ),
        ] {
            let said = not_fetched(&host, &at(path)).await;
            assert!(said.contains(part), "{path}: {said}");
        }
    });
}

#[test]
fn a_body_without_end_is_cut_and_the_server_is_left() {
    run(async {
        let server = Server::raw(|mut caller| async move {
            caller.head().await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
            caller.send(head).await;
            while caller.send([b'0'; 16_384]).await {}
        })
        .await;
        let names = Names::new().here("big.test");
        let host = fetching(&names).await;
        let text = fetched(&host, &url("big.test", server.port(), "/")).await;
        assert!(
            text.contains("[The body was cut at 4,194,304 bytes.]"),
            "{}",
            text.len()
        );
        server.until_idle().await;
        neighbour(&host).await;
    });
}

#[test]
fn pages_that_want_to_do_harm_end_beside_a_neighbour_that_does_not_notice() {
    run(async {
        let names = Names::new().here("a.test");
        let host = fetching(&names).await;
        for page in [
            "<div>".repeat(400_000),
            format!("{}deep", "<ul><li>".repeat(90)),
            format!("{}deep", "<blockquote><ol><li><p><b><i>".repeat(16)),
            "<b>a</b>".repeat(150_000),
            format!(
                "<table><tr><th>{}</tr>{}",
                "w".repeat(100_000),
                "<tr><td>x".repeat(50_000)
            ),
            format!("<p title='{}'>x", "y".repeat(3 << 20)),
            "<![CDATA[".repeat(100_000),
        ] {
            let server = Server::answering(typed("text/html", page.as_bytes())).await;
            let address = url("a.test", server.port(), "/");
            let (text, ()) = tokio::join!(fetched(&host, &address), neighbour(&host));
            let begin: String = text.chars().take(200).collect();
            assert!(begin.starts_with("[http://a.test"), "{begin}");
        }
    });
}

#[test]
fn each_failure_says_what_it_is() {
    run(async {
        let slow = Server::raw(|mut caller| async move {
            caller.head().await;
            caller.until_gone().await;
        })
        .await;
        let broken = Server::answering("SSH-2.0-x\r\n").await;
        let names = Names::new()
            .here("slow.test")
            .here("broken.test")
            .here("denied.test")
            .here("closed.test")
            .say("private.test", &["10.0.0.5", "93.184.216.34"]);
        let host = Net::new(&names, &format!("{OPEN}first_byte_timeout_ms = 300"))
            .allow(&["WebFetch"])
            .deny(&["WebFetch(http://denied.test:*/**)"])
            .host()
            .await;
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = closed.local_addr().expect("an address").port();
        drop(closed);
        for (at, part) in [
            (url("slow.test", slow.port(), "/"), "took too long"),
            (url("broken.test", broken.port(), "/"), "HTTP"),
            (url("nowhere.test", 80, "/"), "cannot be looked up"),
            (url("closed.test", port, "/"), "could not be reached"),
            (url("private.test", 80, "/"), "private"),
            (
                url("denied.test", slow.port(), "/"),
                "WebFetch(http://denied.test:*/**)",
            ),
            ("ftp://a.test/".to_owned(), "only http and https"),
        ] {
            let said = not_fetched(&host, &at).await;
            assert!(said.contains(part), "{at}: {said}");
            assert!(
                !said.contains("10.0.0.5") && !said.contains("127.0.0.1"),
                "{said}"
            );
        }
        assert!(!names.asked().contains(&"denied.test".to_owned()));
        slow.until_idle().await;
    });
}
