//! The code of a stranger's component: made once, used only where it is ours, and never at any price.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use toolgate::model::{Ending, RawCall};
use toolgate::runtime::{CompileWorker, ToolEngine};
use toolgate::{Host, HostError};
use toolgate_artifacts as guests;

use crate::desk::{CEILING, Desk, compiled, text};
use crate::said::{assert_exit, stderr, stdout};

#[test]
fn a_component_is_compiled_once_for_all_processes() {
    let desk = Desk::new();
    let echo = desk.file("echo.wasm", guests::ECHO);
    let call = [
        "call",
        "Echo",
        r#"{"text":"hello"}"#,
        "--component",
        text(&echo),
    ];
    for compilations in [1, 0, 0] {
        let output = desk.run(&call);
        assert_exit(&output, 0);
        assert!(stdout(&output).contains("hello"));
        assert_eq!(compiled(&output), compilations);
    }
    let code = desk.code();
    assert_eq!(code.len(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&desk.state.join("code")), 0o700);
    assert_eq!(mode(&code[0]), 0o600);
    let other = desk.file("other.wasm", guests::TRAPS);
    let output = desk.run(&[
        "list",
        "--component",
        text(&echo),
        "--component",
        text(&other),
    ]);
    assert_exit(&output, 0);
    assert_eq!((compiled(&output), desk.code().len()), (1, 2));
}

#[test]
fn code_that_is_not_ours_is_compiled_again_and_replaced() {
    let (desk, elsewhere) = (Desk::new(), Desk::new());
    let echo = desk.file("echo.wasm", guests::ECHO);
    let list = ["list", "--component", text(&echo)];
    assert_eq!(compiled(&desk.run(&list)), 1);
    assert_eq!(compiled(&elsewhere.run(&list)), 1);
    let (ours, theirs) = (desk.code().remove(0), elsewhere.code().remove(0));
    assert_eq!(ours.file_name(), theirs.file_name());
    let good = fs::read(&ours).unwrap();
    let mut changed = good.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x40;
    let foreign = fs::read(theirs).unwrap();
    assert_ne!(good, foreign, "the same code under another seal");
    for bad in [
        &changed,
        &foreign,
        &good[..good.len() / 2].to_vec(),
        &Vec::new(),
    ] {
        fs::write(&ours, bad).unwrap();
        let output = desk.run(&list);
        assert_exit(&output, 0);
        assert_eq!(compiled(&output), 1);
        assert!(stderr(&output).contains("is not what this host wrote"));
        let output = desk.run(&list);
        assert_exit(&output, 0);
        assert_eq!(compiled(&output), 0, "it was replaced");
    }
}

#[test]
fn a_cache_that_others_may_write_is_not_used() {
    let desk = Desk::new();
    let echo = desk.file("echo.wasm", guests::ECHO);
    let list = ["list", "--component", text(&echo)];
    assert_eq!(compiled(&desk.run(&list)), 1);
    fs::set_permissions(desk.state.join("code"), fs::Permissions::from_mode(0o777)).unwrap();
    for _ in 0..2 {
        let output = desk.run(&list);
        assert_exit(&output, 0);
        assert_eq!(compiled(&output), 1);
        assert!(stderr(&output).contains("chmod 700"));
    }
}

/// Components that would take a compiler minutes or gigabytes, and why they are refused.
fn bombs() -> [(&'static str, Vec<u8>, &'static str); 4] {
    let module =
        |inside: &str| wat::parse_str(format!("(component (core module {inside}))")).unwrap();
    let calls = "(func) ".repeat(100_000);
    let long = "i32.const 7 drop ".repeat(180_000);
    let deep = "block ".repeat(50_000) + &"end ".repeat(50_000);
    let locals = format!("(local {})", "f64 ".repeat(9_999)) + &"loop end ".repeat(10_000);
    [
        (
            "100,000 functions",
            module(&calls),
            "100000 or more functions",
        ),
        (
            "one huge function",
            module(&format!("(func {long} {long} {long})")),
            "bytes in one function",
        ),
        (
            "50,000 blocks inside each other",
            module(&format!("(func {deep})")),
            "blocks inside each other",
        ),
        (
            "locals carried through loops",
            module(&format!("(func {locals})")),
            "locals and",
        ),
    ]
}

#[tokio::test]
async fn compile_bombs_are_refused_and_the_neighbour_runs() {
    let desk = Desk::new();
    let engine = ToolEngine::new(4).unwrap();
    for (what, bomb, says) in bombs() {
        let build = Host::builder(&desk.ws)
            .state_dir(&desk.state)
            .engine(engine.clone())
            .component("Echo", guests::ECHO.to_vec())
            .component("bomb", bomb)
            .build();
        let built = tokio::time::timeout(CEILING, build).await.expect(what);
        let HostError::Component { path, error } = built.unwrap_err() else {
            panic!("{what}: another error");
        };
        assert_eq!(path, Path::new("bomb"), "{what}");
        assert!(error.to_string().contains(says), "{what}: {error}");
    }
    let host = Host::builder(&desk.ws)
        .state_dir(&desk.state)
        .engine(engine)
        .component("Echo", guests::ECHO.to_vec())
        .build()
        .await
        .unwrap();
    let outcome = host.call(RawCall::new("Echo", r#"{"text":"hello"}"#)).await;
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
}

#[test]
fn the_worker_refuses_bombs_too() {
    let desk = Desk::new();
    let echo = desk.file("echo.wasm", guests::ECHO);
    for (what, bomb, says) in bombs() {
        let bomb = desk.file("bomb.wasm", bomb);
        let output = desk.run(&["list", "--component", text(&bomb)]);
        assert_exit(&output, 2);
        assert!(
            stderr(&output).contains(says),
            "{what}: {}",
            stderr(&output)
        );
        assert!(stderr(&output).contains("bomb.wasm"), "{what}");
        let output = desk.run(&["list", "--component", text(&echo)]);
        assert_exit(&output, 0);
    }
}

#[test]
fn a_worker_bounds_itself_before_it_reads() {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .arg("compile-worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let limits = format!("/proc/{}/limits", worker.id());
    let begun = Instant::now();
    let bounded = loop {
        let text = fs::read_to_string(&limits).unwrap();
        let limit = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            let rest = line.split_at(name.len()).1;
            rest.split_whitespace()
                .take(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let found = [
            limit("Max address space"),
            limit("Max cpu time"),
            limit("Max file size"),
            limit("Max core file size"),
        ];
        let wanted = [4_u64 << 30, 600, 0, 0].map(|most| vec![most.to_string(); 2]);
        if found == wanted || begun.elapsed() > CEILING {
            break found == wanted;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(bounded);
}

#[tokio::test]
async fn a_worker_that_is_none_compiles_nothing() {
    let desk = Desk::new();
    let worker = CompileWorker::new("/bin/cat", Vec::new());
    let built = Host::builder(&desk.ws)
        .state_dir(&desk.state)
        .engine(ToolEngine::new(4).unwrap())
        .compile_worker(worker)
        .component("Echo", guests::ECHO.to_vec())
        .build()
        .await;
    let said = built.unwrap_err().to_string();
    assert!(said.contains("without an answer"), "{said}");
}
