//! The schema of an input: flat, closed, in declaration order, and of the same source as the binding.

use toolgate_guest::{ToolInput, Value};

#[derive(Debug, ToolInput)]
#[allow(dead_code, reason = "only its schema is of interest")]
struct Input {
    /// Path of a file.
    file_path: String,
    /// What to count,
    /// once.
    ///
    /// Or twice.
    #[input(default = Unit::NonEmptyLines)]
    unit: Unit,
    /// Stop here.
    #[input(name = "head-limit", default = 10_000)]
    limit: u32,
    /// Which lines.
    ranges: Option<Vec<Range>>,
    /// Where.
    #[input(default = ".")]
    path: String,
    /// How much.
    #[input(default = 0.5)]
    share: f64,
    /// Anything.
    value: Value,
}

#[derive(Debug, ToolInput)]
enum Unit {
    #[input(name = "W")]
    Words,
    NonEmptyLines,
}

#[derive(Debug, ToolInput)]
#[allow(dead_code, reason = "only its schema is of interest")]
struct Range {
    /// First line.
    start: i64,
    /// Last line.
    end: Option<i64>,
}

#[test]
fn the_schema_is_as_declared() {
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""file_path":{"type":"string","description":"Path of a file."},"#,
        r#""unit":{"type":"string","enum":["W","non_empty_lines"],"default":"non_empty_lines","#,
        r#""description":"What to count, once.\nOr twice."},"#,
        r#""head-limit":{"type":"integer","minimum":0,"default":10000,"description":"Stop here."},"#,
        r#""ranges":{"type":"array","items":{"type":"object","properties":{"#,
        r#""start":{"type":"integer","description":"First line."},"#,
        r#""end":{"type":"integer","description":"Last line."}},"#,
        r#""required":["start"],"additionalProperties":false},"description":"Which lines."},"#,
        r#""path":{"type":"string","default":".","description":"Where."},"#,
        r#""share":{"type":"number","default":0.5,"description":"How much."},"#,
        r#""value":{"description":"Anything."}},"#,
        r#""required":["file_path","value"],"additionalProperties":false}"#,
    );
    assert_eq!(Value::Object(Input::schema()).to_string(), expected);
}

#[test]
fn the_fields_are_the_properties() {
    let schema = Value::Object(Input::schema());
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Option<Vec<_>> =
        properties.map(|properties| properties.keys().map(String::as_str).collect());
    assert_eq!(names.as_deref(), Some(Input::FIELDS));
    assert_eq!(Unit::FIELDS, [""; 0]);
    assert!(matches!(Unit::Words, Unit::Words));
}
