//! Cases of the family `file` about what is no regular file: no call waits for it.

use serde_json::json;
use toolgate::model::Ending;
use toolgate_tests::{Scratch, TestHost};

use crate::support::{Meanwhile, fifo, holds, names};

cases! {
    "F18" => f18_a_fifo_holds_no_call_up,
    "F20" => f20_a_file_that_turns_into_a_fifo_holds_no_call_up,
}

async fn f18_a_fifo_holds_no_call_up() {
    let scratch = Scratch::new();
    fifo(&scratch.ws.join("live.pipe"));
    scratch.file("a.txt", "x\n");
    let host = TestHost::approving(scratch).await;
    let at = "/ws/live.pipe";
    for (tool, input) in [
        ("Read", json!({"file_path": at})),
        (
            "Edit",
            json!({"file_path": at, "old_string": "a", "new_string": "b"}),
        ),
        ("Write", json!({"file_path": at, "content": "x"})),
    ] {
        let text = host.failed(tool, input).await;
        holds(&text, &["not a regular file"]);
    }
    let text = host
        .done("Grep", json!({"pattern": "x", "path": "/ws"}))
        .await;
    holds(&text, &["/ws/a.txt"]);
    assert_eq!(names(&host.scratch.ws), ["a.txt", "live.pipe"]);
}

async fn f20_a_file_that_turns_into_a_fifo_holds_no_call_up() {
    const CALLS: usize = 1_000;
    let host = TestHost::approving(Scratch::new()).await;
    let at = host.scratch.file("f", "content\n");
    let next = host.scratch.ws.join("next");
    let turn = Meanwhile::start(move |round| {
        if round % 2 == 0 {
            fifo(&next);
        } else {
            std::fs::write(&next, "content\n").expect("a file");
        }
        std::fs::rename(&next, &at).expect("in its place");
    });
    let (mut read, mut refused) = (0, 0);
    for _ in 0..CALLS {
        let outcome = host.call("Read", json!({"file_path": "/ws/f"})).await;
        match &outcome.ending {
            Ending::Done(output) => {
                holds(&output.text(), &["content"]);
                read += 1;
            }
            Ending::Failed(failure) => {
                let expected = ["not a regular file", "does not exist"];
                assert!(
                    expected.iter().any(|part| failure.message.contains(part)),
                    "{}",
                    failure.message
                );
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(turn.stop() > 1, "the file never turned");
    assert!(
        read > 0 && refused > 0,
        "{read} reads, {refused} refusals: the two never met"
    );
    assert_eq!(read + refused, CALLS);
}
