//! What a server's process sees: its own variables, directories and network, and nothing of the host's.

use serde_json::json;
use toolgate::config::{McpReach, McpServer, ShellNetwork};
use toolgate_tests::{Scratch, Setup};

use crate::fixture::{Fake, fake, host_of, settled, tool, upstreams};

/// What a command prints inside of a server.
fn runs(command: &str) -> serde_json::Value {
    json!({"tools": [tool("run")], "calls": {"run": {"run": command}}})
}

async fn said(host: &toolgate_tests::TestHost) -> String {
    host.done("s__run", json!({})).await
}

fn variables(server: &mut McpServer) {
    if let McpReach::Command { env, env_pass, .. } = &mut server.reach {
        env.insert("OWN".to_owned(), "set here".to_owned());
        env.insert("ITS_API_KEY".to_owned(), "k-1".to_owned());
        env_pass.push("CARGO_MANIFEST_DIR".to_owned());
    }
}

#[tokio::test]
async fn check_28_only_the_named_variables_of_the_host_are_seen() {
    // Cargo gives this process many variables; one of them is passed on.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "run by cargo");
    let does = json!({"tools": [tool("env")], "calls": {"env": {"env": true}}});
    let host = settled(&[Fake {
        set: variables,
        ..fake("s", does)
    }])
    .await;
    let text = host.done("s__env", json!({})).await;
    let seen: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).expect("JSON");
    assert_eq!(seen["OWN"], "set here");
    assert_eq!(seen["ITS_API_KEY"], "k-1");
    assert_eq!(seen["CARGO_MANIFEST_DIR"], env!("CARGO_MANIFEST_DIR"));
    let ordinary = [
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER", "PATH",
    ];
    // What the interpreter's own wrappers add is theirs.
    let added = |name: &str| {
        name.starts_with("LC_")
            || name.contains("PYENV")
            || ["PWD", "OLDPWD", "SHLVL", "_"].contains(&name)
    };
    let named = ["OWN", "ITS_API_KEY", "CARGO_MANIFEST_DIR", "FAKE"];
    let others: Vec<&String> = seen
        .keys()
        .filter(|name| {
            !ordinary.contains(&name.as_str()) && !named.contains(&name.as_str()) && !added(name)
        })
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

#[tokio::test]
async fn a_server_sees_the_directories_that_it_was_given_and_writes_where_it_may() {
    let scratch = Scratch::new();
    scratch.file("secret.txt", "of the workspace");
    scratch.file("given/a.txt", "given");
    let given = scratch.ws.join("given");
    let look =
        "cat /ws/secret.txt; cat /ws/given/a.txt; touch /ws/given/new; touch /outside/new; ls /ws";
    let setup = crate::fixture::configured(Setup::default(), &scratch, &[fake("s", runs(look))]);
    let mut setup = setup;
    let server = setup.config.mcp.get_mut("s").expect("it");
    if let McpReach::Command { read, .. } = &mut server.value.reach {
        read.push(given.clone().into());
    }
    let host = toolgate_tests::TestHost::with(scratch, setup, |builder| {
        builder.approver(toolgate::approval::Fixed::approve("the test"))
    })
    .await;
    upstreams(&host).settle().await;
    let text = said(&host).await;
    assert!(!text.contains("of the workspace"), "{text}");
    assert!(text.contains("given\n") || text.contains("given"), "{text}");
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(!given.join("new").exists() && host.scratch.outside.join("new").exists());
}

#[tokio::test]
async fn without_a_directory_the_workspace_and_the_hosts_own_files_are_out_of_sight() {
    let scratch = Scratch::new();
    scratch.file("secret.txt", "of the workspace");
    let state = scratch.state.display().to_string();
    std::fs::write(scratch.state.join("own.txt"), "of the host").expect("a file");
    let look = format!("cat /ws/secret.txt {state}/own.txt; ls {state}/mcp; ls /ws");
    let host = host_of(scratch, Setup::default(), &[fake("s", runs(&look))]).await;
    upstreams(&host).settle().await;
    let text = said(&host).await;
    assert!(
        !text.contains("of the workspace") && !text.contains("of the host"),
        "{text}"
    );
    assert!(!text.contains(".json"), "{text}");
}

#[tokio::test]
async fn deny_rules_over_files_bind_a_server_inside_of_what_it_was_given() {
    let scratch = Scratch::new();
    scratch.file("keys/id.pem", "the key");
    scratch.file("open.txt", "open");
    let setup = Setup::default().deny(&["Read(/ws/keys/**)"]);
    let look = "cat /ws/keys/id.pem /ws/open.txt";
    let mut setup = crate::fixture::configured(setup, &scratch, &[fake("s", runs(look))]);
    let server = setup.config.mcp.get_mut("s").expect("it");
    if let McpReach::Command { read, .. } = &mut server.value.reach {
        read.push(scratch.ws.clone().into());
    }
    let host = toolgate_tests::TestHost::with(scratch, setup, |builder| {
        builder.approver(toolgate::approval::Fixed::approve("the test"))
    })
    .await;
    upstreams(&host).settle().await;
    let text = said(&host).await;
    assert!(text.contains("open") && !text.contains("the key"), "{text}");
}

#[tokio::test]
async fn a_server_dials_only_where_the_operator_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let dial = format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('connected')\""
    );
    let full = |server: &mut McpServer| {
        if let McpReach::Command { network, .. } = &mut server.reach {
            *network = ShellNetwork::Full;
        }
    };
    let host = settled(&[fake("s", runs(&dial))]).await;
    let text = said(&host).await;
    assert!(
        text.contains("refused") && !text.contains("connected\n"),
        "{text}"
    );
    let host = settled(&[Fake {
        set: full,
        ..fake("s", runs(&dial))
    }])
    .await;
    assert_eq!(said(&host).await, "connected\n");
}

#[tokio::test]
async fn h18_what_the_host_knows_is_not_in_a_servers_environment() {
    // No name that anybody would list as secret, and one that this process has for sure.
    let name = "CARGO_PKG_NAME";
    let value = std::env::var(name).expect("tests are run by cargo");
    let host = settled(&[fake(
        "ext",
        json!({"tools": [tool("env")], "calls": {"env": {"env": true}}}),
    )])
    .await;
    let seen = host.done("ext__env", json!({})).await;
    assert!(seen.contains("\"FAKE\""), "{seen}");
    assert!(!seen.contains(name) && !seen.contains(&value), "{seen}");
}
