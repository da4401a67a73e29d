//! What a request is: judged, dialled where it was judged, answered, noted.

use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Method, Request, Response};
use sha2::{Digest as _, Sha256};
use toolgate::egress::{Body, Connector, EgressError, MAX_REQUESTS, RequestUses, empty, full};
use toolgate::policy::{EgressGrant, EgressPattern, EgressRefusal};

use crate::server::{HERE, Names, Server, connector, grant, ok, redirect, response, run};

pub(crate) fn get(url: &str) -> Request<Body> {
    Request::get(url).body(empty()).expect("a request")
}

pub(crate) async fn text(response: Response<Body>) -> String {
    let body = response.into_body().collect().await.expect("a body");
    String::from_utf8(body.to_bytes().to_vec()).expect("UTF-8")
}

pub(crate) fn refusal(sent: Result<Response<Body>, EgressError>) -> EgressRefusal {
    match sent {
        Err(EgressError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_request_arrives_as_it_was_judged_and_leaves_evidence() {
    run(async {
        let server = Server::saying("hello").await;
        let names = Names::new().here("ok.test");
        let uses = RequestUses::new();
        let connector = connector(&names).noting(&uses);
        let url = format!("http://OK.test:{}/a/../b%7Ec?key=VALUE#part", server.port());
        let request = Request::post(&url)
            .header("host", "evil.test")
            .header("connection", "upgrade")
            .header("proxy-authorization", "Basic eA==")
            .header("x-own", "kept")
            .body(full("sent"))
            .expect("a request");
        let answer = connector
            .send(&grant(&["http://ok.test:*/**"]), request)
            .await;
        assert_eq!(text(answer.expect("an answer")).await, "hello");
        let [head] = <[String; 1]>::try_from(server.heads()).expect("one request");
        let head = head.to_ascii_lowercase();
        assert!(
            head.starts_with("post /b%7ec?key=value http/1.1\r\n"),
            "{head}"
        );
        for part in [
            format!("host: ok.test:{}\r\n", server.port()),
            "x-own: kept\r\n".to_owned(),
            "content-length: 4\r\n".to_owned(),
            "accept-encoding: gzip, deflate, br\r\n".to_owned(),
        ] {
            assert!(head.contains(&part), "{part} is missing in {head}");
        }
        for part in ["evil.test", "upgrade", "proxy-authorization"] {
            assert!(!head.contains(part), "{part} stands in {head}");
        }
        assert_eq!(names.asked(), ["ok.test"]);
        let [used] = <[_; 1]>::try_from(uses.taken()).expect("one line");
        assert_eq!(used.method, "POST");
        assert_eq!(
            used.url,
            format!("http://ok.test:{}/b%7Ec?key=…", server.port())
        );
        assert_eq!(used.address, Some(server.address));
        assert_eq!((used.status, used.sent, used.received), (Some(200), 4, 5));
        assert!(used.complete && used.failure.is_none());
        let digest = toolgate::model::hex(&Sha256::digest(b"hello"));
        assert_eq!(used.body_sha256, Some(digest));
    });
}

#[test]
fn what_the_grant_does_not_cover_is_neither_looked_up_nor_dialled() {
    run(async {
        let server = Server::saying("secret").await;
        let names = Names::new().here("ok.test").here("evil.test");
        let connector = connector(&names);
        let port = server.port();
        let grant = EgressGrant::of_operator([EgressPattern::parse(&format!(
            "http://ok.test:{port}/open/**"
        ))
        .expect("a pattern")
        .with_methods(["GET"])
        .expect("methods")])
        .expect("a grant");
        for (method, url, expected) in [
            (
                "GET",
                format!("http://evil.test:{port}/open/x"),
                EgressRefusal::NotOpened,
            ),
            (
                "GET",
                format!("http://ok.test:{port}/shut"),
                EgressRefusal::NotOpened,
            ),
            (
                "GET",
                format!("https://ok.test:{port}/open/x"),
                EgressRefusal::NotOpened,
            ),
            (
                "GET",
                "http://ok.test/open/x".to_owned(),
                EgressRefusal::NotOpened,
            ),
            (
                "POST",
                format!("http://ok.test:{port}/open/x"),
                EgressRefusal::OtherMethods,
            ),
            (
                "CONNECT",
                format!("http://ok.test:{port}/open/x"),
                EgressRefusal::Method,
            ),
            (
                "TRACE",
                format!("http://ok.test:{port}/open/x"),
                EgressRefusal::Method,
            ),
            (
                "GET",
                format!("ftp://ok.test:{port}/open/x"),
                EgressRefusal::Scheme,
            ),
        ] {
            let method: Method = method.parse().expect("a method");
            let request = Request::builder().method(method).uri(&url);
            let sent = connector.send(&grant, request.body(empty()).expect("a request"));
            assert_eq!(refusal(sent.await), expected, "{url}");
        }
        let relative = connector.send(&grant, get("/open/x")).await;
        assert!(matches!(refusal(relative), EgressRefusal::Url(_)));
        assert_eq!(names.asked(), [""; 0]);
        assert_eq!(server.connections(), 0);
    });
}

#[test]
fn a_read_only_grant_sends_no_body_and_changes_nothing() {
    run(async {
        let server = Server::saying("read").await;
        let connector = connector(&Names::new());
        let url = format!("http://{HERE}:{}/", server.port());
        let grant = grant(&["http://127.0.0.1:*"]).reading();
        let post = Request::post(&url).body(empty()).expect("a request");
        assert_eq!(
            refusal(connector.send(&grant, post).await),
            EgressRefusal::ReadsOnly
        );
        let with_body = Request::get(&url).body(full("x")).expect("a request");
        let error = connector
            .send(&grant, with_body)
            .await
            .expect_err("a refusal");
        assert_eq!(error, EgressError::BodyOfReader);
        assert_eq!(server.connections(), 0);
        let answer = connector.send(&grant, get(&url)).await.expect("an answer");
        assert_eq!(text(answer).await, "read");
    });
}

#[test]
fn a_call_has_its_share_of_requests() {
    run(async {
        let server = Server::saying("x").await;
        let uses = RequestUses::new();
        let connector = connector(&Names::new()).noting(&uses);
        let shut = grant(&["http://127.0.0.1:1"]);
        let open = grant(&["http://127.0.0.1:*"]);
        let url = format!("http://{HERE}:{}/", server.port());
        for _ in 0..MAX_REQUESTS {
            refusal(connector.send(&shut, get(&url)).await);
        }
        let error = connector
            .send(&open, get(&url))
            .await
            .expect_err("a refusal");
        assert_eq!(
            error,
            EgressError::TooManyRequests {
                limit: MAX_REQUESTS
            }
        );
        assert_eq!(
            (uses.taken().len(), server.connections()),
            (MAX_REQUESTS, 0)
        );
        // Another call has a share of its own.
        let other = connector.noting(&RequestUses::new());
        let answer = other.send(&open, get(&url)).await.expect("an answer");
        assert_eq!(text(answer).await, "x");
    });
}

#[test]
fn dropping_a_request_or_its_body_ends_the_connection() {
    run(async {
        let silent = Server::raw(|mut caller| async move {
            caller.head().await;
            caller.until_gone().await;
        })
        .await;
        let slow = Server::raw(|mut caller| async move {
            caller.head().await;
            caller
                .send("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegun")
                .await;
            caller.until_gone().await;
        })
        .await;
        let connector = connector(&Names::new());
        let grant = grant(&["http://127.0.0.1:*"]);
        let url = format!("http://{HERE}:{}/", silent.port());
        let waiting = connector.send(&grant, get(&url));
        let waited = tokio::time::timeout(std::time::Duration::from_millis(200), waiting).await;
        assert!(waited.is_err(), "an answer of a silent server");
        silent.until_idle().await;
        let url = format!("http://{HERE}:{}/", slow.port());
        let mut answer = connector.send(&grant, get(&url)).await.expect("an answer");
        let part = answer
            .body_mut()
            .frame()
            .await
            .expect("a part")
            .expect("bytes");
        assert_eq!(part.into_data().expect("bytes"), "begun");
        drop(answer);
        slow.until_idle().await;
        assert_eq!((silent.connections(), slow.connections()), (1, 1));
    });
}

async fn follow(
    connector: &Connector,
    grant: &EgressGrant,
    url: &str,
) -> Result<String, EgressError> {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer VALUE".parse().expect("a value"));
    let (at, answer) = connector.follow(grant, url, headers).await?;
    Ok(format!("{} {}", at.path(), text(answer).await))
}

#[test]
fn redirects_are_judged_hop_by_hop_and_carry_no_credentials() {
    run(async {
        let private = Server::saying("private").await;
        let at = private.address;
        let server = Server::raw(move |mut caller| async move {
            let head = caller.head().await;
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let answer = match path.as_str() {
                "/start" => redirect("/next"),
                "/next" => redirect("end?x=1"),
                "/private" => redirect(&format!("http://{at}/")),
                "/metadata" => redirect("http://169.254.169.254/latest/"),
                "/loop" => redirect("/loop"),
                "/nowhere" => response("302 Found", "", b""),
                _ => ok("end"),
            };
            caller.send(answer).await;
        })
        .await;
        let names = Names::new().here("ok.test");
        let connector = connector(&names);
        let (grant, base) = (
            grant(&["http://ok.test:*"]),
            format!("http://ok.test:{}", server.port()),
        );
        let followed = follow(&connector, &grant, &format!("{base}/start")).await;
        assert_eq!(followed.expect("an answer"), "/end end");
        let heads = server.heads();
        assert_eq!(heads.len(), 3);
        assert!(heads[0].contains("authorization: Bearer VALUE"));
        assert!(heads[1..].iter().all(|head| !head.contains("VALUE")));
        for path in ["private", "metadata"] {
            let refused = follow(&connector, &grant, &format!("{base}/{path}")).await;
            let refused = refused.expect_err("a refusal");
            assert_eq!(refused, EgressError::Refused(EgressRefusal::NotOpened));
        }
        let endless = follow(&connector, &grant, &format!("{base}/loop")).await;
        assert_eq!(endless, Err(EgressError::TooManyRedirects(10)));
        let nowhere = follow(&connector, &grant, &format!("{base}/nowhere")).await;
        assert_eq!(nowhere.expect("an answer"), "/nowhere ");
        assert_eq!(private.connections(), 0);
    });
}
