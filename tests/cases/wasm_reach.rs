//! Family `wasm`: guests that want what they were not given, hosts that have to go on, and names that are taken.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolgate::approval::Fixed;
use toolgate::model::{Ending, RawCall, Stop};
use toolgate_artifacts as guests;
use toolgate_tests::beside::{Guest, beside, host, host_in, neighbour};
use toolgate_tests::fixture::Fixture;
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::grown::{descriptors, memory, threads};
use crate::run::{alone, is_alone};
use crate::support::{bytes, fifo, lacks, link, refused};

cases! {
    "W03" => w03_a_component_that_never_describes_itself_is_listed_as_broken,
    "W08" => w08_what_is_no_component_file_is_not_read,
    "W15" => w15_a_call_after_a_cancelled_one_succeeds,
    "W17" => w17_nothing_is_left_for_the_next_call,
    "W19" => w19_a_read_only_view_is_never_cut,
    "W20" => w20_no_link_leads_out_of_a_read_only_directory,
    "W21" => w21_every_version_of_an_interface_has_the_same_door,
    "W23" => w23_a_declaration_takes_power_away,
    "W25" => w25_a_link_to_elsewhere_is_refused_at_both_doors,
    "W29" => w29_a_name_is_taken_once,
    "W31" => w31_a_trivial_call_answers_beside_spinning_ones,
    "W33" => w33_twenty_thousand_calls_leave_nothing,
}

async fn w03_a_component_that_never_describes_itself_is_listed_as_broken() {
    let named = |name: &str| Fixture {
        name: name.to_owned(),
        ..Fixture::default()
    };
    let spins = Fixture {
        describe: "(loop $on (br $on)) unreachable".to_owned(),
        ..named("Spins")
    };
    let components = [
        ("one.wasm", named("One").text()),
        ("spins.wasm", spins.text()),
        ("two.wasm", named("Two").text()),
    ];
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        let builder = builder.leave_out_broken();
        components
            .into_iter()
            .fold(builder, |builder, (label, bytes)| {
                builder.component(label, bytes)
            })
    })
    .await;
    let names: Vec<String> = host
        .host
        .tools()
        .map(|tool| tool.name().to_string())
        .collect();
    for good in ["One", "Two"] {
        assert!(names.iter().any(|name| name == good), "{names:?}");
        assert_eq!(host.done(good, json!({})).await, "");
    }
    let left_out: Vec<String> = host
        .host
        .left_out()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    let said = "spins.wasm: left out: the component does not describe itself: ";
    assert!(left_out[0].starts_with(said), "{left_out:?}");
}

async fn w08_what_is_no_component_file_is_not_read() {
    let scratch = Scratch::new();
    let sparse = scratch.outside.join("x.wasm");
    let file = fs::File::create(&sparse).expect("a file");
    file.set_len(8 << 30).expect("eight GiB of nothing");
    let pipe = scratch.outside.join("pipe.wasm");
    fifo(&pipe);
    for (path, said) in [
        (
            sparse,
            "the component has 8589934592 bytes or more, and 33554432 is the most",
        ),
        (PathBuf::from("/dev/zero"), "it is no regular file"),
        (pipe, "it is no regular file"),
        (scratch.ws.clone(), "it is no regular file"),
    ] {
        let mut setup = Setup::default();
        setup.config.components.push(path.clone().into());
        let built = TestHost::try_with(Scratch::new(), setup, |builder| builder).await;
        let message = built.map(drop).expect_err("there is a host").to_string();
        let path = path.display();
        assert!(
            message.contains(&format!("'{path}': cannot be read: {said}")),
            "{message}"
        );
    }
}

async fn w15_a_call_after_a_cancelled_one_succeeds() {
    let waiting = Arc::new(Semaphore::new(0));
    let begun = Arc::clone(&waiting);
    let guest: Guest = ("WaitsInHost", guests::WAITS_IN_HOST);
    let host = host_in(Scratch::new(), guest, Setup::default(), |builder| {
        builder.on_progress(Arc::new(move |_, _, _, _| begun.add_permits(1)))
    })
    .await;
    for _ in 0..100 {
        let long = host.call("WaitsInHost", json!({ "how": "clock" }));
        tokio::select! {
            outcome = long => panic!("it ended: {:?}", outcome.ending),
            permit = waiting.acquire() => permit.expect("never closed").forget(),
        }
        let short = json!({ "how": "clock", "ms": 1 });
        assert_eq!(host.done("WaitsInHost", short).await, "waited");
        waiting.acquire().await.expect("never closed").forget();
    }
    let records = host.journal.records();
    let of = |word: &str| {
        records
            .iter()
            .filter(|record| record["ending"] == word)
            .count()
    };
    assert_eq!((of("stopped"), of("done")), (100, 100));
}

async fn w17_nothing_is_left_for_the_next_call() {
    let host = host(("KeepsState", guests::KEEPS_STATE), Setup::default()).await;
    for _ in 0..2 {
        let found = host.done("KeepsState", json!({})).await;
        assert_eq!(found, "global 0, files 0, written 0");
    }
}

async fn w19_a_read_only_view_is_never_cut() {
    let scratch = Scratch::new();
    let file = scratch.file("a.txt", "content");
    let guest: Guest = ("ReadsByRawWasi", guests::READS_BY_RAW_WASI);
    let host = host_in(scratch, guest, Setup::default(), |builder| builder).await;
    for act in [
        "truncate_only",
        "create_only",
        "cut_by_read_handle",
        "write",
    ] {
        let input = json!({ "file_path": "/ws/a.txt", "act": act, "path": "a.txt" });
        let outcome = beside(&host, "ReadsByRawWasi", input).await;
        assert_eq!(
            outcome.ending.word(),
            "failed",
            "{act}: {:?}",
            outcome.ending
        );
        assert_eq!(bytes(&file), b"content", "{act}");
    }
}

async fn w20_no_link_leads_out_of_a_read_only_directory() {
    let scratch = Scratch::new();
    let kept = scratch.outside.join("a.txt");
    fs::write(&kept, "content").expect("a file");
    let mut setup = Setup::default();
    setup.config.read.push(scratch.outside.clone().into());
    let guest: Guest = ("ChangesByStdFs", guests::CHANGES_BY_STD_FS);
    let host = host_in(scratch, guest, setup, |builder| {
        builder.approver(Fixed::approve("the test"))
    })
    .await;
    let stolen = host.scratch.ws.join("stolen.txt");
    for change in ["hard_link", "rename"] {
        let input = json!({ "change": change, "path": "/outside/a.txt", "more": "/ws/stolen.txt" });
        let outcome = beside(&host, "ChangesByStdFs", input).await;
        assert_eq!(
            outcome.ending.word(),
            "failed",
            "{change}: {:?}",
            outcome.ending
        );
        assert!(!stolen.exists(), "{change}");
    }
    let write = json!({ "change": "write", "path": "/outside/a.txt", "more": "new" });
    host.failed("ChangesByStdFs", write).await;
    assert_eq!(bytes(&kept), b"content");
}

/// The same component with the version of its imports exchanged: all of them are one implementation.
async fn w21_every_version_of_an_interface_has_the_same_door() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let authority = listener.local_addr().expect("its address").to_string();
    let mut answers = Vec::new();
    for patch in 0..=9 {
        let (bytes, count) = with_version(guests::FETCHES, patch);
        assert!(count > 0, "the component imports no wasi:http@0.2.1?");
        let bytes: &'static [u8] = bytes.leak();
        let host = host(("Fetches", bytes), Setup::default()).await;
        let outcome = beside(&host, "Fetches", json!({ "authority": authority })).await;
        answers.push(refused(&outcome));
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    let accepted = listener.accept().map(drop).expect_err("somebody connected");
    assert_eq!(accepted.kind(), std::io::ErrorKind::WouldBlock);
}

/// A component with another version of wasi:http, 0.2.10 to 0.2.19, and how often it was named. The names keep their
/// lengths.
fn with_version(component: &[u8], patch: u8) -> (Vec<u8>, usize) {
    let mut bytes = component.to_vec();
    let mut count = 0;
    for name in ["wasi:http/types@0.2.1", "wasi:http/outgoing-handler@0.2.1"] {
        let at: Vec<usize> = component
            .windows(name.len())
            .enumerate()
            .filter(|(_, window)| *window == name.as_bytes())
            .map(|(at, _)| at + name.len())
            .filter(|at| component.get(*at).is_some_and(u8::is_ascii_digit))
            .collect();
        count += at.len();
        for at in at {
            bytes[at] = b'0' + patch;
        }
    }
    (bytes, count)
}

async fn w23_a_declaration_takes_power_away() {
    let scratch = Scratch::new();
    let file = scratch.file("a.txt", "content");
    let guest: Guest = ("ReadsByRawWasi", guests::READS_BY_RAW_WASI);
    let host = host_in(scratch, guest, Setup::default(), |builder| {
        builder.component("Fetches", guests::FETCHES.to_vec())
    })
    .await;
    for act in ["write", "rename", "unlink", "make_directory", "hard_link"] {
        let input = json!({ "file_path": "/ws/a.txt", "act": act, "path": "a.txt" });
        let outcome = beside(&host, "ReadsByRawWasi", input).await;
        assert_eq!(
            outcome.ending.word(),
            "failed",
            "{act}: {:?}",
            outcome.ending
        );
    }
    let fetched = host
        .call("Fetches", json!({ "authority": "127.0.0.1:9" }))
        .await;
    assert_eq!(fetched.ending.word(), "failed", "{:?}", fetched.ending);
    assert_eq!(bytes(&file), b"content");
    let names: Vec<_> = fs::read_dir(&host.scratch.ws).expect("a folder").collect();
    assert_eq!(names.len(), 1);
}

async fn w25_a_link_to_elsewhere_is_refused_at_both_doors() {
    let scratch = Scratch::new();
    link("/etc", scratch.ws.join("evil"));
    scratch.file("a.txt", "content");
    let guest: Guest = ("ReadsByRawWasi", guests::READS_BY_RAW_WASI);
    let host = host_in(scratch, guest, Setup::default(), |builder| {
        builder.approver(Fixed::approve("the test"))
    })
    .await;
    let built_in = host
        .call("Read", json!({ "file_path": "evil/passwd" }))
        .await;
    lacks(&refused(&built_in), &["root:"]);
    let input = json!({ "file_path": "/ws/a.txt", "act": "read", "path": "evil/passwd" });
    let raw = beside(&host, "ReadsByRawWasi", input).await;
    assert_eq!(raw.ending.word(), "failed", "{:?}", raw.ending);
    lacks(&raw.ending.text(), &["root:"]);
}

async fn w29_a_name_is_taken_once() {
    let refusal = async |names: &[&str]| -> String {
        let components: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(number, name)| {
                let fixture = Fixture {
                    name: (*name).to_owned(),
                    ..Fixture::default()
                };
                (format!("{number}.wasm"), fixture.text())
            })
            .collect();
        let built = TestHost::try_with(Scratch::new(), Setup::default(), |builder| {
            components
                .into_iter()
                .fold(builder, |builder, (label, bytes)| {
                    builder.component(label, bytes)
                })
        })
        .await;
        built.map(drop).expect_err("there is a host").to_string()
    };
    let said = refusal(&["Read"]).await;
    assert!(
        said.contains("'Read' (built in) and 'Read' (0.wasm)"),
        "{said}"
    );
    let said = refusal(&["read"]).await;
    assert!(
        said.contains("'Read' (built in) and 'read' (0.wasm)"),
        "{said}"
    );
    let said = refusal(&["Mine", "Mine"]).await;
    assert!(
        said.contains("'Mine' (0.wasm) and 'Mine' (1.wasm)"),
        "{said}"
    );
    let said = refusal(&["Re\u{430}d"]).await;
    assert!(said.contains("is not a tool name: "), "{said}");
}

async fn w31_a_trivial_call_answers_beside_spinning_ones() {
    let spinning = Arc::new(Semaphore::new(0));
    let begun = Arc::clone(&spinning);
    let guest: Guest = ("LoopsForever", guests::LOOPS_FOREVER);
    let host = host_in(Scratch::new(), guest, Setup::default(), |builder| {
        builder.on_progress(Arc::new(move |_, _, _, _| begun.add_permits(1)))
    })
    .await;
    let mut spins = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let host = host.host.clone();
        spins.spawn(async move { host.call(RawCall::new("LoopsForever", "{}")).await });
    }
    spinning
        .acquire_many(4)
        .await
        .expect("never closed")
        .forget();
    neighbour(&host, 5).await;
    assert!(spins.try_join_next().is_none(), "one of them ended");
    host.host.shutdown().await;
    for outcome in spins.join_all().await {
        assert_eq!(outcome.ending, Ending::Stopped(Stop::Shutdown));
    }
}

async fn w33_twenty_thousand_calls_leave_nothing() {
    const CASE: &str = "wasm_reach::case::w33_twenty_thousand_calls_leave_nothing";
    if !is_alone(CASE) {
        return alone(CASE, &[], "exec \"$@\"");
    }
    let folder = Scratch::new();
    // A journal in a file: one in memory would grow.
    let host = toolgate::Host::builder(&folder.ws)
        .state_dir(&folder.state)
        .component("echo.wasm", guests::ECHO.to_vec())
        .build()
        .await
        .expect("a host");
    let calls = async |count: usize| {
        for _ in 0..count {
            let call = RawCall::new("Echo", r#"{"text":"again"}"#);
            let outcome = host.call(call).await;
            assert_eq!(outcome.ending.text(), "again");
        }
    };
    let held = || -> Value { json!([descriptors(), threads()]) };
    calls(2_000).await;
    let (before, memory_before) = (held(), memory("VmRSS:"));
    calls(18_000).await;
    assert_eq!(held(), before, "descriptors and threads");
    let grown = memory("VmRSS:").saturating_sub(memory_before);
    assert!(grown < 8 << 20, "{grown} bytes more after 18,000 calls");
}
