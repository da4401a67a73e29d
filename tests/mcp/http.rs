//! The protocol over HTTP: who gets in, what is bounded, and how it ends.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::calls::{grows, rests};
use crate::client::{PATIENCE, text};
use crate::desk::Desk;
use crate::web::{Web, call, heard, initialize};

const ANY_PORT: [&str; 2] = ["--http", "127.0.0.1:0"];

fn web(desk: &Desk, more: &[&str]) -> Web {
    Web::start(desk.serve(&[&ANY_PORT, more].concat()))
}

fn read() -> Value {
    json!({"file_path": "a.txt"})
}

fn got_in(desk: &Desk) -> usize {
    desk.records().len()
}

#[test]
fn both_eras_are_served() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    let modern = web.call(&[], "Read", read());
    assert_eq!(modern.status, 200, "{modern:?}");
    assert!(
        text(&modern.answer()["result"]).contains("alpha"),
        "{modern:?}"
    );
    let session = web.session(&[], json!({}));
    let params = json!({"name": "Read", "arguments": read()});
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let legacy = web.post(&[("Mcp-Session-Id", &session)], &message);
    assert!(
        text(&legacy.answer()["result"]).contains("alpha"),
        "{legacy:?}"
    );
    let origins: Vec<Value> = desk
        .records()
        .iter()
        .map(|record| record["origin"].clone())
        .collect();
    assert_eq!(origins, ["mcp-http", "mcp-http"]);
    let health = web.send("GET", "/healthz", &[], b"");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    assert_eq!(web.send("GET", "/elsewhere", &[], b"").status, 404);
}

#[test]
fn m19_only_the_true_host_name_gets_in() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    for host in [
        "evil.test",
        "127.0.0.1.evil.test",
        "localhost:1",
        "",
        "evil.test@127.0.0.1",
        "[::1",
    ] {
        let reply = web.call(&[("Host", host)], "Read", read());
        assert!(matches!(reply.status, 400 | 403), "{host}: {reply:?}");
    }
    assert_eq!(got_in(&desk), 0);
    for host in [web.host(), format!("localhost:{}", web.port)] {
        assert_eq!(
            web.call(&[("Host", &host)], "Read", read()).status,
            200,
            "{host}"
        );
    }
}

#[test]
fn m20_a_page_gets_in_only_from_an_origin_that_is_named() {
    let desk = Desk::new();
    let config = desk.named(
        "c.toml",
        "[serve]\nallowed_origins = [\"https://app.example.com:443\"]\n",
    );
    let web = web(&desk, &["--config", &config]);
    for origin in [
        "http://evil.test",
        "null",
        "http://localhost.evil.test",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.test",
        "file://",
        "garbage",
    ] {
        let reply = web.call(&[("Origin", origin)], "Read", read());
        assert_eq!(reply.status, 403, "{origin}: {reply:?}");
    }
    assert_eq!(got_in(&desk), 0);
    for origin in ["", "https://app.example.com", "http://localhost:3000"] {
        let reply = web.call(&[("Origin", origin)], "Read", read());
        assert_eq!(reply.status, 200, "{origin}: {reply:?}");
    }
}

#[test]
fn c34_nobody_gets_in_without_a_token_where_there_is_one() {
    let desk = Desk::new();
    let tokens = desk.file("tokens", "# two\n0123456789abcdef\nfedcba9876543210\n");
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let web = web(&desk, &["--token-file", tokens.to_str().unwrap()]);
    for header in [
        "",
        "Bearer wrong-wrong-wrong-wrong",
        "Basic 0123456789abcdef",
        "0123456789abcdef",
        "Bearer ",
    ] {
        let reply = web.call(&[("Authorization", header)], "Read", read());
        assert_eq!(reply.status, 401, "{header}: {reply:?}");
        assert!(
            reply
                .header("www-authenticate")
                .unwrap()
                .starts_with("Bearer"),
            "{reply:?}"
        );
    }
    assert_eq!(got_in(&desk), 0);
    assert_eq!(web.send("GET", "/healthz", &[], b"").status, 200);
    let first = ("Authorization", "Bearer 0123456789abcdef");
    let second = ("Authorization", "Bearer fedcba9876543210");
    assert_eq!(web.call(&[first], "Read", read()).status, 200);
    // A session belongs to the client that began it.
    let session = web.session(&[first], json!({}));
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    assert_eq!(
        web.post(&[first, ("Mcp-Session-Id", &session)], &ping)
            .status,
        200
    );
    assert_eq!(
        web.post(&[second, ("Mcp-Session-Id", &session)], &ping)
            .status,
        404
    );
}

#[test]
fn c16_a_state_is_for_one_client() {
    let desk = Desk::new();
    let tokens = desk.file("tokens", "0123456789abcdef\nfedcba9876543210\n");
    std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let web = web(&desk, &["--token-file", tokens.to_str().unwrap()]);
    let write = |token: &str, more: Value| {
        let arguments = json!({"file_path": "out.txt", "content": "x"});
        let mut message = call("Write", arguments, json!({"elicitation": {}}));
        let params = message["params"].as_object_mut().unwrap();
        params.extend(more.as_object().unwrap().clone());
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "Write"),
            ("Authorization", token),
        ];
        web.post(&headers, &message).answer()
    };
    let (first, second) = ("Bearer 0123456789abcdef", "Bearer fedcba9876543210");
    let asked = write(first, json!({}));
    let state = asked["result"]["requestState"].clone();
    assert!(state.is_string(), "{asked}");
    let yes = json!({"action": "accept", "content": {"decision": "allow_once"}});
    let reply = json!({"requestState": state, "inputResponses": {"approval": yes}});
    let stolen = write(second, reply.clone());
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert!(!desk.ws.join("out.txt").exists());
    let done = write(first, reply);
    assert_eq!(done["result"]["isError"], false, "{done}");
}

#[test]
fn c34_no_other_address_than_loopback_is_served_openly() {
    let desk = Desk::new();
    for arguments in [
        vec!["--http", "0.0.0.0:0"],
        vec!["--http", "[::]:0"],
        vec!["--http", "0.0.0.0:0", "--no-auth"],
    ] {
        let output = desk.serve(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains("--token-file") && !said.contains("listening"),
            "{said}"
        );
    }
    let shared = desk.named("shared", "0123456789abcdef\n");
    std::fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let output = desk
        .serve(&["--http", "127.0.0.1:0", "--token-file", &shared])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("chmod 600"), "{said}");
    let config = desk.named("c.toml", "[serve]\ntoken_env = \"TOOLGATE_TEST_NO_SUCH\"\n");
    let output = desk
        .serve(&["--http", "127.0.0.1:0", "--config", &config])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("c.toml:2: ") && said.contains("is not set"),
        "{said}"
    );
}

#[test]
fn m14_a_batch_is_an_error_at_once() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    let batch = json!([
        call("Read", read(), json!({})),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    ]);
    for body in [batch.to_string(), "[]".to_owned()] {
        let reply = web.send("POST", "/mcp", &[], body.as_bytes());
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!(reply.answer()["error"]["code"], -32600, "{reply:?}");
    }
    assert_eq!(got_in(&desk), 0);
}

#[test]
fn m16_a_body_that_is_too_large_is_refused_and_the_next_is_served() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        web.host()
    );
    let mut stream = web.open(&head, b"");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..16 {
        let sent = write!(stream, "{:x}\r\n", piece.len())
            .and_then(|()| stream.write_all(&piece))
            .and_then(|()| stream.write_all(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    let mut reply = Vec::new();
    drop(stream.read_to_end(&mut reply));
    let reply = String::from_utf8_lossy(&reply).into_owned();
    assert!(reply.starts_with("HTTP/1.1 413 "), "{reply}");
    assert_eq!(web.call(&[], "Read", read()).status, 200);
}

#[test]
fn bad_requests_are_told_apart() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    assert_eq!(
        web.call(&[("Accept", "text/html")], "Read", read()).status,
        406
    );
    assert_eq!(
        web.call(&[("Content-Type", "text/plain")], "Read", read())
            .status,
        415
    );
    assert_eq!(web.send("POST", "/mcp", &[], b"not json").status, 400);
    assert_eq!(web.send("POST", "/mcp", &[], b"").status, 400);
    let gone = [("Mcp-Session-Id", "11111111-2222-3333-4444-555555555555")];
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    assert_eq!(web.post(&gone, &ping).status, 404);
    let mismatch = web.call(&[("Mcp-Name", "Write")], "Read", read());
    assert_eq!(mismatch.status, 400, "{mismatch:?}");
    assert_eq!(mismatch.answer()["error"]["code"], -32020, "{mismatch:?}");
    let early = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "Read", "arguments": read()}});
    assert!(web.post(&[], &early).status >= 400);
    let twice = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"Read\",\
        \"arguments\":{\"file_path\":\"a.txt\",\"file_path\":\"b.txt\"},\"_meta\":";
    let meta = crate::client::modern(json!({}));
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "Read"),
    ];
    let reply = web.send(
        "POST",
        "/mcp",
        &headers,
        format!("{twice}{meta}}}}}").as_bytes(),
    );
    assert_eq!(reply.answer()["error"]["code"], -32602, "{reply:?}");
}

#[test]
fn h08_a_client_that_goes_ends_its_call() {
    let desk = Desk::new();
    let web = web(&desk, &["--shell", "local", "--allow", "Bash"]);
    let line = "(setsid bash -c 'while :; do printf . >> beat; sleep .02; done' &); sleep 600";
    let body = call("Bash", json!({"command": line}), json!({})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: Bash\r\nContent-Length: {}\r\n\r\n",
        web.host(),
        body.len()
    );
    let stream = web.open(&head, body.as_bytes());
    let beat = desk.ws.join("beat");
    grows(&beat);
    drop(stream);
    rests(&beat);
    let begun = Instant::now();
    while desk.records_of("Bash").is_empty() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(desk.records_of("Bash")[0]["detail"]["bound"], "cancelled");
}

#[test]
fn c23_signs_of_life_keep_a_silent_session() {
    let desk = Desk::new();
    let config = desk.named("c.toml", "[serve]\nsession_idle_ms = 7000\n");
    let web = web(
        &desk,
        &["--config", &config, "--shell", "local", "--allow", "Bash"],
    );
    let session = web.session(&[], json!({}));
    let headers = [("Mcp-Session-Id", session.as_str())];
    let params = json!({"name": "Bash", "arguments": {"command": "sleep 13; echo end"},
        "_meta": {"progressToken": 1}});
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let reply = web.post(&headers, &message);
    let answer = reply.answer();
    assert!(text(&answer["result"]).contains("end"), "{reply:?}");
    assert!(reply.messages().len() > 1, "{reply:?}");
}

#[test]
fn c20_a_signal_ends_the_server_and_what_runs_in_it() {
    let desk = Desk::new();
    let mut web = web(&desk, &["--shell", "local", "--allow", "Bash"]);
    let line = "(setsid bash -c 'while :; do printf . >> beat; sleep .02; done' &); sleep 600";
    let body = call("Bash", json!({"command": line}), json!({})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: Bash\r\nContent-Length: {}\r\n\r\n",
        web.host(),
        body.len()
    );
    let stream = web.open(&head, body.as_bytes());
    let beat = desk.ws.join("beat");
    grows(&beat);
    web.signal("TERM");
    let (code, took) = web.ended();
    assert_eq!(code, Some(143));
    assert!(took < Duration::from_secs(3), "{took:?}");
    drop(stream);
    rests(&beat);
    assert_eq!(desk.records_of("Bash").len(), 1);
}

#[test]
fn sessions_are_bounded() {
    let desk = Desk::new();
    let config = desk.named("c.toml", "[serve]\nmax_sessions = 2\n");
    let web = web(&desk, &["--config", &config]);
    web.session(&[], json!({}));
    let second = web.session(&[], json!({}));
    assert_eq!(web.post(&[], &initialize(json!({}))).status, 503);
    let ended = web.send("DELETE", "/mcp", &[("Mcp-Session-Id", &second)], b"");
    assert_eq!(ended.status, 202, "{ended:?}");
    web.session(&[], json!({}));
}

#[test]
fn a_question_of_a_session_goes_to_its_own_stream() {
    let desk = Desk::new();
    let web = web(&desk, &[]);
    let session = web.session(&[], json!({"elicitation": {}}));
    let params = json!({"name": "Write", "arguments": {"file_path": "out.txt", "content": "x"}});
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut stream = web.begin("POST", "/mcp", &headers, message.to_string().as_bytes());
    let mut seen = String::new();
    let id = heard(&mut stream, &mut seen, "elicitation/create")["id"].clone();
    let yes = json!({"action": "accept", "content": {"decision": "allow_once"}});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": yes});
    assert_eq!(
        web.post(&[("Mcp-Session-Id", &session)], &answer).status,
        202
    );
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"isError\":false"), "{rest}");
    assert_eq!(
        std::fs::read_to_string(desk.ws.join("out.txt")).unwrap(),
        "x"
    );
}
