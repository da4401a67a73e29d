//! Servers at an address: answers in every form that the protocol has, and those that are none.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::config::{McpReach, McpServer, SecretOrigin, SecretSetting};
use toolgate::model::ServerAlias;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::fixture::{failure, names, report, tool, upstreams};

/// What a server heard: method, tool, session.
type Heard = Arc<Mutex<Vec<String>>>;

const SESSION: &str = "mcp-session-id";

async fn answer(State(heard): State<Heard>, headers: HeaderMap, body: Bytes) -> Response {
    let said: Value = serde_json::from_slice(&body).expect("JSON");
    let method = said["method"].as_str().unwrap_or_default().to_owned();
    let name = said["params"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    heard
        .lock()
        .expect("a lock")
        .push(format!("{method} {name}"));
    let id = said["id"].clone();
    let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    match (method.as_str(), name.as_str()) {
        ("initialize", _) => (
            [
                (SESSION, "s-1"),
                (header::CONTENT_TYPE.as_str(), "application/json"),
            ],
            result(json!({
                "protocolVersion": said["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"},
            }))
            .to_string(),
        )
            .into_response(),
        ("server/discover", _) => (StatusCode::BAD_REQUEST, "what is that?").into_response(),
        _ if id.is_null() => StatusCode::ACCEPTED.into_response(),
        ("tools/list", _) => {
            assert_eq!(headers[SESSION], "s-1");
            let names = [
                "plain",
                "events",
                "broken",
                "gone",
                "page",
                "null",
                "null-event",
                "away",
                "long",
                "who",
            ];
            let tools: Vec<Value> = names.iter().map(|name| tool(name)).collect();
            as_json(&result(json!({"tools": tools})))
        }
        (_, "plain") => as_json(&result(text("plainly"))),
        (_, "events") => as_events(&[
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}),
            result(text("in events")),
        ]),
        (_, "broken") => (StatusCode::INTERNAL_SERVER_ERROR, "Traceback: x").into_response(),
        (_, "gone") => StatusCode::NOT_FOUND.into_response(),
        (_, "page") => ([(header::CONTENT_TYPE, "text/html")], "<h1>Sign in</h1>").into_response(),
        (_, "null") => as_json(&result(Value::Null)),
        (_, "null-event") => as_events(&[result(Value::Null)]),
        (_, "away") => (
            StatusCode::TEMPORARY_REDIRECT,
            [(header::LOCATION, "http://127.0.0.1:9/elsewhere")],
        )
            .into_response(),
        (_, "who") => {
            let who = headers.get(header::AUTHORIZATION);
            let who = who.map_or("nobody", |who| who.to_str().expect("text"));
            heard.lock().expect("a lock").push(who.to_owned());
            as_json(&result(text(&format!("it is {who}"))))
        }
        (_, "long") => as_json(&result(text(&"x".repeat(9 << 20)))),
        _ => StatusCode::NOT_IMPLEMENTED.into_response(),
    }
}

fn text(words: &str) -> Value {
    json!({"content": [{"type": "text", "text": words}]})
}

fn as_json(message: &Value) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        message.to_string(),
    )
        .into_response()
}

fn as_events(messages: &[Value]) -> Response {
    let events: String = messages
        .iter()
        .map(|message| format!("event: message\ndata: {message}\n\n"))
        .collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}

/// A server on a port of the system's choice. It ends with the test's runtime.
async fn served() -> (SocketAddr, Heard) {
    let heard = Heard::default();
    let app = Router::new()
        .route("/mcp", post(answer))
        .with_state(Arc::clone(&heard));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address, heard)
}

async fn host(address: SocketAddr) -> TestHost {
    host_with(address, |_, _| {}).await
}

async fn host_with(
    address: SocketAddr,
    change: impl FnOnce(&mut McpServer, &mut Setup),
) -> TestHost {
    let alias = ServerAlias::try_from("web").expect("an alias");
    let url = format!("http://{address}/mcp").parse().expect("a URL");
    let mut setup = Setup::default();
    let mut server = McpServer::http(alias, url);
    change(&mut server, &mut setup);
    setup.config.mcp.insert("web".to_owned(), server.into());
    let yes = Fixed::approve("the test");
    let host = TestHost::with(Scratch::new(), setup, |builder| builder.approver(yes)).await;
    upstreams(&host).settle().await;
    host
}

#[tokio::test]
async fn m05_what_a_server_answers_instead_of_an_answer_is_an_error_with_its_status() {
    let (address, heard) = served().await;
    let host = host(address).await;
    assert_eq!(names(&host).len(), 10, "{:?}", report(&host, "web"));
    assert_eq!(host.done("web__plain", json!({})).await, "plainly");
    assert_eq!(host.done("web__events", json!({})).await, "in events");
    for (tool, says) in [
        ("web__broken", "HTTP 500"),
        ("web__gone", "HTTP 404"),
        ("web__page", "text/html"),
        ("web__null", "no object"),
        ("web__null-event", "no object"),
        ("web__away", "HTTP 307"),
        ("web__long", "exceeded the maximum size"),
    ] {
        let failing = tokio::time::timeout(
            std::time::Duration::from_secs(20),
            failure(&host, tool, json!({})),
        );
        let (_, text) = failing
            .await
            .unwrap_or_else(|_| panic!("{tool} is waited for"));
        assert!(text.contains(says), "{tool}: {text}");
        assert_eq!(
            host.done("web__plain", json!({})).await,
            "plainly",
            "after {tool}"
        );
    }
    // None of them was sent twice.
    let heard = heard.lock().expect("a lock");
    for tool in ["broken", "gone", "page", "null", "away", "long"] {
        let calls = heard
            .iter()
            .filter(|said| **said == format!("tools/call {tool}"));
        assert_eq!(calls.count(), 1, "{tool}: {heard:?}");
    }
}

#[tokio::test]
async fn an_address_where_nobody_is_is_said_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let host = host(address).await;
    let down = report(&host, "web").down.expect("it does not run");
    assert!(down.contains("refused"), "{down}");
    host.scratch.file("a.txt", "still here");
    assert!(
        host.done("Read", json!({"file_path": "/ws/a.txt"}))
            .await
            .contains("still here")
    );
}

/// The server is told the secret, and nobody else is, also where the server says it back.
#[tokio::test]
async fn a_secret_goes_to_its_server_and_to_nobody_else() {
    let (address, heard) = served().await;
    let scratch = Scratch::new();
    let file = scratch.outside.join("token");
    std::fs::write(&file, "s3cret-token-value\n").expect("a file");
    let host = host_with(address, |server, setup| {
        if let McpReach::Http { secret, .. } = &mut server.reach {
            *secret = Some("web".to_owned().into());
        }
        let secret = SecretSetting {
            from: SecretOrigin::File(file),
            url: format!("http://{address}"),
            header: "authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
            tools: Vec::new(),
        };
        setup.config.secrets.insert("web".to_owned(), secret.into());
    })
    .await;
    let said = host.done("web__who", json!({})).await;
    assert!(!said.contains("s3cret-token-value"), "{said}");
    let told = "Bearer s3cret-token-value".to_owned();
    assert!(heard.lock().expect("a lock").contains(&told));
    let records = format!("{:?}", host.journal.records());
    assert!(!records.contains("s3cret-token-value"), "{records}");
    // A secret that was not set stops the start; without one nobody is named.
    let (address, heard) = served().await;
    let host = self::host(address).await;
    assert_eq!(host.done("web__who", json!({})).await, "it is nobody");
    assert!(heard.lock().expect("a lock").contains(&"nobody".to_owned()));
}
