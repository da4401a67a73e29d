//! What the host calls: parse, bind, run, render. Every [`Tool`] gets it, and none can replace it. It is also the only
//! place that turns a tool's words into the contract's; a hook's are turned in `hook_exports`.

use serde_json::Value;

use crate::bindings::exports::toolgate::tool::tool::Guest as ToolGuest;
use crate::bindings::toolgate::tool::types as wit;
use crate::subjects_bindings::exports::toolgate::tool::subjects;
use crate::{
    Blob, Capability, Content, Context, Declaration, JsonType, Link, Output, SideEffect,
    SubjectKind, Subjects, Tool, ToolError, ToolInput, bind,
};

impl<T: Tool> ToolGuest for T {
    fn describe() -> wit::Declaration {
        T::DECLARATION.with_input_schema(Value::Object(T::Input::schema()).to_string())
    }

    fn call(input: String) -> Result<wit::Output, wit::ToolError> {
        let input = bind(&input)?;
        Ok(T::run(input, &Context::hosted())?.into())
    }
}

impl<T: Subjects> subjects::Guest for T {
    fn subjects(input: String) -> Result<Vec<subjects::ResolvedSubject>, String> {
        let input = bind(&input).map_err(|error: ToolError| error.to_string())?;
        let resolved = T::subjects(input)?
            .into_iter()
            .map(|subject| subjects::ResolvedSubject {
                kind: subject.kind.into(),
                value: subject.value,
            });
        Ok(resolved.collect())
    }
}

/// Makes a tool that contradicts itself a compile error, where it is evaluated in a constant.
pub const fn check<T: Tool>() {
    let declaration = T::DECLARATION;
    assert!(
        matches!(T::Input::TYPE, JsonType::Object),
        "the input of a tool is a struct"
    );
    assert!(
        declaration.subject_is_field::<T::Input>(),
        "the subject names a field that the input does not have"
    );
    assert!(
        !declaration.lacks_subject(),
        "a capability is for the subject, and no subject is declared"
    );
}

impl Declaration {
    fn with_input_schema(self, input_schema: String) -> wit::Declaration {
        let mut annotations: Vec<_> = self
            .annotations
            .into_iter()
            .flatten()
            .map(|(key, json)| (key.to_owned(), json.to_owned()))
            .collect();
        if self.raw_input {
            annotations.push(("raw-input".to_owned(), "true".to_owned()));
        }
        wit::Declaration {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            input_schema,
            output_schema: self.output_schema.map(str::to_owned),
            side_effect: self.side_effect.into(),
            destructive: self.destructive,
            idempotent: self.idempotent,
            open_world: self.open_world,
            exclusive: self.exclusive,
            subject: self.subject.map(|(kind, field)| wit::Subject {
                kind: kind.into(),
                field: field.to_owned(),
            }),
            capabilities: self
                .capabilities
                .into_iter()
                .flatten()
                .map(Into::into)
                .collect(),
            annotations,
        }
    }
}

impl From<SideEffect> for wit::SideEffect {
    fn from(side_effect: SideEffect) -> Self {
        match side_effect {
            SideEffect::ReadOnly => Self::ReadOnly,
            SideEffect::Mutating => Self::Mutating,
        }
    }
}

impl From<SubjectKind> for wit::SubjectKind {
    fn from(kind: SubjectKind) -> Self {
        match kind {
            SubjectKind::Command => Self::Command,
            SubjectKind::Path => Self::Path,
            SubjectKind::Url => Self::Url,
        }
    }
}

impl From<Capability> for wit::Capability {
    fn from(capability: Capability) -> Self {
        Self {
            kind: capability.kind().to_owned(),
            target: capability.target().to_owned(),
            reason: capability.reason().to_owned(),
            optional: capability.is_optional(),
        }
    }
}

impl From<Output> for wit::Output {
    fn from(output: Output) -> Self {
        let (content, structured) = output.into_parts();
        Self {
            content: content.into_iter().map(Into::into).collect(),
            structured: structured.map(|value| value.to_string()),
        }
    }
}

impl From<Content> for wit::Content {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(text),
            Content::Blob(Blob { mime, uri, data }) => Self::Blob(wit::Blob { mime, uri, data }),
            Content::Link(Link { uri, name, mime }) => Self::Link(wit::Link { uri, name, mime }),
        }
    }
}

impl From<ToolError> for wit::ToolError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::InvalidInput(sentences) => Self::InvalidInput(sentences),
            ToolError::Denied(message) => Self::Denied(message),
            ToolError::NotFound(message) => Self::NotFound(message),
            ToolError::Cancelled => Self::Cancelled,
            ToolError::Failed(message) => Self::Failed(message),
            ToolError::Other { kind, message } => Self::Other((kind, message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResolvedSubject;

    #[derive(Debug, ToolInput)]
    struct Input {
        /// Where to copy from.
        from: String,
        /// Where to copy to.
        to: String,
    }

    struct Copy;

    impl Tool for Copy {
        const DECLARATION: Declaration = Declaration::mutating("Copy", "Copies.")
            .destructive()
            .exclusive()
            .raw_input()
            .output_schema("{}")
            .annotation("icon", "\"copy\"")
            .subject(SubjectKind::Path, "to")
            .capability(Capability::new("fs-write", "subject", "writes the copy"))
            .capability(Capability::new("net", "https://example.com", "asks").optional());
        type Input = Input;

        fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
            if input.from == input.to {
                return Err(ToolError::Other {
                    kind: "same".to_owned(),
                    message: "Same file.".to_owned(),
                });
            }
            Ok(Output::json(Value::from(input.to)))
        }
    }

    impl Subjects for Copy {
        fn subjects(input: Input) -> Result<Vec<ResolvedSubject>, String> {
            let path = |value| ResolvedSubject {
                kind: SubjectKind::Path,
                value,
            };
            Ok(vec![path(input.from), path(input.to)])
        }
    }

    crate::export_with_subjects!(Copy);

    fn call(input: &str) -> Result<wit::Output, wit::ToolError> {
        <Copy as ToolGuest>::call(input.to_owned())
    }

    #[test]
    fn the_declaration_is_told_whole() {
        let told = <Copy as ToolGuest>::describe();
        assert_eq!(
            (told.name.as_str(), told.description.as_str()),
            ("Copy", "Copies.")
        );
        assert_eq!(
            told.input_schema,
            Value::Object(Input::schema()).to_string()
        );
        assert_eq!(told.output_schema.as_deref(), Some("{}"));
        assert!(matches!(told.side_effect, wit::SideEffect::Mutating));
        assert!(told.destructive && told.exclusive && !told.idempotent && !told.open_world);
        assert!(
            told.subject
                .is_some_and(|it| it.field == "to" && matches!(it.kind, wit::SubjectKind::Path))
        );
        let capabilities: Vec<_> = told
            .capabilities
            .iter()
            .map(|it| (it.kind.as_str(), it.optional))
            .collect();
        assert_eq!(capabilities, [("fs-write", false), ("net", true)]);
        let annotation = |key: &str, json: &str| (key.to_owned(), json.to_owned());
        assert_eq!(
            told.annotations,
            [
                annotation("icon", "\"copy\""),
                annotation("raw-input", "true")
            ]
        );
    }

    #[test]
    fn a_call_binds_runs_and_renders() {
        let output = call(r#"{"from": "a", "to": "b"}"#).unwrap();
        assert_eq!(output.structured.as_deref(), Some("\"b\""));
        assert!(matches!(output.content.as_slice(), [wit::Content::Text(text)] if text == "\"b\""));
    }

    #[test]
    fn a_call_that_does_not_fit_does_not_run() {
        let refused = call(r#"{"from": "a"}"#).unwrap_err();
        let wit::ToolError::InvalidInput(sentences) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(
            sentences,
            ["Parameter 'to' is required (string). The tool was not executed."]
        );
        assert!(matches!(call("{"), Err(wit::ToolError::InvalidInput(_))));
    }

    #[test]
    fn an_error_keeps_its_kind() {
        let error = call(r#"{"from": "a", "to": "a"}"#).unwrap_err();
        assert!(matches!(error, wit::ToolError::Other((kind, _)) if kind == "same"));
    }

    #[test]
    fn subjects_come_from_the_bound_input() {
        let ask = |input: &str| <Copy as subjects::Guest>::subjects(input.to_owned());
        let values: Vec<_> = ask(r#"{"from": "a", "to": "b"}"#)
            .unwrap()
            .into_iter()
            .map(|subject| subject.value)
            .collect();
        assert_eq!(values, ["a", "b"]);
        assert_eq!(
            ask("[]").unwrap_err(),
            "The input must be an object. The tool was not executed."
        );
    }

    #[test]
    fn a_subject_names_a_field_by_its_wire_name() {
        assert!(Copy::DECLARATION.subject_is_field::<Input>());
        let other = Declaration::read_only("A", "b").subject(SubjectKind::Path, "t");
        assert!(!other.subject_is_field::<Input>());
    }
}
