//! What components say of themselves.

use serde_json::{Value, json};

use crate::gate::{InputSchema, parse_object};
use crate::model::{
    Claim, Declaration, DeclarationParts, SideEffect, SubjectField, SubjectKind, Traits, Trust,
};

/// A declaration, a part a line: name, description, subject field, kind and target of a capability, its reason, an
/// annotation, an input; the rest is the input schema. One that passes is one that the registry and gate 5 can work with,
/// and a claim to be read-only stands only beside capabilities that read.
pub fn declaration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = text.splitn(9, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    let parts = DeclarationParts {
        name: next(),
        description: next(),
        subject: match next().as_str() {
            "" => None,
            field => Some(SubjectField {
                kind: SubjectKind::Path,
                field: field.to_owned(),
            }),
        },
        capabilities: vec![(next(), next(), next(), false)],
        annotations: vec![("raw-input".to_owned(), next())],
        output_schema: None,
        claim: Claim {
            level: SideEffect::ReadOnly,
            destructive: true,
            idempotent: true,
            open_world: false,
            exclusive: false,
        },
        input_schema: String::new(),
    };
    let input = next();
    let input_schema = next();
    judge_schema(&input_schema, &input);
    let Ok(declaration) = Declaration::check(DeclarationParts {
        input_schema,
        ..parts
    }) else {
        return;
    };
    let evidence = declaration.evidence();
    let traits = Traits::resolve(&declaration.claim, &evidence, Trust::None);
    if traits.level == SideEffect::ReadOnly {
        assert!(!traits.destructive, "read-only and destructive");
        assert!(!evidence.writes_files && !evidence.shell && !evidence.store);
    }
    assert!(serde_json::to_value(&declaration).is_ok());
}

/// Whatever a foreign server or component calls a schema: it is refused, or it judges every input.
fn judge_schema(schema: &str, input: &str) {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let Ok(compiled) = InputSchema::compile(&schema) else {
        return;
    };
    let given = parse_object(input.as_bytes()).map_or(json!({}), Value::Object);
    for input in [given, json!({})] {
        for sentence in compiled.violations(&input) {
            assert!(!sentence.is_empty());
        }
    }
}
