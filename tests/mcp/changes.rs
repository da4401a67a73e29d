//! A server inside of this program, whose tools come, change and go.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use toolgate::Host;
use toolgate::gate::{Cleared, Provider, ProviderEnd, ProviderReport, Registration, ToolChange};
use toolgate::mcp::{Clients, HttpSettings, McpServer, McpSettings};
use toolgate::model::{
    Claim, Content, Declaration, DeclarationParts, Limits, SideEffect, ToolOutput, Trust, Usage,
};
use toolgate::policy::{Decision, Rule, SchemaMode};

use crate::client::modern;
use crate::web::{Door, heard};

/// A server and its host.
struct Local {
    runtime: Runtime,
    host: Host,
    door: Arc<Door>,
    stop: CancellationToken,
    _root: TempDir,
}

impl Local {
    fn start(settings: McpSettings) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("ws")).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let stop = CancellationToken::new();
        let (host, port) = runtime.block_on(async {
            let clients = Clients::new();
            let host = Host::builder(root.path().join("ws"))
                .state_dir(root.path().join("state"))
                .client_approver(clients.clone())
                .on_progress(clients.progress())
                .build()
                .await
                .unwrap();
            let server = McpServer::new(host.clone(), clients, settings).unwrap();
            let address = "127.0.0.1:0".parse().unwrap();
            let bound = server.bind_http(HttpSettings::new(address)).await.unwrap();
            let port = bound.address().port();
            tokio::spawn(bound.serve(stop.clone()));
            (host, port)
        });
        Self {
            runtime,
            host,
            door: Arc::new(Door { port }),
            stop,
            _root: root,
        }
    }

    fn add(&self, tools: Vec<Registration>) {
        let _entered = self.runtime.enter();
        let change = ToolChange {
            remove: Vec::new(),
            add: tools,
        };
        assert!(self.host.change_tools(change).unwrap().is_empty());
    }

    fn list(&self, cursor: Option<&str>) -> Value {
        let params = match cursor {
            Some(cursor) => json!({"cursor": cursor, "_meta": modern(json!({}))}),
            None => json!({"_meta": modern(json!({}))}),
        };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/list"),
        ];
        self.door.post(&headers, &message).answer()["result"].clone()
    }

    fn all_names(&self) -> Vec<Vec<String>> {
        let mut pages = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = self.list(cursor.as_deref());
            let tools = page["tools"].as_array().unwrap().iter();
            pages.push(
                tools
                    .map(|tool| tool["name"].as_str().unwrap().to_owned())
                    .collect(),
            );
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return pages,
            }
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Answers with a text, and with a value if it has one, once it may.
#[derive(Debug)]
struct Says {
    value: Option<Value>,
    may_end: Arc<Semaphore>,
}

#[async_trait]
impl Provider for Says {
    async fn execute(&self, _call: Cleared) -> ProviderReport {
        let _permit = self.may_end.acquire().await;
        ProviderReport {
            end: ProviderEnd::Done(ToolOutput {
                content: vec![Content::Text {
                    text: "said".to_owned(),
                }],
                structured: self.value.clone(),
                capped: false,
            }),
            usage: Usage::default(),
            files: Vec::new(),
            commands: Vec::new(),
            requests: Vec::new(),
            log: Vec::new(),
        }
    }
}

fn tool(name: &str, schema: Option<&str>, value: Option<Value>) -> Registration {
    gated(name, schema, value, Arc::new(Semaphore::new(1)))
}

fn gated(
    name: &str,
    schema: Option<&str>,
    value: Option<Value>,
    may_end: Arc<Semaphore>,
) -> Registration {
    let declaration = Declaration::check(DeclarationParts {
        name: name.to_owned(),
        description: "Says a word.".to_owned(),
        input_schema: r#"{"type":"object","properties":{}}"#.to_owned(),
        output_schema: schema.map(str::to_owned),
        claim: Claim {
            level: SideEffect::ReadOnly,
            destructive: false,
            idempotent: true,
            open_world: false,
            exclusive: false,
        },
        subject: None,
        capabilities: Vec::new(),
        annotations: vec![("title".to_owned(), "\"A title\"".to_owned())],
    });
    Registration {
        declaration: declaration.unwrap(),
        digest: "0".repeat(64),
        built_in: false,
        trust: Trust::None,
        limits: Limits::default(),
        schema_mode: SchemaMode::Enforce,
        computes_subjects: false,
        foreign: None,
        provider: Arc::new(Says { value, may_end }),
    }
}

#[test]
fn c32_all_of_250_tools_come_in_pages_and_always_in_one_order() {
    let local = Local::start(McpSettings::default());
    let own: usize = local.all_names().iter().map(Vec::len).sum();
    let tools = (0..250).map(|number| tool(&format!("Tool{number:03}"), None, None));
    local.add(tools.collect());
    let pages = local.all_names();
    assert!(pages.iter().all(|page| page.len() <= 100), "{pages:?}");
    assert!(pages.len() >= 3);
    let names: Vec<String> = pages.concat();
    assert_eq!(names.len(), own + 250);
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(local.all_names().concat(), names);
    let titled = local.list(Some("after:Tool000"));
    assert_eq!(titled["tools"][0]["title"], "A title");
}

#[test]
fn a_session_hears_of_changes() {
    let local = Local::start(McpSettings::default());
    let session = local.door.session(&[], json!({}));
    let headers = [("Mcp-Session-Id", session.as_str())];
    let mut stream = local.door.begin("GET", "/mcp", &headers, b"");
    let mut seen = String::new();
    // The stream stands when its head has come.
    let mut byte = [0; 1];
    std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
    local.add(vec![tool("Later", None, None)]);
    heard(&mut stream, &mut seen, "notifications/tools/list_changed");
    assert!(local.list(None).to_string().contains("\"Later\""));
}

#[test]
fn a_subscription_hears_of_other_tools_and_of_other_rules() {
    let local = Local::start(McpSettings::default());
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true},
        "_meta": modern(json!({}))});
    let message =
        json!({"jsonrpc": "2.0", "id": "sub", "method": "subscriptions/listen", "params": params});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let body = message.to_string();
    let mut stream = local.door.begin("POST", "/mcp", &headers, body.as_bytes());
    let mut seen = String::new();
    let agreed = heard(
        &mut stream,
        &mut seen,
        "notifications/subscriptions/acknowledged",
    );
    assert_eq!(
        agreed["params"]["notifications"],
        json!({"toolsListChanged": true}),
        "{agreed}"
    );
    local.add(vec![tool("Later", None, None)]);
    heard(&mut stream, &mut seen, "notifications/tools/list_changed");
    seen.clear();
    let rule = Rule::parse(Decision::Deny, "Later", Path::new("test"), 1).unwrap();
    local.host.set_rules(&[rule]).unwrap();
    heard(&mut stream, &mut seen, "notifications/tools/list_changed");
    assert!(!local.list(None).to_string().contains("\"Later\""));
}

#[test]
fn an_output_schema_is_listed_and_kept_by_every_success() {
    let local = Local::start(McpSettings::default());
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let elsewhere = r#"{"type":"object","$ref":"https://x.test/schema"}"#;
    let old = r#"{"type":"object","$schema":"http://json-schema.org/draft-04/schema"}"#;
    local.add(vec![
        tool("Keeps", Some(schema), Some(json!({"n": 1}))),
        tool("Breaks", Some(schema), None),
        tool("Elsewhere", Some(elsewhere), Some(json!({}))),
        tool("Old", Some(old), Some(json!({}))),
    ]);
    let list = local.list(None);
    let of = |name: &str| {
        let mut tools = list["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["name"] == name).unwrap().clone()
    };
    assert_eq!(
        of("Keeps")["outputSchema"]["properties"]["n"]["type"],
        "integer"
    );
    for name in ["Elsewhere", "Old"] {
        assert!(of(name).get("outputSchema").is_none(), "{name}");
    }
    let call = |name: &str| local.door.call(&[], name, json!({})).answer()["result"].clone();
    let kept = call("Keeps");
    assert_eq!(kept["structuredContent"], json!({"n": 1}));
    assert_eq!(kept["isError"], false);
    assert_eq!(call("Breaks")["isError"], true);
    assert_eq!(call("Old")["isError"], false);
}

#[test]
fn more_calls_than_there_may_be_wait_their_turn() {
    let settings = McpSettings {
        max_calls: 2,
        ..McpSettings::default()
    };
    let local = Local::start(settings);
    let may_end = Arc::new(Semaphore::new(0));
    local.add(vec![
        gated("Waits", None, None, Arc::clone(&may_end)),
        tool("Quick", None, None),
    ]);
    let begin = |name: &'static str| {
        let door = Arc::clone(&local.door);
        std::thread::spawn(move || door.call(&[], name, json!({})).answer())
    };
    let slow = [begin("Waits"), begin("Waits")];
    std::thread::sleep(Duration::from_millis(500));
    let quick = begin("Quick");
    std::thread::sleep(Duration::from_millis(500));
    assert!(!quick.is_finished(), "it has a turn of its own");
    may_end.add_permits(1);
    for call in slow.into_iter().chain([quick]) {
        assert_eq!(call.join().unwrap()["result"]["isError"], false);
    }
}
