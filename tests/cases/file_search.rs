//! Cases of the family `file` about Glob and Grep: nothing vanishes without a word, nothing runs away.

use serde_json::{Value, json};
use toolgate::model::{DenialReason, Ending};
use toolgate_tests::{Scratch, TestHost};

use crate::support::{holds, lacks, link, set_mode};

cases! {
    "F21" => f21_what_cannot_be_read_is_counted_and_hides_nothing,
    "F23" => f23_glob_finds_an_ignored_file_that_is_named_exactly,
    "F24" => f24_glob_understands_its_patterns,
    "F29" => f29_grep_cuts_around_a_match_in_a_minified_file,
    "F31" => f31_grep_is_bounded_whatever_the_pattern,
    "F32" => f32_grep_says_what_is_wrong_with_a_pattern,
    "F46" => f46_grep_takes_fields_that_look_like_options,
}

fn grep(pattern: &str) -> Value {
    json!({"pattern": pattern, "path": "/ws"})
}

async fn f21_what_cannot_be_read_is_counted_and_hides_nothing() {
    let scratch = Scratch::new();
    let a = scratch.file("a.ts", "x\n");
    link("nowhere", scratch.ws.join("broken.ts"));
    let locked = scratch.ws.join("locked");
    std::fs::create_dir(&locked).expect("a folder");
    set_mode(&locked, 0o000);
    // Whoever may read everything can read it all the same.
    let unreadable = if std::fs::read_dir(&locked).is_err() {
        2
    } else {
        1
    };
    let counted = if unreadable == 1 {
        "1 entry skipped"
    } else {
        "2 entries skipped"
    };
    let host = TestHost::approving(scratch).await;
    let a = a.to_str().expect("UTF-8");
    for (tool, input) in [("Glob", json!({"pattern": "**/*.ts"})), ("Grep", grep("x"))] {
        let text = host.done(tool, input).await;
        holds(&text, &[a, counted]);
    }
    set_mode(&locked, 0o755);
}

async fn f23_glob_finds_an_ignored_file_that_is_named_exactly() {
    let scratch = Scratch::new();
    scratch.file(".gitignore", "dist/\n");
    let ignored = scratch.file("dist/a.js", "1\n");
    let plain = scratch.file("src/b.js", "1\n");
    let host = TestHost::approving(scratch).await;
    let (ignored, plain) = (
        ignored.to_str().expect("UTF-8"),
        plain.to_str().expect("UTF-8"),
    );

    let text = host.done("Glob", json!({"pattern": "dist/a.js"})).await;
    holds(&text, &[ignored]);
    let text = host.done("Glob", json!({"pattern": "**/*.js"})).await;
    holds(&text, &[plain, "1 ignored path left out"]);
    lacks(&text, &[ignored]);
}

async fn f24_glob_understands_its_patterns() {
    let scratch = Scratch::new();
    let file = scratch.file("modules/common/zsh.nix", "{}\n");
    let host = TestHost::approving(scratch).await;
    for pattern in [
        "modules/**/*.nix",
        "**/*.{nix,toml}",
        "modules/common/*.nix",
    ] {
        let text = host.done("Glob", json!({"pattern": pattern})).await;
        assert_eq!(text, file.to_str().expect("UTF-8"), "{pattern}");
    }
}

async fn f29_grep_cuts_around_a_match_in_a_minified_file() {
    let line = format!(
        "{}var stats=1;{}",
        "a();".repeat(100_000),
        "b();".repeat(62_500)
    );
    assert!(line.len() >= 650_000);
    let scratch = Scratch::new();
    scratch.file("three.min.js", &line);
    let host = TestHost::approving(scratch).await;
    let mut input = grep("stats");
    input["output_mode"] = json!("content");
    let text = host.done("Grep", input).await;
    holds(&text, &["three.min.js", "a();var stats=1;b();", "…"]);
    assert!(
        text.chars().count() < 30_000,
        "{} characters",
        text.chars().count()
    );
}

async fn f31_grep_is_bounded_whatever_the_pattern() {
    /// What the case allows the process to grow by.
    const MEMORY: usize = 128 << 20;
    let scratch = Scratch::new();
    scratch.file("a.txt", format!("{}X\n", "a".repeat(60)));
    let host = TestHost::approving(scratch).await;
    for (pattern, found) in [
        ("(a+)+$", Some("No matches")),
        ("[a-z ]{0,90}TOKEN[a-z ]{0,90}", Some("No matches")),
        (r"(\w{1,500}){1,500}", None),
    ] {
        let outcome = host.call("Grep", grep(pattern)).await;
        match (&outcome.ending, found) {
            (Ending::Done(output), Some(found)) => holds(&output.text(), &[found]),
            (Ending::Failed(failure), None) => {
                assert_eq!(failure.kind, "invalid-input");
                holds(&failure.message.to_lowercase(), &["pattern", "large"]);
            }
            (ending, _) => panic!("{pattern}: {ending:?}"),
        }
        assert!(
            outcome.usage.memory < MEMORY,
            "{pattern}: {} bytes",
            outcome.usage.memory
        );
    }
}

async fn f32_grep_says_what_is_wrong_with_a_pattern() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "foo(ab\n");
    let host = TestHost::approving(scratch).await;
    let nothing = host.done("Grep", grep("absent")).await;
    holds(&nothing, &["No matches"]);
    for (pattern, reason, position) in [
        ("foo(", "unclosed group", "4"),
        ("(?<=a)b", "look-around", "1"),
        (r"(a)\1", "backreferences", "4"),
    ] {
        let text = host.failed("Grep", grep(pattern)).await;
        let said = text
            .to_lowercase()
            .replace("back-references", "backreferences");
        holds(&said, &[reason, position]);
        lacks(&text, &["No matches"]);
    }
}

async fn f46_grep_takes_fields_that_look_like_options() {
    let scratch = Scratch::new();
    scratch.file("n.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let host = TestHost::approving(scratch).await;
    let mut input = grep("5");
    for (name, value) in [
        ("output_mode", json!("content")),
        ("-A", json!(1)),
        ("-B", json!(1)),
        ("-n", json!(true)),
    ] {
        input[name] = value;
    }
    let text = host.done("Grep", input).await;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| line.ends_with(['3', '4', '5', '6', '7']))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, number) in lines.iter().zip(["4", "5", "6"]) {
        assert!(
            line.ends_with(number) && line.matches(number).count() >= 2,
            "{number} has no number of its own: {line}"
        );
    }

    let mut input = grep("5");
    input["-A"] = json!("1; touch /ws/m");
    let outcome = host.call("Grep", input).await;
    let Ending::Denied(denial) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    assert!(
        matches!(denial.reason, DenialReason::InvalidInput { .. }),
        "{denial:?}"
    );
    holds(&outcome.ending.text(), &["'-A' must be an integer"]);
    assert!(!host.scratch.ws.join("m").exists());
}
