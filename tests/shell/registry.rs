//! Family K through the tools: tasks that outlive their calls.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_tests::{Setup, TestHost};

use crate::adversary::is_quiet;
use crate::calls::host;

async fn started(host: &TestHost, line: &str, timeout: Option<u64>) -> String {
    let call = json!({"command": line, "run_in_background": true, "timeout": timeout});
    let said = host.done("Bash", call).await;
    let id = said
        .split_whitespace()
        .find(|word| word.starts_with("task-"));
    id.expect("an id").trim_end_matches('.').to_owned()
}

const BEATING: &str = "echo up; (setsid bash -c 'for i in $(seq 1 900); do printf . >> beat; sleep .02; done' &); sleep 30";

async fn beats(host: &TestHost) -> std::path::PathBuf {
    let beat = host.scratch.ws.join("beat");
    while std::fs::metadata(&beat).map_or(0, |file| file.len()) < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    beat
}

#[tokio::test]
async fn k01_start_read_and_stop() {
    let host = host(Setup::default()).await;
    let id = started(&host, BEATING, None).await;
    let beat = beats(&host).await;
    let read = json!({"task_id": id, "wait_ms": 20_000});
    let said = host.done("TaskOutput", read).await;
    assert!(
        said.starts_with("up\n") && said.contains("running"),
        "{said}"
    );
    let old = host.done("BashOutput", json!({"bash_id": id})).await;
    assert!(old.starts_with("up\n"), "{old}");
    let list = host.done("TaskList", json!({})).await;
    assert!(list.contains(&id) && list.contains("running"), "{list}");
    let stopped = host.done("TaskStop", json!({"task_id": id})).await;
    assert!(stopped.contains("stopped"), "{stopped}");
    is_quiet(&beat).await;
    let again = host.done("TaskOutput", json!({"task_id": id})).await;
    assert!(
        again.starts_with("up\n") && again.ends_with("stopped]"),
        "{again}"
    );
}

#[tokio::test]
async fn k01_a_task_ends_by_itself_and_its_code_is_told() {
    let host = host(Setup::default()).await;
    let id = started(&host, "echo a; sleep .3; echo b; exit 7", None).await;
    let mut offset = 0;
    let mut all = String::new();
    let begun = Instant::now();
    while !all.contains("exit code 7") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{all}");
        let call = json!({"task_id": id, "offset": offset, "wait_ms": 5_000});
        all = host.done("TaskOutput", call).await;
        offset = if all.contains("b\n") { 4 } else { 2 };
    }
}

#[tokio::test]
async fn k02_a_deadline_of_its_own() {
    let host = host(Setup::default()).await;
    let id = started(&host, BEATING, Some(1_000)).await;
    let beat = beats(&host).await;
    let call = json!({"task_id": id, "text": "no such text", "timeout": 20_000});
    let said = host.done("Monitor", call).await;
    assert!(said.contains("ended by its deadline"), "{said}");
    is_quiet(&beat).await;
}

#[tokio::test]
async fn k03_output_is_bounded() {
    let host = host(Setup::default()).await;
    let id = started(&host, "yes | head -c 80000000; echo; echo END", None).await;
    let call = json!({"task_id": id, "text": "END", "offset": 79_999_990, "timeout": 60_000});
    let said = host.done("Monitor", call).await;
    assert!(said.contains("END"), "{said}");
    let page = host
        .done("TaskOutput", json!({"task_id": id, "offset": 200_000}))
        .await;
    assert!(page.contains("no longer kept"), "{page}");
    assert!(page.chars().count() <= 30_000);
    let spilled = std::fs::read_dir(host.scratch.state.join("spill")).expect("a folder");
    let longest = spilled
        .map(|file| file.expect("a file").metadata().expect("it").len())
        .max();
    assert!(
        longest.is_some_and(|length| length <= 64 << 20),
        "{longest:?}"
    );
}

#[tokio::test]
async fn k04_tasks_end_with_their_host() {
    let host = host(Setup::default()).await;
    started(&host, BEATING, None).await;
    let beat = beats(&host).await;
    let TestHost { scratch, host, .. } = host;
    drop(host);
    is_quiet(&beat).await;
    drop(scratch);
}

#[tokio::test]
async fn k05_an_unknown_task_is_an_error_and_an_ended_one_stays() {
    let host = host(Setup::default()).await;
    for tool in ["TaskOutput", "TaskStop", "Monitor"] {
        let said = host.failed(tool, json!({"task_id": "task-9-nope"})).await;
        assert!(said.contains("there is no task 'task-9-nope'"), "{said}");
    }
    let id = started(&host, "exit 5", None).await;
    let wait = json!({"task_id": id, "timeout": 20_000});
    host.done("Monitor", wait).await;
    for _ in 0..2 {
        let said = host.done("TaskStop", json!({"task_id": id})).await;
        assert!(said.contains("ended with exit code 5"), "{said}");
    }
}
