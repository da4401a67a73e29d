//! TLS, HTTP/2, and the operator's proxy.

use std::convert::Infallible;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use toolgate::egress::{EgressError, Proxy, RequestUses, full};

use crate::connector::{get, text};
use crate::server::{Authority, Caller, HERE, Names, Server, grant, ok, run};

async fn hello(mut caller: Caller) {
    caller.head().await;
    caller.send(ok("hello")).await;
}

#[test]
fn the_name_of_the_url_is_what_the_certificate_must_say() {
    run(async {
        let authority = Authority::new();
        let server = authority.server(&["ok.test"], hello).await;
        let names = Names::new().here("ok.test").here("other.test");
        let trusting = authority.connector(&names);
        let grant = grant(&["https://*.test:*", "https://127.0.0.1:*"]);
        let url = |host: &str| format!("https://{host}:{}/", server.port());
        let answer = trusting.send(&grant, get(&url("ok.test"))).await;
        assert_eq!(text(answer.expect("an answer")).await, "hello");
        let stranger = crate::server::connector(&names);
        for (connector, host) in [
            (&trusting, "other.test"),
            (&trusting, HERE),
            (&stranger, "ok.test"),
        ] {
            let error = connector.send(&grant, get(&url(host))).await;
            let error = error.expect_err("no trust");
            assert!(matches!(error, EgressError::Tls { .. }), "{host} {error}");
            assert!(error.for_model().contains(host));
        }
        assert_eq!(server.heads().len(), 1);
        let plain = Server::raw(|mut caller| async move {
            caller.send(ok("no TLS")).await;
        })
        .await;
        let url = format!("https://ok.test:{}/", plain.port());
        let error = trusting.send(&grant, get(&url)).await.expect_err("no TLS");
        assert!(matches!(error, EgressError::Tls { .. }), "{error}");
    });
}

async fn echo(request: Request<Incoming>) -> Result<Response<toolgate::egress::Body>, Infallible> {
    let said = format!(
        "{:?} {} {:?}",
        request.version(),
        request.uri(),
        request.headers().get("host")
    );
    Ok(Response::new(full(said)))
}

#[test]
fn http2_is_spoken_where_the_server_offers_it() {
    run(async {
        let authority = Authority::new();
        let acceptor = authority.acceptor(&["ok.test"], &[b"h2", b"http/1.1"]);
        let serve = |caller: Caller| async move {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let socket = TokioIo::new(caller);
            drop(builder.serve_connection(socket, service_fn(echo)).await);
        };
        let server = authority.serving(acceptor, serve).await;
        let names = Names::new().here("ok.test");
        let connector = authority.connector(&names);
        let url = format!("https://ok.test:{}/a?b", server.port());
        let answer = connector
            .send(&grant(&["https://ok.test:*"]), get(&url))
            .await;
        let said = text(answer.expect("an answer")).await;
        assert_eq!(said, format!("HTTP/2.0 {url} None"));
        server.until_idle().await;
    });
}

/// A proxy that connects whatever it is asked for.
async fn tunnel(mut caller: Caller) {
    let head = caller.head().await;
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let Ok(mut server) = tokio::net::TcpStream::connect(&target).await else {
        caller.send("HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
        return;
    };
    caller.send("HTTP/1.1 200 Connected\r\n\r\n").await;
    drop(tokio::io::copy_bidirectional(&mut caller.socket, &mut server).await);
}

#[test]
fn the_proxy_is_asked_for_the_judged_address_and_sees_no_request() {
    run(async {
        let authority = Authority::new();
        let server = authority.server(&["ok.test"], hello).await;
        let proxy = Server::raw(tunnel).await;
        let names = Names::new().here("ok.test").say("in.test", &["10.0.0.5"]);
        let uses = RequestUses::new();
        let through = format!("http://user:word@{HERE}:{}", proxy.port());
        let connector = authority
            .connector(&names)
            .with_proxy(Proxy::parse(&through).expect("a proxy"))
            .noting(&uses);
        let grant = grant(&["https://*.test:*"]);
        let url = format!("https://ok.test:{}/path", server.port());
        let answer = connector.send(&grant, get(&url)).await.expect("an answer");
        assert_eq!(text(answer).await, "hello");
        let [head] = <[String; 1]>::try_from(proxy.heads()).expect("one tunnel");
        assert!(
            head.starts_with(&format!("CONNECT {} HTTP/1.1\r\n", server.address)),
            "{head}"
        );
        assert!(
            head.contains("proxy-authorization: Basic dXNlcjp3b3Jk"),
            "{head}"
        );
        assert!(!server.heads()[0].contains("proxy-authorization"));
        let refused = connector.send(&grant, get("https://in.test/")).await;
        assert!(matches!(refused, Err(EgressError::Refused(_))));
        assert_eq!(proxy.connections(), 1);
        assert_eq!(uses.taken()[0].address, Some(server.address));
    });
}

#[test]
fn a_proxy_that_fails_is_a_failure_and_no_way_around_it_is_tried() {
    run(async {
        let server = Server::saying("direct").await;
        let refusing =
            Server::answering("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
        let garbage = Server::answering("no proxy at all\r\n\r\n").await;
        let names = Names::new().here("ok.test");
        let gone = {
            let closed = Server::saying("x").await;
            closed.port()
        };
        for port in [refusing.port(), garbage.port(), gone] {
            let proxy = Proxy::parse(&format!("http://{HERE}:{port}")).expect("a proxy");
            let connector = crate::server::connector(&names).with_proxy(proxy);
            let url = format!("http://ok.test:{}/", server.port());
            let error = connector
                .send(&grant(&["http://ok.test:*"]), get(&url))
                .await;
            let error = error.expect_err("no way");
            assert!(matches!(error, EgressError::Proxy { .. }), "{error}");
        }
        assert_eq!(server.connections(), 0);
        let neighbour = crate::server::connector(&names);
        let url = format!("http://ok.test:{}/", server.port());
        let answer = neighbour
            .send(&grant(&["http://ok.test:*"]), get(&url))
            .await;
        assert_eq!(text(answer.expect("an answer")).await, "direct");
    });
}
