//! Plain components: functions of another world as tools, behind the same chain and within the same bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::config::{PlainFiles, PlainSetting};
use toolgate::model::{Concurrency, Ending, Outcome, SideEffect, Stop, SubjectField, SubjectKind};
use toolgate::policy::{EgressAllow, EgressPattern};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::beside::{
    Guest, approving_host, approving_host_in, beside, bounded, host_in, one_second, stop, trap,
};

const FILES: Guest = ("files.wasm", guests::PLAIN_FILES);
const FETCH: Guest = ("fetch.wasm", guests::PLAIN_FETCH);
const TYPES: Guest = ("types.wasm", guests::PLAIN_TYPES);
const HOSTILE: Guest = ("hostile.wasm", guests::PLAIN_HOSTILE);

fn granted(mut setup: Setup, tool: &str, files: PlainFiles) -> Setup {
    let setting = PlainSetting {
        files: Some(files.into()),
        ..PlainSetting::default()
    };
    setup.config.plain.insert(tool.to_owned(), setting);
    setup
}

fn structured(outcome: &Outcome) -> Value {
    match &outcome.ending {
        Ending::Done(output) => output.structured.clone().expect("a structured result"),
        other => panic!("not done: {other:?}"),
    }
}

#[tokio::test]
pub async fn plain_files() {
    let mut setup = granted(Setup::default(), "read-file", PlainFiles::Read);
    setup = granted(setup, "list-directory", PlainFiles::Read);
    setup = granted(setup, "write-file", PlainFiles::Write);
    let setup = setup.deny(&["Read(secret.txt)", "Write(kept.txt)"]);
    let scratch = Scratch::new();
    for name in ["a.txt", "secret.txt", "kept.txt"] {
        scratch.file(name, "content");
    }
    std::fs::write(scratch.outside.join("b.txt"), "outside").expect("a file");
    let host = approving_host_in(scratch, FILES, setup).await;
    let read = |path: &str| json!({ "path": path });
    let outcome = beside(&host, "read-file", read("/ws/a.txt")).await;
    assert_eq!(outcome.ending.text(), "content", "{:?}", outcome.ending);
    assert_eq!(structured(&outcome), json!({"result": "content"}));
    let listed = beside(&host, "list-directory", read("/ws")).await;
    let names = structured(&listed)["result"].clone();
    assert_eq!(
        names,
        json!(["a.txt", "kept.txt"]),
        "what may not be read is not seen"
    );
    for path in ["/ws/secret.txt", "/outside/b.txt", "/etc/passwd"] {
        let text = host.failed("read-file", read(path)).await;
        assert!(
            !text.contains("content") && !text.contains("root:"),
            "{text}"
        );
    }
    let write = |path: &str| json!({ "path": path, "content": "new" });
    let outcome = beside(&host, "write-file", write("/ws/a.txt")).await;
    assert_eq!(outcome.ending.word(), "done", "{:?}", outcome.ending);
    host.failed("write-file", write("/ws/kept.txt")).await;
    // No table speaks of this one: it reaches nothing.
    host.failed("delete-file", read("/ws/a.txt")).await;
    let kept = |name: &str| std::fs::read_to_string(host.scratch.ws.join(name)).expect("a file");
    assert_eq!([kept("a.txt"), kept("kept.txt")], ["new", "content"]);
}

/// Nobody vouches for it: the worst, and without a yes nothing.
#[tokio::test]
async fn a_plain_function_is_judged_in_the_worst_case() {
    let setup = Setup::default().allow(&["list-directory"]);
    let host = host_in(Scratch::new(), FILES, setup, |builder| builder).await;
    let tools: Vec<_> = host.host.all_tools().collect();
    let mut seen = 0;
    for name in ["list-directory", "read-file", "write-file", "delete-file"] {
        let tool = tools.iter().find(|tool| tool.name().as_str() == name);
        let traits = &tool.expect("the tool").facts().traits;
        assert_eq!(traits.level, SideEffect::Mutating);
        assert!(traits.destructive && traits.open_world && !traits.idempotent);
        assert_eq!(traits.concurrency, Concurrency::Exclusive);
        seen += 1;
    }
    assert_eq!(seen, 4);
    host.denied("read-file", json!({ "path": "/ws" })).await;
    // What a rule allows may run, and still reaches nothing.
    host.failed("list-directory", json!({ "path": "/ws" }))
        .await;
    for ceiling in [json!({"path": "x", "extra": 1}), json!({})] {
        host.denied("list-directory", ceiling).await;
    }
}

/// Where the operator says which field is a path, rules decide by it and the call reaches it alone.
#[tokio::test]
async fn an_assigned_subject_decides_and_bounds_a_plain_call() {
    let mut setup = granted(Setup::default(), "read-file", PlainFiles::Read);
    let subject = SubjectField {
        kind: SubjectKind::Path,
        field: "path".to_owned(),
    };
    setup
        .config
        .subjects
        .insert("read-file".to_owned(), subject.into());
    let setup = setup.allow(&["read-file(docs/**)"]);
    let scratch = Scratch::new();
    scratch.file("docs/a.txt", "allowed");
    scratch.file("b.txt", "content");
    let host = host_in(scratch, FILES, setup, |builder| builder).await;
    let read = |path: &str| json!({ "path": path });
    assert_eq!(
        host.done("read-file", read("/ws/docs/a.txt")).await,
        "allowed"
    );
    host.denied("read-file", read("/ws/b.txt")).await;
}

#[tokio::test]
pub async fn plain_time() {
    let host = approving_host(("time.wasm", guests::PLAIN_TIME), Setup::default()).await;
    let outcome = beside(&host, "time_get-current-time", json!({})).await;
    let text = outcome.ending.text();
    assert!(text.ends_with(" seconds since 1970"), "{text}");
    let later = json!({ "then": "9223372036854775807" });
    let outcome = beside(&host, "time_seconds-since", later).await;
    assert_eq!(structured(&outcome), json!({"result": null}));
    assert_eq!(outcome.ending.text(), "null");
}

#[tokio::test]
pub async fn plain_fetch() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let authority = listener.local_addr().expect("its address").to_string();
    let host = approving_host(FETCH, Setup::default()).await;
    let outcome = beside(&host, "fetch", json!({ "authority": authority })).await;
    assert_eq!(outcome.ending.word(), "failed", "{:?}", outcome.ending);
    let accepted = listener.accept().map(drop).expect_err("somebody connected");
    assert_eq!(accepted.kind(), std::io::ErrorKind::WouldBlock);
}

/// A server that answers every request with 204, and counts them.
fn server() -> (String, Arc<AtomicUsize>) {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    let authority = listener.local_addr().expect("its address").to_string();
    let served = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&served);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4_096];
            let read = stream.read(&mut head);
            count.fetch_add(1, Ordering::Relaxed);
            let answer = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
            if read.is_err() || stream.write_all(answer).is_err() {
                return;
            }
        }
    });
    (authority, served)
}

fn open_for(setup: &mut Setup, tool: &str, authority: &str) {
    let list = opened(authority).into();
    setup.config.egress.allow_of.insert(tool.to_owned(), list);
}

fn opened(authority: &str) -> Vec<EgressAllow> {
    let pattern = EgressPattern::parse(&format!("http://{authority}/**"));
    vec![EgressAllow::Pattern(pattern.expect("a pattern"))]
}

#[tokio::test]
async fn a_plain_function_reaches_what_was_opened_for_it() {
    let ((authority, served), (other, not_served)) = (server(), server());
    let mut setup = Setup::default();
    open_for(&mut setup, "fetch", &authority);
    let host = approving_host(FETCH, setup).await;
    let outcome = beside(&host, "fetch", json!({ "authority": authority })).await;
    assert_eq!(outcome.ending.text(), "status 204");
    assert_eq!(served.load(Ordering::Relaxed), 1);
    let outcome = beside(&host, "fetch", json!({ "authority": other })).await;
    assert_eq!(outcome.ending.word(), "failed", "{:?}", outcome.ending);
    assert_eq!(not_served.load(Ordering::Relaxed), 0);
    let records = host.journal.records();
    let evidence = records.iter().find(|record| record["tool"] == "fetch");
    let request = &evidence.expect("a record")["requests"][0];
    assert!(
        request["url"]
            .as_str()
            .is_some_and(|url| url.contains(&authority)),
        "{request}"
    );
    // Deny rules over URLs bind it all the same.
    let mut setup = Setup::default().deny(&["WebFetch(http://127.0.0.1:*/**)"]);
    open_for(&mut setup, "fetch", &authority);
    let host = approving_host(FETCH, setup).await;
    let outcome = beside(&host, "fetch", json!({ "authority": authority })).await;
    assert_eq!(outcome.ending.word(), "failed", "{:?}", outcome.ending);
    assert_eq!(served.load(Ordering::Relaxed), 1);
}

/// What is opened for every tool is for tools that say what they need.
#[tokio::test]
async fn what_is_opened_for_all_is_not_for_what_nobody_vouches_for() {
    let (authority, served) = server();
    let mut setup = Setup::default();
    setup.config.egress.allow = Some(opened(&authority).into());
    let host = approving_host(FETCH, setup).await;
    let outcome = beside(&host, "fetch", json!({ "authority": authority })).await;
    assert_eq!(outcome.ending.word(), "failed", "{:?}", outcome.ending);
    assert_eq!(served.load(Ordering::Relaxed), 0);
}

/// Where the operator says which field is a URL, a call reaches that one, of what is opened.
#[tokio::test]
async fn an_assigned_url_bounds_a_plain_call() {
    let ((authority, served), (other, not_served)) = (server(), server());
    let mut setup = Setup::default();
    let both = [opened(&authority), opened(&other)].concat();
    setup.config.egress.allow = Some(both.into());
    let subject = SubjectField {
        kind: SubjectKind::Url,
        field: "url".to_owned(),
    };
    setup
        .config
        .subjects
        .insert("fetch-url".to_owned(), subject.into());
    let setup = setup.allow(&[&format!("fetch-url(http://{authority}/**)")]);
    let host = host_in(Scratch::new(), FETCH, setup, |builder| builder).await;
    let call = |url: &str, authority: &str| json!({"url": format!("http://{url}/"), "authority": authority});
    assert_eq!(
        host.done("fetch-url", call(&authority, &authority)).await,
        "status 204"
    );
    host.failed("fetch-url", call(&authority, &other)).await;
    host.denied("fetch-url", call(&other, &other)).await;
    assert_eq!(served.load(Ordering::Relaxed), 1);
    assert_eq!(not_served.load(Ordering::Relaxed), 0);
}

fn job() -> Value {
    json!({
        "name": "é\u{1f980}", "initial": "é", "wanted": true, "small": -128,
        "large": "18446744073709551615", "exact": 0.1, "size": {"width": 4_294_967_295_u32, "height": 1.5},
        "color": "green", "rights": ["read", "run-it"], "outcome": {"pair": [255, "-9223372036854775808"]},
        "tags": [["a", 1], ["b", 65_535]], "data": "AAEC/w==", "maybe": "there", "twice": {"some": 7},
        "done": {"err": "why"},
    })
}

#[tokio::test]
pub async fn plain_types() {
    let host = approving_host(TYPES, Setup::default()).await;
    let outcome = beside(&host, "values_echo", json!({ "job": job() })).await;
    assert_eq!(structured(&outcome), job());
    // Optional is optional: left out, or null, at every depth.
    let mut few = job();
    for optional in ["maybe", "twice"] {
        few.as_object_mut().expect("an object").remove(optional);
    }
    few["size"]["height"] = Value::Null;
    few["outcome"] = json!("nothing");
    few["done"] = json!({"ok": 3});
    few["large"] = json!(9_007_199_254_740_991_u64);
    let outcome = beside(&host, "values_echo", json!({ "job": few })).await;
    few["maybe"] = Value::Null;
    few["twice"] = Value::Null;
    assert_eq!(structured(&outcome), few);
    let silent = beside(&host, "values_silent", json!({})).await;
    assert_eq!(silent.ending.word(), "done");
    assert_eq!(silent.ending.text(), "");
    let fails = |why: &str| json!({ "why": why });
    assert_eq!(host.failed("values_fails", fails("no")).await, "no");
    assert_eq!(host.done("values_fails", json!({})).await, "it did not");
    let record = host.failed("values_fails-with-record", json!({})).await;
    assert_eq!(record, r#"{"width":1,"height":null}"#);
}

#[tokio::test]
async fn functions_that_cannot_be_tools_are_named_and_the_others_work() {
    let host = approving_host(TYPES, Setup::default()).await;
    let left_out: Vec<String> = host
        .host
        .left_out()
        .iter()
        .map(ToString::to_string)
        .collect();
    for part in [
        "'example:types/values@1.0.0#takes-a-thing' is left out: it takes or gives a resource",
        "'example:types/values@1.0.0#gives-a-thing' is left out: it takes or gives a resource",
        "'example:types/values@1.0.0#[constructor]thing' is left out: it belongs to a resource",
        "'a-function-whose-name-is-longer-than-any-tool-may-have' is left out: ",
    ] {
        assert!(
            left_out.iter().any(|said| said.contains(part)),
            "{part}: {left_out:?}"
        );
    }
    assert!(left_out.iter().all(|said| said.starts_with("types.wasm: ")));
    let names = host.host.all_tools().map(|tool| tool.name().to_string());
    let of_it: Vec<String> = names.filter(|name| name.starts_with("values_")).collect();
    assert_eq!(
        of_it,
        [
            "values_echo",
            "values_fails",
            "values_fails-with-record",
            "values_silent",
            "values_whole"
        ]
    );
}

/// What does not fit does not run: the schema's words where it can say it, the host's where it is a matter of ranges.
#[tokio::test]
async fn what_does_not_fit_does_not_run() {
    let host = approving_host(TYPES, Setup::default()).await;
    let mut wrong = job();
    wrong["color"] = json!("blue");
    wrong["tags"] = json!([["a", "b"]]);
    wrong["extra"] = json!(1);
    wrong.as_object_mut().expect("an object").remove("initial");
    let text = host.denied("values_echo", json!({ "job": wrong })).await;
    for part in [
        "Parameter 'job.color' must be one of [red, green], but was 'blue'.",
        "Unknown parameter 'job.extra'.",
        "Parameter 'job.initial' is required (string).",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut wrong = job();
    wrong["small"] = json!(-129);
    wrong["initial"] = json!("ab");
    wrong["data"] = json!("?");
    let text = host.failed("values_echo", json!({ "job": wrong })).await;
    let expected = [
        "Parameter 'job.initial' must be one character. The tool was not executed.",
        "Parameter 'job.small' must be an integer from -128 to 127. The tool was not executed.",
        "Parameter 'job.data' must be base64. The tool was not executed.",
    ];
    assert_eq!(text, expected.join("\n"));
    let exact = host
        .done("values_whole", json!({ "number": u64::MAX }))
        .await;
    assert_eq!(exact, "18446744073709551615");
}

#[tokio::test]
pub async fn plain_hostile() {
    let host = approving_host(HOSTILE, bounded("spin", one_second())).await;
    let limit = Duration::from_secs(1);
    let outcome = beside(&host, "spin", json!({})).await;
    assert_eq!(stop(&outcome), &Stop::WallClock { limit });
    let outcome = beside(&host, "die", json!({})).await;
    assert!(
        trap(&outcome).contains("unreachable"),
        "{:?}",
        outcome.ending
    );
    let outcome = beside(&host, "leave", json!({ "code": 3 })).await;
    assert!(
        trap(&outcome).starts_with("it left with exit code"),
        "{:?}",
        outcome.ending
    );
    let outcome = beside(&host, "eat", json!({})).await;
    assert_eq!(stop(&outcome), &Stop::Memory { limit: 256 << 20 });
    let much = |mebibytes: u32| json!({ "mebibytes": mebibytes });
    for tool in ["give", "fail"] {
        let outcome = beside(&host, tool, much(40)).await;
        assert_eq!(
            stop(&outcome),
            &Stop::ResultSize { limit: 32 << 20 },
            "{tool}"
        );
        let outcome = beside(&host, tool, much(100)).await;
        assert_eq!(
            stop(&outcome),
            &Stop::Transfer { limit: 72 << 20 },
            "{tool}"
        );
    }
    // A byte takes more in the host than in the guest.
    let outcome = beside(&host, "give-bytes", much(10)).await;
    assert_eq!(stop(&outcome), &Stop::Transfer { limit: 72 << 20 });
    for _ in 0..3 {
        assert_eq!(
            host.done("count", json!({})).await,
            "0",
            "each call is the first"
        );
    }
}

/// What a component says of itself in its own section reaches the model, unless it hides something or the operator says
/// something else.
#[tokio::test]
async fn a_plain_function_is_described_by_its_component_or_the_operator() {
    let docs = |words: &str| {
        let json = json!({"worlds": {"files": {"func_exports": {"read-file": {"docs": words}}}}});
        let mut section = vec![12];
        section.extend(b"package-docs\x01");
        section.extend(json.to_string().as_bytes());
        let mut bytes = guests::PLAIN_FILES.to_vec();
        bytes.push(0);
        let mut length = section.len();
        while length >= 0x80 {
            bytes.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
            length >>= 7;
        }
        bytes.push(u8::try_from(length).expect("seven bits"));
        bytes.extend(section);
        bytes
    };
    let signature = "A function of a component that says nothing of it: read-file: func(path: string) -> result<string, \
                     string>";
    let mut said = Setup::default();
    let words = PlainSetting {
        description: Some("Reads what the operator says.".to_owned().into()),
        ..PlainSetting::default()
    };
    said.config.plain.insert("read-file".to_owned(), words);
    for (setup, bytes, expected) in [
        (Setup::default(), guests::PLAIN_FILES.to_vec(), signature),
        (Setup::default(), docs("Reads a file."), "Reads a file."),
        (Setup::default(), docs("Reads\u{202e} a file."), signature),
        (said, docs("Reads a file."), "Reads what the operator says."),
    ] {
        let host = TestHost::with(Scratch::new(), setup, |builder| {
            builder.component("files.wasm", bytes)
        })
        .await;
        let mut tools = host.host.all_tools();
        let tool = tools.find(|tool| tool.name().as_str() == "read-file");
        assert_eq!(tool.expect("the tool").declaration().description, expected);
    }
}

/// A table for a tool that describes itself, or for none, stops the start.
#[tokio::test]
async fn a_table_that_binds_nothing_stops_the_start() {
    for (tool, said) in [
        (
            "Read",
            "[plain.Read] is for functions of plain components, and 'Read' describes itself",
        ),
        (
            "read-fiel",
            "the table [plain] names the tool 'read-fiel', which does not exist. Did you mean 'read-file'?",
        ),
    ] {
        let setup = granted(Setup::default(), tool, PlainFiles::Read);
        let built = TestHost::try_with(Scratch::new(), setup, |builder| {
            builder.component("files.wasm", guests::PLAIN_FILES.to_vec())
        })
        .await;
        let message = built.map(drop).expect_err("there is a host").to_string();
        assert!(message.contains(said), "{message}");
    }
}
