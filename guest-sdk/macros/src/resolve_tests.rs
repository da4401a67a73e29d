use syn::parse_quote;

use super::*;

fn errors(written: DeriveInput) -> Vec<String> {
    match resolve(written) {
        Ok(_) => Vec::new(),
        Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
    }
}

#[test]
fn a_field_is_resolved() {
    let input = resolve(parse_quote! {
        struct Input {
            /// Ignore
            /// case.
            #[input(name = "-i", default = false)]
            ignore_case: bool,
            /// Kind.
            r#type: Option<String>,
        }
    });
    let Ok(Input::Object { fields, .. }) = input else {
        panic!("a struct is an object")
    };
    assert_eq!(fields[0].wire_name, "-i");
    assert_eq!(fields[0].description, "Ignore case.");
    assert!(matches!(
        fields[0].default,
        Some(DefaultValue::Expression(_))
    ));
    assert_eq!(fields[1].wire_name, "type");
    assert!(fields[1].default.is_none());
}

#[test]
fn a_string_literal_is_a_text() {
    let input = resolve(parse_quote! {
        struct Input {
            /// Where.
            #[input(default = ".")]
            path: String,
        }
    });
    let Ok(Input::Object { fields, .. }) = input else {
        panic!("a struct is an object")
    };
    assert!(matches!(fields[0].default, Some(DefaultValue::Text(_))));
}

#[test]
fn variants_are_in_snake_case_unless_named() {
    let input = resolve(parse_quote! {
        enum Mode { FilesWithMatches, Utf8, #[input(name = "Count")] Number }
    });
    let Ok(Input::Choice { variants, .. }) = input else {
        panic!("an enum is a choice")
    };
    let names: Vec<_> = variants.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["files_with_matches", "utf8", "Count"]);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let errors = errors(parse_quote! {
        struct Input<T> {
            #[input(default = None)]
            a: Option<T>,
            /// B.
            #[input(name = "a")]
            b: u32,
            /// C.
            #[input(min = 1)]
            c: u32,
        }
    });
    assert_eq!(errors.len(), 5, "{errors:#?}");
    for (error, start) in errors.iter().zip([
        "an input is not generic",
        "a field needs",
        "an `Option`",
        "the wire name",
        "unknown key",
    ]) {
        assert!(error.starts_with(start), "{error}");
    }
}
