//! Every type there and back, and every violation by its sentence.

use serde_json::{Value, json};

use super::shape::{Outcome, Shape, Whole};
use super::{from, into, schema};

fn text() -> Box<Shape> {
    Box::new(Shape::Text)
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Every shape, each with values of it.
fn shapes() -> Vec<(Shape, Vec<Value>)> {
    let mut all = simple();
    all.extend(compounds());
    all
}

/// Shapes of one value, and lists.
fn simple() -> Vec<(Shape, Vec<Value>)> {
    let whole = Shape::Whole;
    vec![
        (Shape::Bool, vec![json!(true), json!(false)]),
        (whole(Whole::S8), vec![json!(-128), json!(127)]),
        (whole(Whole::U8), vec![json!(0), json!(255)]),
        (whole(Whole::S16), vec![json!(-32_768), json!(32_767)]),
        (whole(Whole::U16), vec![json!(65_535)]),
        (whole(Whole::S32), vec![json!(i32::MIN), json!(i32::MAX)]),
        (whole(Whole::U32), vec![json!(u32::MAX)]),
        (
            whole(Whole::S64),
            vec![
                json!(9_007_199_254_740_991_i64),
                json!("9007199254740992"),
                json!("-9223372036854775808"),
            ],
        ),
        (
            whole(Whole::U64),
            vec![json!(0), json!("18446744073709551615")],
        ),
        (Shape::Float32, vec![json!(0.5)]),
        (Shape::Float64, vec![json!(0.1), json!(-1e300)]),
        (Shape::Char, vec![json!("é"), json!("\u{1f980}")]),
        (Shape::Text, vec![json!(""), json!("a\u{0}b")]),
        (Shape::Bytes, vec![json!(""), json!("AAEC/w==")]),
        (Shape::List(text()), vec![json!([]), json!(["a", "b"])]),
        (Shape::Fixed(text(), 2), vec![json!(["a", "b"])]),
        (
            Shape::Map(text(), Box::new(Shape::Bool)),
            vec![json!({}), json!({"a": true, "b": false})],
        ),
        (
            Shape::Map(Box::new(whole(Whole::U8)), text()),
            vec![json!([]), json!([[1, "a"], [2, "b"]])],
        ),
    ]
}

/// Shapes that are made of others.
fn compounds() -> Vec<(Shape, Vec<Value>)> {
    vec![
        (
            Shape::Record(vec![
                ("a-b".to_owned(), Shape::Text),
                ("c".to_owned(), Shape::Option(text())),
            ]),
            vec![
                json!({"a-b": "x", "c": "y"}),
                json!({"a-b": "x", "c": null}),
            ],
        ),
        (
            Shape::Tuple(vec![Shape::Text, Shape::Bool]),
            vec![json!(["a", true])],
        ),
        (
            Shape::Variant(vec![
                ("none".to_owned(), None),
                ("some-text".to_owned(), Some(Shape::Text)),
            ]),
            vec![json!("none"), json!({"some-text": "x"})],
        ),
        (Shape::Enum(named(&["red", "green"])), vec![json!("red")]),
        (
            Shape::Flags(named(&["read", "write"])),
            vec![json!([]), json!(["read", "write"])],
        ),
        (Shape::Option(text()), vec![json!(null), json!("x")]),
        (
            Shape::Option(Box::new(Shape::Option(text()))),
            vec![json!(null), json!({"some": null}), json!({"some": "x"})],
        ),
        (
            Shape::Option(Box::new(Shape::Enum(named(&["red"])))),
            vec![json!(null), json!("red")],
        ),
        (
            Shape::Result(Outcome {
                ok: Some(text()),
                error: None,
            }),
            vec![json!({"ok": "x"}), json!("err")],
        ),
    ]
}

fn bind(shape: &Shape, value: &Value) -> Result<wasmtime::component::Val, Vec<String>> {
    let parameters = [("p".to_owned(), shape.clone())];
    let input = json!({ "p": value });
    let bound = into::arguments(&parameters, input.as_object().unwrap());
    bound.map(|mut vals| vals.pop().unwrap())
}

#[test]
fn every_value_comes_back_as_it_went() {
    for (shape, values) in shapes() {
        for value in values {
            let bound = bind(&shape, &value).unwrap();
            assert_eq!(from::json(&shape, &bound), value, "{shape}");
        }
    }
}

#[test]
fn the_schema_admits_what_binds_and_an_option_may_be_left_out() {
    for (shape, values) in shapes() {
        let parameters = [("p".to_owned(), shape.clone())];
        let schema = schema::object(&parameters);
        let schema = jsonschema::validator_for(&schema).unwrap();
        for value in values {
            assert!(schema.is_valid(&json!({ "p": value })), "{shape}: {value}");
        }
        assert_eq!(schema.is_valid(&json!({})), shape.is_optional(), "{shape}");
        let bound = into::arguments(&parameters, &serde_json::Map::new());
        assert_eq!(bound.is_ok(), shape.is_optional(), "{shape}");
        for strange in [
            json!({"p": [[[]]]}),
            json!({"p": {"q": {}}}),
            json!({"q": 1}),
        ] {
            assert!(!schema.is_valid(&strange), "{shape}: {strange}");
            let object = strange.as_object().unwrap();
            assert!(
                into::arguments(&parameters, object).is_err(),
                "{shape}: {strange}"
            );
        }
    }
}

#[test]
fn each_violation_has_its_sentence() {
    let tags = Shape::List(Box::new(Shape::Tuple(vec![
        Shape::Whole(Whole::S8),
        Shape::Enum(named(&["a", "b"])),
    ])));
    let size = Shape::Record(vec![("height".to_owned(), Shape::Float32)]);
    let job = Shape::Record(vec![("tags".to_owned(), tags), ("size".to_owned(), size)]);
    let parameters = [
        ("job".to_owned(), job),
        ("name".to_owned(), Shape::Text),
        ("data".to_owned(), Shape::Bytes),
        ("id".to_owned(), Shape::Whole(Whole::U64)),
        ("initial".to_owned(), Shape::Char),
    ];
    let input = json!({
        "job": {"tags": [[200, "c"], [1]], "size": {"hight": 1e300}},
        "data": "?", "id": "007", "initial": "ab",
    });
    let said = into::arguments(&parameters, input.as_object().unwrap()).unwrap_err();
    let expected = [
        "Parameter 'job.tags[0][0]' must be an integer from -128 to 127.",
        "Parameter 'job.tags[0][1]' must be one of [a, b], but was 'c'.",
        "Parameter 'job.tags[1]' must be an array of 2.",
        "Unknown parameter 'job.size.hight'. Did you mean 'height'?",
        "Parameter 'job.size.height' is required (number).",
        "Parameter 'name' is required (string).",
        "Parameter 'data' must be base64.",
        "Parameter 'id' must be an integer.",
        "Parameter 'initial' must be one character.",
    ];
    let expected = expected.map(|sentence| format!("{sentence} The tool was not executed."));
    assert_eq!(said, expected);
}

#[test]
fn violations_are_counted_out_and_what_is_hidden_is_shown() {
    let input: serde_json::Map<String, Value> = (0..10_000)
        .map(|number| (format!("\u{202e}{number}"), json!(1)))
        .collect();
    let said = into::arguments(&[], &input).unwrap_err();
    assert_eq!(said.len(), 50);
    assert!(said.iter().all(|sentence| !sentence.contains('\u{202e}')));
}

#[test]
fn numbers_are_never_rounded() {
    let u64s = Shape::Whole(Whole::U64);
    for wrong in [
        json!(1.5),
        json!(-1),
        json!("18446744073709551616"),
        json!("+1"),
        json!(" 1"),
        json!(1e30),
    ] {
        assert!(bind(&u64s, &wrong).is_err(), "{wrong}");
    }
    assert!(bind(&Shape::Float32, &json!(1e300)).is_err());
    assert!(bind(&Shape::Whole(Whole::U8), &json!("5")).is_err());
}
