//! Secrets: in the requests of one place, and nowhere else.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use serde_json::json;
use toolgate_tests::Scratch;

use crate::hosts::{Net, neighbour, requests};
use crate::server::{HERE, Names, Server, response, run, try_read};

/// The value that nobody may see.
const VALUE: &str = "sesame/open+VALUE";

/// Says back what it was sent, in several forms.
async fn echoing() -> Server {
    Server::raw(|mut caller| async move {
        let head = caller.head().await;
        let sent = head
            .lines()
            .find_map(|line| line.strip_prefix("authorization: "));
        let sent = sent.unwrap_or("none").to_owned();
        let encoded = base64::engine::general_purpose::STANDARD.encode(format!("user:{sent}"));
        let body = format!("sent {sent} or {encoded} end");
        let fields = format!("x-echo: {sent}\r\n");
        caller
            .send(response("200 OK", &fields, body.as_bytes()))
            .await;
    })
    .await
}

fn config(server: &Server, from: &str) -> String {
    format!(
        r#"
        [egress]
        allow = ["http://127.0.0.1:*"]
        [secrets.api]
        {from}
        url = "http://127.0.0.1:{}"
        tools = ["Get"]
        "#,
        server.port()
    )
}

/// A file that holds the value.
fn file(folder: &Path) -> String {
    let file = folder.join("value");
    std::fs::write(&file, format!("{VALUE}\n")).expect("a file");
    format!("file = {:?}", file.display().to_string())
}

/// A program that prints it.
fn program(folder: &Path) -> String {
    let file = folder.join("print");
    std::fs::write(&file, format!("#!/bin/sh\nprintf '{VALUE}'\n")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    format!("command = [{:?}]", file.display().to_string())
}

#[test]
fn a_secret_is_put_in_for_its_place_and_taken_out_of_what_comes_back() {
    run(async {
        let (server, elsewhere) = (echoing().await, echoing().await);
        let folder = Scratch::new();
        for from in [file(&folder.outside), program(&folder.outside)] {
            let host = Net::new(&Names::new(), &config(&server, &from))
                .allow(&["Get"])
                .host()
                .await;
            let url = |server: &Server| format!("http://{HERE}:{}/", server.port());
            let guess = json!({"url": url(&server), "authorization": "Bearer a guess"});
            let text = host.done("Get", guess).await;
            assert!(text.ends_with("secret: true"), "{text}");
            assert!(text.contains("sent Bearer [secret] or"), "{text}");
            let heads = server.heads();
            let head = heads.last().expect("a request");
            assert!(
                head.contains(&format!("authorization: Bearer {VALUE}\r\n")),
                "{head}"
            );
            let noted = requests(&host);
            assert_eq!(noted[0]["secrets"], json!(["api"]));
            let text = host.done("Get", json!({"url": url(&elsewhere)})).await;
            assert!(text.contains("sent none or"), "{text}");
            assert!(
                elsewhere
                    .heads()
                    .iter()
                    .all(|head| !head.contains("authorization"))
            );
            let everything = format!("{:?}", host.journal.records());
            for form in [
                VALUE.to_owned(),
                base64::engine::general_purpose::STANDARD_NO_PAD.encode(VALUE),
            ] {
                assert!(
                    !text.contains(&form) && !everything.contains(&form),
                    "{form}"
                );
            }
            neighbour(&host).await;
        }
    });
}

#[test]
fn a_tool_that_is_not_named_or_did_not_declare_it_gets_nothing() {
    run(async {
        let server = echoing().await;
        let folder = Scratch::new();
        let from = file(&folder.outside);
        let mut said = config(&server, &from);
        said = said.replace(r#"tools = ["Get"]"#, r#"tools = ["Listed", "Undeclared"]"#);
        let host = Net::new(&Names::new(), &said)
            .allow(&["Get", "Listed", "Undeclared"])
            .host()
            .await;
        let url = format!("http://{HERE}:{}/", server.port());
        let text = host.done("Get", json!({ "url": url })).await;
        assert!(
            text.contains("sent none or") && text.ends_with("secret: false"),
            "{text}"
        );
        let text = host.done("Listed", json!({ "urls": [url] })).await;
        assert!(text.contains("sent none or"), "{text}");
        let text = host.done("Undeclared", json!({ "url": url })).await;
        assert!(text.ends_with("secret: false"), "{text}");
        assert!(server.heads().iter().all(|head| !head.contains(VALUE)));
    });
}

#[test]
fn a_program_that_gives_no_value_is_a_failure_and_nothing_is_sent() {
    run(async {
        let server = echoing().await;
        for command in ["false", "true"] {
            let from = format!("command = [{command:?}]");
            let host = Net::new(&Names::new(), &config(&server, &from))
                .allow(&["Get"])
                .host()
                .await;
            let url = format!("http://{HERE}:{}/", server.port());
            let text = host.done("Get", json!({ "url": url })).await;
            assert!(text.contains("the secret 'api' cannot be had"), "{text}");
            neighbour(&host).await;
        }
        assert_eq!(server.connections(), 0);
    });
}

#[test]
fn what_cannot_be_stops_the_start_with_its_line() {
    let folder = Scratch::new();
    for (text, line, words) in [
        (
            "[egress]\nallow = [\"example.com\"]",
            2,
            "does not begin with a scheme",
        ),
        (
            "[egress]\nallow = [\n\"public\",\n\"ftp://a.b\"]",
            4,
            "requests are 'http://'",
        ),
        (
            "[egress]\nallow = [{ url = \"https://a.b\", methods = [\"get\"] }]",
            2,
            "is no method",
        ),
        (
            "[egress]\nallow = [{ url = \"https://a.b\", addresses = [\"x\"] }]",
            2,
            "is no address",
        ),
        (
            "[egress]\nallow = [{ uri = \"https://a.b\" }]",
            2,
            "unknown key 'egress.allow.uri'",
        ),
        ("[egress]\nalow = []", 2, "Did you mean 'allow'?"),
        (
            "[egress]\nidle_timeout_ms = 0",
            2,
            "must be from 1 to 600000",
        ),
        (
            "[egress.tools.Get]\nallow = [\"x\"]",
            2,
            "does not begin with a scheme",
        ),
        (
            "[secrets.a]\nurl = \"https://a.b\"\ntools = []",
            1,
            "exactly one of 'env', 'file' and 'command'",
        ),
        (
            "[secrets.a]\nenv = \"X\"\nfile = \"y\"\nurl = \"https://a.b\"\ntools = []",
            1,
            "exactly one of",
        ),
        (
            "[secrets.a]\nenv = \"X\"\nurl = \"a.b\"\ntools = []",
            3,
            "'url' is not scheme",
        ),
        (
            "[secrets.a]\nenv = \"X\"\nurl = \"https://a.b\"\ntool = []",
            4,
            "Did you mean 'tools'?",
        ),
    ] {
        let error = try_read(&folder.outside, text).expect_err("a mistake");
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
}

#[test]
fn what_is_not_there_stops_the_start_of_the_host() {
    run(async {
        for (text, words) in [
            (
                "[egress]\nproxy = \"socks5://a.b\"",
                "'proxy' is of a kind that is not spoken here",
            ),
            ("[egress]\nca_file = \"missing.pem\"", "cannot be read"),
            (
                "[egress.tools.Gett]\nallow = [\"public\"]",
                "Did you mean 'Get'?",
            ),
            (
                "[secrets.a]\nenv = \"TOOLGATE_TEST_UNSET\"\nurl = \"https://a.b\"\ntools = []",
                "is not set",
            ),
            (
                "[secrets.a]\nfile = \"missing\"\nurl = \"https://a.b\"\ntools = []",
                "cannot be read",
            ),
            (
                "[secrets.a]\ncommand = [\"no-such-program-here\"]\nurl = \"https://a.b\"\ntools = []",
                "there is no such program",
            ),
            (
                "[secrets.a]\ncommand = [\"true\"]\nurl = \"http://a.b\"\ntools = []",
                "everybody on the way reads",
            ),
            (
                "[secrets.a]\ncommand = [\"true\"]\nurl = \"https://a.b\"\ntools = [\"Gett\"]",
                "Did you mean 'Get'?",
            ),
            (
                "[secrets.a]\ncommand = [\"true\"]\nurl = \"https://a.b/path\"\ntools = []",
                "'url' is not scheme",
            ),
        ] {
            let built = Net::new(&Names::new(), text).try_host().await;
            let error = built.expect_err("no host").to_string();
            assert!(
                error.contains(words) && error.contains("toolgate.toml:"),
                "{text}: {error}"
            );
        }
    });
}
