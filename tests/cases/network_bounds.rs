//! Cases of the family `network` about time and size, and about commands.

use std::time::Duration;

use toolgate::config::{ShellNetwork, ShellSetting};
use toolgate::model::{Ending, Stop};
use toolgate_tests::net::{HERE, Names, Server};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::network_host::{OPEN, any, get};
use crate::run::{alone, is_alone};
use crate::shell_host::{until, with_shell};
use crate::support::{holds, lacks};

cases! {
    "N13" => n13_the_deadline_ends_a_request_and_its_connection,
    "N14" => n14_a_body_without_end_is_cut,
    "N16" => n16_a_relay_inside_of_the_sandbox_leads_nowhere,
    "N17" => n17_without_a_network_there_is_no_route,
    "N19" => n19_the_ban_is_in_the_sandbox,
    "N20" => n20_no_other_address_is_reached_under_an_allowed_name,
}

async fn n13_the_deadline_ends_a_request_and_its_connection() {
    let server = Server::raw(|mut caller| async move {
        caller.head().await;
        caller
            .send("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            .await;
        while caller.send("x").await {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    let config = format!("{OPEN}\n[limits.tools.Get]\ntimeout_ms = 2000\n");
    let host = any(&Names::new().here("slow.test"), &config).await;
    let outcome = get(&host, &format!("http://slow.test:{}/", server.port())).await;
    match &outcome.ending {
        Ending::Stopped(Stop::WallClock { limit }) => assert_eq!(*limit, Duration::from_secs(2)),
        other => panic!("not ended by its deadline: {other:?}"),
    }
    server.until_idle().await;
}

async fn n14_a_body_without_end_is_cut() {
    const CASE: &str = "network_bounds::case::n14_a_body_without_end_is_cut";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let server = Server::raw(|mut caller| async move {
        caller.head().await;
        caller.send("HTTP/1.1 200 OK\r\n\r\n").await;
        while caller.send([b'0'; 65_536]).await {}
    })
    .await;
    let host = any(&Names::new().here("big.test"), OPEN).await;
    let url = format!("http://big.test:{}/", server.port());
    let before = peak();
    let outcome = get(&host, &url).await;
    holds(&outcome.ending.text(), &["200 4194304 bytes, cut here"]);
    let grown = peak().saturating_sub(before);
    assert!(grown < 32 << 10, "{grown} KiB more");
    server.until_idle().await;
}

/// The most memory that this process has had, KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

/// A host whose commands reach nothing, and one whose commands reach what this machine does.
async fn hosts() -> (TestHost, TestHost) {
    let setup = || Setup::default().allow(&["Bash"]);
    let off = with_shell(Scratch::new(), setup()).await;
    let mut open = setup();
    open.config.shell = ShellSetting {
        network: Some(ShellNetwork::Full.into()),
        ..ShellSetting::local()
    };
    let full = TestHost::with(Scratch::new(), open, |builder| builder).await;
    (off, full)
}

/// The command fails where commands have no network. `control`, which dials the same server in the open, shows that there
/// is something to be reached.
async fn reaches_nothing(server: &Server, commands: &[&str], control: &str) {
    let (off, full) = hosts().await;
    for command in commands {
        let text = off.call("Bash", until(command, 20_000)).await.ending.text();
        holds(&text, &["[exit code: "]);
        lacks(&text, &["reached"]);
    }
    assert_eq!(server.connections(), 0, "{commands:?}");
    let text = full
        .call("Bash", until(control, 20_000))
        .await
        .ending
        .text();
    holds(&text, &["reached"]);
    assert_eq!(server.connections(), 1);
}

async fn n16_a_relay_inside_of_the_sandbox_leads_nowhere() {
    let server = Server::saying("reached").await;
    let port = server.port();
    let relayed = format!("curl -sS -m 5 -x http://{HERE}:9000 http://{HERE}:{port}/");
    let control = format!("curl -sS -m 5 http://{HERE}:{port}/");
    let evil = "curl -sS -m 5 -x http://127.0.0.1:9000 https://evil.test/";
    reaches_nothing(&server, &[evil, &relayed], &control).await;
}

async fn n17_without_a_network_there_is_no_route() {
    let server = Server::saying("reached").await;
    let direct = format!("curl -sS -m 5 http://{HERE}:{}/", server.port());
    let commands = [
        "curl -sS -m 5 https://evil.test/",
        "curl --noproxy '*' -sS -m 5 https://evil.test/",
        "curl -sS -m 5 http://203.0.113.9",
        "getent hosts evil.test",
        &direct,
    ];
    reaches_nothing(&server, &commands, &direct).await;
}

async fn n19_the_ban_is_in_the_sandbox() {
    let server = Server::saying("reached").await;
    let port = server.port();
    let dial = |host: &str, port: u16| {
        format!(
            "exec 3<>/dev/tcp/{host}/{port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3"
        )
    };
    let python = "python3 -c \"import socket; socket.create_connection(('203.0.113.9',80),2)\"";
    let (far, near) = (dial("203.0.113.9", 80), dial(HERE, port));
    reaches_nothing(&server, &[python, &far, &near], &near).await;
}

async fn n20_no_other_address_is_reached_under_an_allowed_name() {
    let server = Server::saying("reached").await;
    let port = server.port();
    let evil = "curl -sS -m 5 --connect-to ok.test:443:203.0.113.9:443 https://ok.test/";
    let near = format!("curl -sS -m 5 --connect-to ok.test:80:{HERE}:{port} http://ok.test/");
    reaches_nothing(&server, &[evil, &near], &near).await;
}
