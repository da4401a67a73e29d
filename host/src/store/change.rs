//! What a person is asked to consent to: what a tool asks for, and what is new about that.
//!
//! Everything here was chosen by whoever made the component. It is shown escaped, through the one function for that.

use super::declared::Declared;
use crate::model::Declaration;

/// What differs between what was consented to and what would be installed, one sentence each.
pub(super) fn differences(old: &Declaration, new: &Declaration) -> Vec<String> {
    let mut found = Vec::new();
    let (before, after) = (asks(old), asks(new));
    for asked in after.iter().filter(|asked| !before.contains(asked)) {
        found.push(format!("+ asks for {asked}"));
    }
    for asked in before.iter().filter(|asked| !after.contains(asked)) {
        found.push(format!("- no longer asks for {asked}"));
    }
    let (was, is) = (&old.claim, &new.claim);
    if was.level != is.level {
        found.push(format!(
            "~ level: {} -> {}",
            was.level.as_str(),
            is.level.as_str()
        ));
    }
    for (what, was, is) in [
        ("destructive", was.destructive, is.destructive),
        ("idempotent", was.idempotent, is.idempotent),
        ("open world", was.open_world, is.open_world),
        ("exclusive", was.exclusive, is.exclusive),
    ] {
        if was != is {
            let word = |is: bool| if is { "yes" } else { "no" };
            found.push(format!("~ {what}: {} -> {}", word(was), word(is)));
        }
    }
    if old.subject != new.subject {
        let subject = |of: &Declaration| match &of.subject {
            Some(subject) => format!("{} in '{}'", subject.kind, subject.field),
            None => "none".to_owned(),
        };
        found.push(format!("~ subject: {} -> {}", subject(old), subject(new)));
    }
    if old.description != new.description {
        found.push("~ the description that a model reads".to_owned());
    }
    if old.input_schema != new.input_schema {
        found.push("~ the input schema".to_owned());
    }
    if old.annotations != new.annotations {
        found.push("~ the annotations".to_owned());
    }
    found
}

/// What a tool asks for, in words; what it can do without is marked.
pub(super) fn asks(declaration: &Declaration) -> Vec<String> {
    let capabilities = declaration.capabilities.iter();
    capabilities
        .map(|asked| match asked.optional {
            true => format!("{} (optional)", asked.kind),
            false => asked.kind.to_string(),
        })
        .collect()
}

/// Whether the tool computes its subjects, where it did not before, or the other way round.
pub(super) fn computing(old: &Declared, new: &Declared) -> Option<String> {
    let word = |is: bool| {
        if is {
            "computed by the tool"
        } else {
            "not computed"
        }
    };
    (old.computes_subjects != new.computes_subjects).then(|| {
        format!(
            "~ subjects: {} -> {}",
            word(old.computes_subjects),
            word(new.computes_subjects)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DeclarationParts, SideEffect, SubjectField, SubjectKind};

    fn declaration(change: fn(&mut DeclarationParts)) -> Declaration {
        let mut parts = DeclarationParts {
            name: "Tool".to_owned(),
            description: "Does.".to_owned(),
            input_schema:
                r#"{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}"#
                    .to_owned(),
            output_schema: None,
            claim: crate::model::Claim {
                level: SideEffect::ReadOnly,
                destructive: false,
                idempotent: true,
                open_world: false,
                exclusive: false,
            },
            subject: None,
            capabilities: vec![("fs-read".into(), "subject".into(), "reads".into(), false)],
            annotations: Vec::new(),
        };
        change(&mut parts);
        Declaration::check(parts).unwrap()
    }

    #[test]
    fn every_change_that_matters_is_named() {
        let old = declaration(|_| {});
        assert!(differences(&old, &old).is_empty());
        let new = declaration(|parts| {
            parts.description = "Does more.".to_owned();
            parts.input_schema = parts.input_schema.replace("string", "array");
            parts.claim.level = SideEffect::Mutating;
            parts.claim.destructive = true;
            parts.claim.idempotent = false;
            parts.claim.open_world = true;
            parts.claim.exclusive = true;
            parts.subject = Some(SubjectField {
                kind: SubjectKind::Path,
                field: "p".to_owned(),
            });
            parts.capabilities = vec![
                (
                    "fs-write".into(),
                    "workspace".into(),
                    "writes".into(),
                    false,
                ),
                ("shell".into(), "run".into(), "runs".into(), true),
            ];
            parts.annotations = vec![("title".into(), "\"x\"".into())];
        });
        assert_eq!(
            differences(&old, &new),
            [
                "+ asks for fs-write:workspace",
                "+ asks for shell:run (optional)",
                "- no longer asks for fs-read:subject",
                "~ level: read-only -> mutating",
                "~ destructive: no -> yes",
                "~ idempotent: yes -> no",
                "~ open world: no -> yes",
                "~ exclusive: no -> yes",
                "~ subject: none -> path in 'p'",
                "~ the description that a model reads",
                "~ the input schema",
                "~ the annotations",
            ]
        );
    }
}
