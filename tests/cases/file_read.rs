//! Cases of the family `file` about Read: pages, long lines, pictures.

use base64::Engine as _;
use serde_json::json;
use toolgate::model::{Content, Ending};
use toolgate_tests::{Scratch, TestHost};

use crate::support::{holds, lacks};

cases! {
    "F26" => f26_read_past_the_end_gives_the_line_count,
    "F28" => f28_read_shows_the_start_of_a_very_long_line,
    "F44" => f44_read_shows_pictures_and_never_raw_bytes,
}

/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn f26_read_past_the_end_gives_the_line_count() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "1\n2\n3\n4\n5\n");
    let host = TestHost::approving(scratch).await;
    for offset in [100, 6] {
        let text = host
            .failed("Read", json!({"file_path": "/ws/a.txt", "offset": offset}))
            .await;
        holds(&text, &["past the end", "5 lines"]);
        lacks(&text, &["empty"]);
    }
    let text = host
        .done("Read", json!({"file_path": "/ws/a.txt", "offset": 0}))
        .await;
    assert_eq!(text.lines().next().map(str::trim_start), Some("1\t1"));
    // The last line can be reached.
    let text = host
        .done("Read", json!({"file_path": "/ws/a.txt", "offset": 5}))
        .await;
    assert_eq!(text.lines().next().map(str::trim_start), Some("5\t5"));
}

async fn f28_read_shows_the_start_of_a_very_long_line() {
    let mut line = String::from("{\"start\":1,");
    line.push_str(&"x".repeat(100_000));
    line.push_str("NEEDLE");
    line.push_str(&"y".repeat(200_000 - line.len()));
    let scratch = Scratch::new();
    scratch.file("one.json", &line);
    let host = TestHost::approving(scratch).await;

    let text = host
        .done("Read", json!({"file_path": "/ws/one.json"}))
        .await;
    holds(
        &text,
        &[
            "1\t{\"start\":1,",
            "[line cut: 198000 more characters]",
            "Grep",
        ],
    );
    assert!(
        text.chars().count() < 30_000,
        "{} characters",
        text.chars().count()
    );
    lacks(&text, &["Read on with offset"]);

    // The hint leads to the rest.
    let hinted = json!({"pattern": "NEEDLE", "path": "/ws/one.json", "output_mode": "content"});
    let text = host.done("Grep", hinted).await;
    holds(&text, &["xNEEDLEy"]);
}

async fn f44_read_shows_pictures_and_never_raw_bytes() {
    let png = base64::engine::general_purpose::STANDARD
        .decode(PNG)
        .expect("base64");
    let scratch = Scratch::new();
    scratch.file("a.png", &png);
    scratch.file("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic-RAW-BYTES-");
    scratch.file("fake.png", b"\x89PNG\r\n\x1a\nRAW BYTES, which are text");
    let host = TestHost::approving(scratch).await;

    let outcome = host.call("Read", json!({"file_path": "/ws/a.png"})).await;
    let Ending::Done(output) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    let blobs: Vec<(&str, &[u8])> = output
        .content
        .iter()
        .filter_map(|part| match part {
            Content::Blob { mime, data, .. } => Some((mime.as_str(), data.as_slice())),
            Content::Text { .. } | Content::Link { .. } => None,
        })
        .collect();
    assert_eq!(blobs, [("image/png", png.as_slice())]);
    lacks(&output.text(), &["IHDR", "IDAT", "\u{fffd}"]);

    let text = host
        .failed("Read", json!({"file_path": "/ws/a.heic"}))
        .await;
    holds(&text, &["image/heic"]);
    lacks(&text, &["RAW", "ftyp"]);
    let text = host
        .failed("Read", json!({"file_path": "/ws/fake.png"}))
        .await;
    holds(&text, &["image/png"]);
    lacks(&text, &["RAW", "\u{fffd}"]);
}
