//! Hosts with servers that do what they are told to, well or badly.

use std::path::Path;

use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::config::{McpEra, McpReach, McpServer, Source, Sourced};
use toolgate::model::{Ending, ServerAlias};
use toolgate::upstream::ServerReport;
use toolgate_tests::{Scratch, Setup, TestHost};

/// The server's program.
const FAKE: &str = include_str!("fake.py");

/// A server on its way into a host. `/ws` and `/outside` in what it does stand for the scratch folders.
pub(crate) struct Fake {
    pub(crate) alias: &'static str,
    pub(crate) does: Value,
    pub(crate) set: fn(&mut McpServer),
}

/// One that has these tools and does nothing odd.
pub(crate) fn fake(alias: &'static str, does: Value) -> Fake {
    Fake {
        alias,
        does,
        set: |_| {},
    }
}

/// A tool as a server describes it.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// Puts the servers into a configuration.
pub(crate) fn configured(mut setup: Setup, scratch: &Scratch, servers: &[Fake]) -> Setup {
    let program = scratch.outside.join("fake.py");
    // A program that is written anew is another program, whose list is not known.
    if !program.exists() {
        std::fs::write(&program, FAKE).expect("the program");
    }
    for fake in servers {
        let does = scratch.outside.join(format!("{}.json", fake.alias));
        std::fs::write(&does, scratch.mapped(&fake.does.to_string())).expect("what it does");
        let alias = ServerAlias::try_from(fake.alias).expect("an alias");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let words = vec!["python3".to_owned(), text(&program)];
        let mut server = McpServer::command(alias, words);
        // Whether it speaks the newer protocol is not asked each time.
        server.era = McpEra::Legacy;
        if let McpReach::Command { write, env, .. } = &mut server.reach {
            env.insert("FAKE".to_owned(), text(&does));
            write.push(scratch.outside.clone().into());
        }
        (fake.set)(&mut server);
        let server = Sourced {
            value: server,
            source: Source::library(),
        };
        setup.config.mcp.insert(fake.alias.to_owned(), server);
    }
    setup
}

/// A host with servers, in which every question gets a yes.
pub(crate) async fn host(servers: &[Fake]) -> TestHost {
    host_of(Scratch::new(), Setup::default(), servers).await
}

/// The same with a setup and folders of its own.
pub(crate) async fn host_of(scratch: Scratch, setup: Setup, servers: &[Fake]) -> TestHost {
    let setup = configured(setup, &scratch, servers);
    let yes = Fixed::approve("the test");
    TestHost::with(scratch, setup, |builder| builder.approver(yes)).await
}

/// The same once every server's tools are known.
pub(crate) async fn settled(servers: &[Fake]) -> TestHost {
    let host = host(servers).await;
    upstreams(&host).settle().await;
    host
}

pub(crate) fn upstreams(host: &TestHost) -> &toolgate::upstream::Upstreams {
    host.host.upstreams().expect("servers")
}

/// What there is to know of a server.
pub(crate) fn report(host: &TestHost, alias: &str) -> ServerReport {
    let reports = upstreams(host).report().into_iter();
    let mut found = reports.filter(|report| report.alias.as_str() == alias);
    found.next().expect("the server")
}

/// Published names of the tools of servers that a model may see.
pub(crate) fn names(host: &TestHost) -> Vec<String> {
    let names = host.host.tools().map(|tool| tool.name().to_string());
    names.filter(|name| name.contains("__")).collect()
}

/// Tools that are not offered, each with why.
pub(crate) fn quarantined(host: &TestHost, alias: &str) -> Vec<String> {
    let quarantined = report(host, alias).quarantined.into_iter();
    quarantined
        .map(|one| format!("{}: {}", one.tool, one.why))
        .collect()
}

/// The kind of a failure and its text.
pub(crate) async fn failure(host: &TestHost, tool: &str, input: Value) -> (String, String) {
    let outcome = host.call(tool, input).await;
    match outcome.ending {
        Ending::Failed(failure) => (failure.kind, failure.message),
        other => panic!("it did not fail: {other:?}"),
    }
}

/// Lines of a file that a server wrote outside of the workspace.
pub(crate) fn lines(host: &TestHost, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(host.scratch.outside.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until something is so, at most 20 s.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it never came to this: {what}");
}

/// Processes whose command line holds these words.
pub(crate) fn processes(words: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("/proc");
    let lines = entries
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            let line: Vec<u8> = line
                .iter()
                .map(|byte| if *byte == 0 { b' ' } else { *byte })
                .collect();
            String::from_utf8_lossy(&line).contains(words)
        })
        .count()
}
