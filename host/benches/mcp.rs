//! What serving costs: round trips of a trivial tool over stdio and HTTP against a bare server of the same protocol
//! library, the first list after a start, and 64 calls in flight.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "a bench prints figures, starts its references, and stops at the first surprise"
)]

mod measure;

use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use rmcp::{RoleClient, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;

/// Round trips in one run.
const TRIPS: usize = 200;
/// Runs of each.
const RUNS: usize = 15;
/// Calls at once.
const IN_FLIGHT: usize = 64;
/// The words of this program that make it a bare server.
const BARE_STDIO: &str = "bare-stdio";
const BARE_HTTP: &str = "bare-http";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match std::env::args().nth(1).as_deref() {
        Some(BARE_STDIO) => return runtime.block_on(bare_stdio()),
        Some(BARE_HTTP) => return runtime.block_on(bare_http()),
        _ => {}
    }
    let desk = tempfile::tempdir()?;
    std::fs::create_dir(desk.path().join("ws"))?;
    std::fs::write(desk.path().join("echo.wasm"), toolgate_artifacts::ECHO)?;
    measure::head("Serving over MCP");
    start(&runtime, desk.path());
    stdio(&runtime, desk.path());
    http(&runtime, desk.path());
    Ok(())
}

/// `toolgate serve` with a tool that gives back its text.
fn toolgate(desk: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command.arg("serve").args(more).arg("--component");
    command.arg(desk.join("echo.wasm"));
    command.arg("--workspace").arg(desk.join("ws"));
    command.args(["--no-user-config", "--state"]);
    command.arg(desk.join("state"));
    command
}

fn bare(word: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(word);
    command
}

type Client = RunningService<RoleClient, ()>;

/// A client of a server that it starts.
async fn connected(mut command: Command) -> (Child, Client) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a server");
    let pipes = (
        child.stdout.take().expect("stdout"),
        child.stdin.take().expect("stdin"),
    );
    let client = ().serve(pipes).await.expect("a session");
    (child, client)
}

fn echo() -> CallToolRequestParams {
    let arguments = json!({"text": "x"}).as_object().cloned();
    CallToolRequestParams::new("Echo").with_arguments(arguments.unwrap_or_default())
}

async fn called(client: &Client) {
    let result = client.call_tool(echo()).await.expect("a result");
    assert_eq!(result.is_error, Some(false), "{result:?}");
}

fn start(runtime: &Runtime, desk: &Path) {
    let listed = |command: Command| {
        runtime.block_on(async {
            let (_child, client) = connected(command).await;
            assert!(!client.list_all_tools().await.expect("a list").is_empty());
        });
    };
    let pair = measure::pair(
        RUNS,
        || listed(toolgate(desk, &[])),
        || listed(bare(BARE_STDIO)),
    );
    measure::report(
        "start to the first list",
        "bare server",
        pair,
        "under 200 ms",
    );
}

fn stdio(runtime: &Runtime, desk: &Path) {
    let (_ours, ours) = runtime.block_on(connected(toolgate(desk, &[])));
    let (_theirs, theirs) = runtime.block_on(connected(bare(BARE_STDIO)));
    let trips = |client: &Client| {
        runtime.block_on(async {
            for _ in 0..TRIPS {
                called(client).await;
            }
        });
    };
    let pair = measure::pair(RUNS, || trips(&ours), || trips(&theirs));
    report_each("stdio, one after the other", pair);
    let flights = |client: &Client| {
        runtime.block_on(async {
            let calls = (0..IN_FLIGHT).map(|_| called(client));
            futures::future::join_all(calls).await;
        });
    };
    let pair = measure::pair(RUNS, || flights(&ours), || flights(&theirs));
    measure::report("stdio, 64 in flight, all", "bare server", pair, "-");
}

fn report_each(what: &str, pair: (measure::Sample, measure::Sample)) {
    let each = |sample: measure::Sample| measure::Sample {
        min: sample.min / u32::try_from(TRIPS).unwrap_or(1),
        median: sample.median / u32::try_from(TRIPS).unwrap_or(1),
    };
    measure::report(what, "bare server", (each(pair.0), each(pair.1)), "-");
}

/// A connection to a server over HTTP that says where it listens.
struct Web {
    _child: Child,
    host: String,
    sender: SendRequest<Full<Bytes>>,
}

async fn web(mut command: Command) -> Web {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a server");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    let host = loop {
        let line = lines
            .next_line()
            .await
            .expect("a line")
            .expect("an address");
        if let Some(rest) = line.strip_prefix("listening on http://") {
            break rest.trim_end_matches("/mcp").to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let stream = tokio::net::TcpStream::connect(&host)
        .await
        .expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    Web {
        _child: child,
        host,
        sender,
    }
}

impl Web {
    async fn call(&mut self) {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "Echo", "arguments": {"text": "x"}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}});
        let request = http::Request::post("/mcp")
            .header("Host", &self.host)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", "Echo")
            .body(Full::new(Bytes::from(message.to_string())))
            .expect("a request");
        self.sender.ready().await.expect("a connection");
        let reply = self.sender.send_request(request).await.expect("a reply");
        assert_eq!(reply.status(), 200);
        let body = reply
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("\"isError\":false"), "{text}");
    }
}

fn http(runtime: &Runtime, desk: &Path) {
    let mut ours = runtime.block_on(web(toolgate(desk, &["--http", "127.0.0.1:0"])));
    let mut theirs = runtime.block_on(web(bare(BARE_HTTP)));
    let trips = |web: &mut Web| {
        runtime.block_on(async {
            for _ in 0..TRIPS {
                web.call().await;
            }
        });
    };
    let pair = measure::pair(RUNS, || trips(&mut ours), || trips(&mut theirs));
    report_each("HTTP, one after the other", pair);
}

/// The reference: the protocol library with one tool and nothing around it.
#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        let tool = Tool::new("Echo", "Gives back its text.", schema);
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = params
            .arguments
            .and_then(|mut object| object.remove("text"));
        let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn bare_stdio() -> Result<(), Box<dyn std::error::Error>> {
    Bare.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

async fn bare_http() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let service = StreamableHttpService::new(
        || Ok(Bare),
        std::sync::Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let answer = hyper::service::service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            let served = hyper::server::conn::http1::Builder::new();
            served.serve_connection(TokioIo::new(stream), answer).await
        });
    }
}
