//! Binding an input: everything that is wrong is said at once, in the sentences of the contract.
#![allow(clippy::panic, clippy::indexing_slicing, reason = "tests")]

use toolgate_guest::{ToolError, ToolInput, Value, bind, json};

/// Everything that a field can be.
#[derive(Debug, PartialEq, ToolInput)]
struct Input {
    /// Path of a file.
    file_path: String,
    /// What to count.
    #[input(default = Unit::Words)]
    unit: Unit,
    /// Stop here.
    #[input(default = 10_000)]
    limit: u32,
    /// Ignore case.
    #[input(name = "-i")]
    ignore_case: Option<bool>,
    /// Which lines.
    range: Option<Range>,
    /// Which files.
    #[input(default = vec!["*".to_owned()])]
    globs: Vec<String>,
    /// Where.
    #[input(default = ".")]
    path: String,
    // Names that the derive's own code might use.
    /// Anything.
    object: Option<Value>,
    /// Anything else.
    faults: Option<f64>,
}

#[derive(Debug, PartialEq, ToolInput)]
enum Unit {
    Words,
    NonEmptyLines,
    #[input(name = "B")]
    Bytes,
}

#[derive(Debug, PartialEq, ToolInput)]
struct Range {
    /// First line.
    start: u32,
    /// Last line.
    end: Option<u32>,
}

#[derive(Debug, PartialEq, ToolInput)]
struct Nothing {}

fn faults<T: ToolInput + std::fmt::Debug>(input: &str) -> Vec<String> {
    match bind::<T>(input) {
        Err(ToolError::InvalidInput(sentences)) => sentences,
        other => panic!("invalid input expected, not {other:?}"),
    }
}

fn smallest() -> Input {
    Input {
        file_path: "a".to_owned(),
        unit: Unit::Words,
        limit: 10_000,
        ignore_case: None,
        range: None,
        globs: vec!["*".to_owned()],
        path: ".".to_owned(),
        object: None,
        faults: None,
    }
}

#[test]
fn absent_fields_stand_for_their_defaults() {
    assert_eq!(bind::<Input>(r#"{"file_path": "a"}"#), Ok(smallest()));
}

#[test]
fn null_stands_for_absent() {
    let input = r#"{"file_path": "a", "unit": null, "limit": null, "-i": null, "range": null, "object": null}"#;
    assert_eq!(bind::<Input>(input), Ok(smallest()));
    assert_eq!(
        faults::<Input>(r#"{"file_path": null}"#),
        ["Parameter 'file_path' is required (string). The tool was not executed."]
    );
}

#[test]
fn all_fields_bind() {
    let input = r#"{"file_path": "a", "unit": "non_empty_lines", "limit": 5.0, "-i": true,
        "range": {"start": 1, "end": 2}, "globs": [], "path": "b", "object": {"x": [1]}, "faults": 2}"#;
    let expected = Input {
        unit: Unit::NonEmptyLines,
        limit: 5,
        ignore_case: Some(true),
        range: Some(Range {
            start: 1,
            end: Some(2),
        }),
        globs: Vec::new(),
        path: "b".to_owned(),
        object: Some(json!({"x": [1]})),
        faults: Some(2.0),
        ..smallest()
    };
    assert_eq!(bind::<Input>(input), Ok(expected));
}

#[test]
fn a_value_binds_again_from_its_json() {
    let input = Input {
        range: Some(Range {
            start: 7,
            end: None,
        }),
        unit: Unit::Bytes,
        ..smallest()
    };
    let text = input.to_json().to_string();
    assert_eq!(bind::<Input>(&text), Ok(input));
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn all_violations_come_at_once() {
    let input = r#"{"file_paht": "a", "unit": "c", "limit": "5", "-i": 1, "range": {"strat": 1, "end": -1},
        "globs": ["a", 2, "b", null], "zzz": 1}"#;
    assert_eq!(
        faults::<Input>(input),
        [
            "Unknown parameter 'file_paht'. Did you mean 'file_path'? The tool was not executed.",
            "Unknown parameter 'zzz'. The tool was not executed.",
            "Parameter 'file_path' is required (string). The tool was not executed.",
            "Parameter 'unit' must be one of [words, non_empty_lines, B], but was 'c'. The tool was not executed.",
            "Parameter 'limit' must be an integer. The tool was not executed.",
            "Parameter '-i' must be a boolean. The tool was not executed.",
            "Unknown parameter 'range.strat'. Did you mean 'range.start'? The tool was not executed.",
            "Parameter 'range.start' is required (integer). The tool was not executed.",
            "Parameter 'range.end' must be an integer from 0 to 4294967295. The tool was not executed.",
            "Parameter 'globs[1]' must be a string. The tool was not executed.",
            "Parameter 'globs[3]' must be a string. The tool was not executed.",
        ]
    );
}

#[test]
fn an_unknown_field_alone_is_a_violation() {
    assert_eq!(
        faults::<Input>(r#"{"file_path": "a", "filePath": "b"}"#),
        ["Unknown parameter 'filePath'. Did you mean 'file_path'? The tool was not executed."]
    );
    assert_eq!(
        faults::<Nothing>(r#"{"x": 1}"#),
        ["Unknown parameter 'x'. The tool was not executed."]
    );
    assert_eq!(bind::<Nothing>("{}"), Ok(Nothing {}));
}

#[test]
fn what_is_no_object_is_invalid_input() {
    for input in ["null", "[]", "\"a\"", "1"] {
        assert_eq!(
            faults::<Input>(input),
            ["The input must be an object. The tool was not executed."]
        );
    }
    assert_eq!(
        faults::<Input>(r#"{"file_path": "a", "range": 1}"#),
        ["Parameter 'range' must be an object. The tool was not executed."]
    );
}

#[test]
fn malformed_text_is_invalid_input() {
    let deep = format!("{}{}", r#"{"object":"#.repeat(10_000), "}".repeat(10_000));
    let long = "x".repeat(1 << 20);
    for input in [
        "",
        "{",
        "{\"file_path\": \"\\ud800\"}",
        "\0",
        "{} {}",
        &deep,
        &long,
    ] {
        let sentences = faults::<Input>(input);
        assert_eq!(sentences.len(), 1);
        assert!(
            sentences[0].starts_with("The input is not valid JSON: "),
            "{sentences:?}"
        );
        assert!(
            sentences[0].ends_with(". The tool was not executed."),
            "{sentences:?}"
        );
        assert!(sentences[0].len() < 200, "{sentences:?}");
    }
}
