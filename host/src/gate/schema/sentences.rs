//! Findings as sentences: the same words for every tool, built-in, stranger's or wrapped.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enums of JSON and of the validator are not ours"
)]

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::view::SchemaView;
use crate::model::suggestion;

/// The end of every sentence, so that a model knows that nothing happened.
const NOT_EXECUTED: &str = "The tool was not executed.";

/// The longest enum value that is repeated, characters.
const MAX_VALUE: usize = 100;

/// The sentences of one finding.
pub(super) fn sentences(error: &ValidationError<'_>, input: &Value, schema: &Value) -> Vec<String> {
    let path = Path::of(error.instance_path().as_str(), input);
    let say = |what: String| vec![format!("{what} {NOT_EXECUTED}")];
    let named = path.name();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![missing(
                property.as_str().unwrap_or_default(),
                &path,
                schema,
            )]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unknown(unexpected, &path, schema)
        }
        ValidationErrorKind::Type { kind } => {
            let kinds: Vec<&str> = match kind {
                TypeKind::Single(kind) => vec![kind.as_str()],
                TypeKind::Multiple(kinds) => kinds.into_iter().map(|kind| kind.as_str()).collect(),
            };
            say(format!("{named} must be {}.", alternatives(&kinds)))
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options: Vec<String> = options.iter().map(plain).collect();
            let given = plain(error.instance());
            say(format!(
                "{named} must be one of [{}], but was '{given}'.",
                options.join(", ")
            ))
        }
        ValidationErrorKind::Constant { expected_value } => {
            say(format!("{named} must be '{}'.", plain(expected_value)))
        }
        ValidationErrorKind::Pattern { pattern } => {
            say(format!("{named} must match the pattern {pattern}."))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            branch_sentences(context, &named, input, schema)
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => say(format!(
            "{named} fits more than one of the shapes of which it must fit one."
        )),
        ValidationErrorKind::FalseSchema => say(format!("{named} must not be there.")),
        other => say(format!("{named} does not satisfy '{}'.", other.keyword())),
    }
}

fn missing(name: &str, path: &Path, schema: &Value) -> String {
    let property = path.view(schema).and_then(|view| view.property(name));
    let kind = property.and_then(|view| view.type_word());
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    format!(
        "Parameter '{}' is required{kind}. {NOT_EXECUTED}",
        path.child(name)
    )
}

fn unknown(names: &[String], path: &Path, schema: &Value) -> Vec<String> {
    let view = path.view(schema);
    let known: Vec<&str> = view.iter().flat_map(SchemaView::property_names).collect();
    let sentence = |name: &String| {
        let shown: String = name.chars().take(MAX_VALUE).collect();
        let suggestion = suggestion(name, known.iter().copied());
        format!(
            "Unknown parameter '{}'.{suggestion} {NOT_EXECUTED}",
            path.child(&shown)
        )
    };
    names.iter().map(sentence).collect()
}

/// Where every alternative fails: the types of all, if that is all that is wrong; else what the nearest one lacks.
fn branch_sentences(
    context: &[Vec<ValidationError<'static>>],
    named: &str,
    input: &Value,
    schema: &Value,
) -> Vec<String> {
    let only_types: Option<Vec<&str>> = context
        .iter()
        .map(|errors| match errors.as_slice() {
            [only] => match only.kind() {
                ValidationErrorKind::Type {
                    kind: TypeKind::Single(kind),
                } => Some(kind.as_str()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    if let Some(kinds) = only_types {
        return vec![format!(
            "{named} must be {}. {NOT_EXECUTED}",
            alternatives(&kinds)
        )];
    }
    let wrong_type = |errors: &&Vec<ValidationError<'static>>| {
        errors
            .iter()
            .any(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }))
    };
    let nearest = context
        .iter()
        .min_by_key(|errors| (wrong_type(errors), errors.len()));
    nearest
        .into_iter()
        .flatten()
        .flat_map(|error| sentences(error, input, schema))
        .collect()
}

fn alternatives(kinds: &[&str]) -> String {
    let with_article: Vec<String> = kinds.iter().map(|kind| article(kind)).collect();
    with_article.join(" or ")
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

/// A value as a person writes it: text without quotation marks, cut where it is long.
fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// A place in the input.
struct Path {
    segments: Vec<Segment>,
}

enum Segment {
    Name(String),
    Index(usize),
}

impl Path {
    /// From a JSON pointer into `input`; whether a number is an index or a name is read off the input.
    fn of(pointer: &str, input: &Value) -> Self {
        let mut segments = Vec::new();
        let mut here = Some(input);
        for text in pointer.split('/').skip(1) {
            let text = text.replace("~1", "/").replace("~0", "~");
            let segment = match (here, text.parse::<usize>()) {
                (Some(Value::Array(_)), Ok(index)) => Segment::Index(index),
                _ => Segment::Name(text),
            };
            here = here.and_then(|value| match &segment {
                Segment::Name(name) => value.get(name),
                Segment::Index(index) => value.get(index),
            });
            segments.push(segment);
        }
        Self { segments }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Name(name) if text.is_empty() => text.push_str(name),
                Segment::Name(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn name(&self) -> String {
        if self.segments.is_empty() {
            "The input".to_owned()
        } else {
            format!("Parameter '{}'", self.text())
        }
    }

    fn child(&self, name: &str) -> String {
        if self.segments.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.text())
        }
    }

    fn view<'s>(&self, schema: &'s Value) -> Option<SchemaView<'s>> {
        let mut view = SchemaView::root(schema);
        for segment in &self.segments {
            view = match segment {
                Segment::Name(name) => view.property(name)?,
                Segment::Index(_) => view.items()?,
            };
        }
        Some(view)
    }
}
