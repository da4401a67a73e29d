//! What comes back: results of any size, logs without measure, and the way to what was left out.

use std::path::PathBuf;

use serde_json::json;
use toolgate::config::LimitSetting;
use toolgate::model::{Ending, Outcome, Stop};
use toolgate_artifacts as guests;
use toolgate_tests::Setup;

use crate::beside::{Guest, beside, bounded, host, stop};

const LONG_OUTPUT: Guest = ("LongOutput", guests::LONG_OUTPUT);

#[tokio::test]
pub async fn echo() {
    let host = host(("Second", guests::EXITS), Setup::default()).await;
    let text = "not changed: \u{1f980} \"\\\n\t\u{0}";
    let outcome = beside(&host, "Echo", json!({ "text": text })).await;
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    assert_eq!(outcome.ending.text(), text);
}

#[tokio::test]
pub async fn returns_huge() {
    let room = LimitSetting {
        memory_mib: Some(1_024.into()),
        ..LimitSetting::default()
    };
    let host = host(
        ("ReturnsHuge", guests::RETURNS_HUGE),
        bounded("ReturnsHuge", room),
    )
    .await;
    let outcome = beside(&host, "ReturnsHuge", json!({ "mebibytes": 100 })).await;
    assert!(
        matches!(
            stop(&outcome),
            Stop::Transfer { .. } | Stop::ResultSize { .. }
        ),
        "{:?}",
        outcome.ending
    );
    let outcome = beside(&host, "ReturnsHuge", json!({ "mebibytes": 40 })).await;
    assert_eq!(stop(&outcome), &Stop::ResultSize { limit: 32 << 20 });
    assert_eq!(
        outcome.ending.text(),
        "The tool gave back more than 32 MiB, which the host does not take (limits.result_mib)."
    );
    let outcome = beside(&host, "ReturnsHuge", json!({ "mebibytes": 20 })).await;
    assert!(is_capped(&outcome), "20 MiB are taken, and capped");
}

#[tokio::test]
pub async fn floods_output() {
    let host = host(("FloodsOutput", guests::FLOODS_OUTPUT), Setup::default()).await;
    let lines = 350_000;
    let outcome = beside(
        &host,
        "FloodsOutput",
        json!({ "lines": lines, "width": 5_000 }),
    )
    .await;
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    assert_eq!(
        outcome.ending.text(),
        "flooded",
        "nothing of the log is in the result"
    );
    assert_eq!(outcome.log.len(), 1_001);
    let (last, kept) = outcome.log.split_last().expect("lines");
    assert_eq!(
        last,
        &format!("({} more lines were dropped)", 3 * lines - 1_000)
    );
    for line in kept {
        assert!(line.len() <= 4 << 10, "a line of {} bytes", line.len());
    }
    for beginning in ["info: é", "stdout: out", "stderr: err"] {
        assert!(
            kept.iter().any(|line| line.starts_with(beginning)),
            "no line begins '{beginning}'"
        );
    }
}

fn is_capped(outcome: &Outcome) -> bool {
    match &outcome.ending {
        Ending::Done(output) => output.capped,
        other => panic!("not done: {other:?}"),
    }
}

/// The path in the sentence that stands in the place of what was left out.
fn pointer(text: &str) -> PathBuf {
    let (_, rest) = text
        .split_once("The full output is in ")
        .expect("a pointer");
    let (path, _) = rest
        .split_once("; page it with Read.]")
        .expect("the pointer's end");
    PathBuf::from(path)
}

fn full_text(lines: usize) -> String {
    (0..lines)
        .map(|number| format!("{number:09}{}\n", "é".repeat(90)))
        .collect()
}

#[tokio::test]
pub async fn long_output() {
    let host = host(LONG_OUTPUT, Setup::default()).await;
    let outcome = beside(&host, "LongOutput", json!({ "lines": 400 })).await;
    assert!(is_capped(&outcome));
    let full = full_text(400);
    assert_eq!(full.chars().count(), 40_000);
    let text = outcome.ending.text();
    assert!(
        text.chars().count() <= 30_000,
        "{} characters",
        text.chars().count()
    );
    assert!(
        text.contains("11000 of 40000 characters left out"),
        "no count of what is missing"
    );
    let head: String = full.chars().take(20_000).collect();
    let tail: String = full.chars().skip(31_000).collect();
    assert!(
        text.starts_with(&head) && text.ends_with(&tail),
        "head and tail are kept"
    );

    let path = pointer(&text);
    assert_eq!(
        std::fs::read_to_string(&path).expect("the spill file"),
        full
    );
    let mut lines = Vec::new();
    for offset in [1, 201] {
        let page = json!({ "file_path": path, "offset": offset, "limit": 200 });
        let page = host.call_raw("Read", &page.to_string()).await;
        assert!(!is_capped(&page));
        lines.push(page.ending.text());
    }
    let read = lines.join("\n");
    for number in 0..400 {
        assert!(
            read.contains(&format!("{number:09}é")),
            "line {number} cannot be read back"
        );
    }
}

#[tokio::test]
async fn a_short_output_is_not_capped_and_leaves_nothing_behind() {
    let host = host(LONG_OUTPUT, Setup::default()).await;
    let outcome = beside(&host, "LongOutput", json!({ "lines": 300 })).await;
    assert!(!is_capped(&outcome));
    assert_eq!(
        outcome.ending.text(),
        full_text(300),
        "exactly 30,000 characters are not too many"
    );
    let spilled = std::fs::read_dir(host.scratch.state.join("spill")).expect("the spill folder");
    assert_eq!(spilled.count(), 0);
}

#[tokio::test]
async fn a_long_failure_is_capped_too() {
    let host = host(LONG_OUTPUT, Setup::default()).await;
    let outcome = beside(
        &host,
        "LongOutput",
        json!({ "lines": 400, "as_failure": true }),
    )
    .await;
    assert!(
        matches!(outcome.ending, Ending::Failed(_)),
        "{:?}",
        outcome.ending
    );
    let text = outcome.ending.text();
    assert!(
        text.chars().count() <= 30_000,
        "{} characters",
        text.chars().count()
    );
    let spilled = std::fs::read_to_string(pointer(&text)).expect("the spill file");
    assert_eq!(spilled, full_text(400));
}

#[tokio::test]
async fn no_tool_writes_the_spill_store() {
    let host = host(LONG_OUTPUT, Setup::default()).await;
    let outcome = beside(&host, "LongOutput", json!({ "lines": 400 })).await;
    let path = pointer(&outcome.ending.text());
    let input = json!({ "file_path": path, "content": "forged" });
    let write = host.call_raw("Write", &input.to_string()).await;
    assert!(
        matches!(write.ending, Ending::Denied(_)),
        "{:?}",
        write.ending
    );
    assert_eq!(
        std::fs::read_to_string(&path).expect("the spill file"),
        full_text(400)
    );
}
