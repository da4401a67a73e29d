//! What a server says of a tool, read leniently and kept strictly: one bad tool costs itself, never the list.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::name::published;
use super::schema::{self, Cleaned};
use crate::model::{Annotations, ServerAlias, ToolName, hex, hides, strip, visible};

/// The longest description, characters.
const MAX_DESCRIPTION: usize = 2_048;
/// The longest title, characters.
const MAX_TITLE: usize = 128;
/// The most characters of a server's own name that are kept.
const MAX_RAW_NAME: usize = 256;
/// What of a definition is pinned. The rest changes nothing that a person or a model is told.
const PINNED: [&str; 6] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
];

/// A tool that can be offered.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// The server's own name.
    pub(super) raw: String,
    /// The published one.
    pub(super) name: ToolName,
    /// A name for people.
    pub(super) title: Option<String>,
    /// For the model.
    pub(super) description: String,
    /// Its schemas.
    pub(super) schema: Cleaned,
    /// What the server claims.
    pub(super) annotations: Annotations,
    /// What was changed of the definition, one phrase each.
    pub(super) altered: Vec<String>,
    /// What is pinned, in canonical form.
    pub(super) pinned: Value,
    /// SHA-256 of that.
    pub(super) digest: String,
}

/// A tool that cannot.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Quarantined {
    /// The server's own name, as far as it has one.
    pub tool: String,
    /// Why.
    pub why: String,
    /// Its definition is another one than the one that was accepted: accepting it would offer it.
    pub changed: bool,
}

impl Quarantined {
    pub(super) fn new(tool: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            why: why.into(),
            changed: false,
        }
    }
}

/// Reads a whole list. Of names that would be published alike, none is offered.
pub(super) fn read_all(alias: &ServerAlias, list: &[Value]) -> (Vec<Definition>, Vec<Quarantined>) {
    let mut quarantined = Vec::new();
    let mut definitions: Vec<Definition> = Vec::new();
    for (index, raw) in list.iter().enumerate() {
        match read(alias, index, raw) {
            Ok(definition) => definitions.push(definition),
            Err(why) => quarantined.push(why),
        }
    }
    let mut names: Vec<String> = definitions
        .iter()
        .map(|one| one.name.as_str().to_ascii_lowercase())
        .collect();
    names.sort();
    let alike = |definition: &Definition| {
        let name = definition.name.as_str().to_ascii_lowercase();
        let first = names.partition_point(|known| *known < name);
        names.get(first + 1) == Some(&name)
    };
    let (twice, once): (Vec<_>, Vec<_>) = definitions.into_iter().partition(alike);
    quarantined.extend(twice.into_iter().map(|one| {
        let why = format!(
            "the server offers several tools that would all be called '{}'",
            one.name
        );
        Quarantined::new(one.raw, why)
    }));
    (once, quarantined)
}

fn read(alias: &ServerAlias, index: usize, raw: &Value) -> Result<Definition, Quarantined> {
    let nameless = |why: &str| Quarantined::new(format!("number {}", index + 1), why);
    let Some(said) = raw.as_object() else {
        return Err(nameless("its definition is no object"));
    };
    let Some(name) = said.get("name").and_then(Value::as_str) else {
        return Err(nameless("its name is no text"));
    };
    let shown: String = visible(&name.chars().take(MAX_RAW_NAME).collect::<String>()).into_owned();
    let Some(published) = published(alias, name) else {
        return Err(nameless("its name is empty"));
    };
    let schema = schema::clean(said.get("inputSchema"));
    let schema = schema.map_err(|why| Quarantined::new(shown.clone(), why))?;
    let mut altered = schema.altered.clone();
    let description = description(alias, said.get("description"), &mut altered);
    let pinned = pinned(said);
    let digest = hex(&Sha256::digest(pinned.to_string().as_bytes()));
    Ok(Definition {
        raw: name.to_owned(),
        name: published,
        title: title(said.get("title"), &mut altered),
        description,
        schema,
        annotations: annotations(said.get("annotations"), &mut altered),
        altered,
        pinned,
        digest,
    })
}

/// A text without what a reader does not see, cut at so many characters.
fn cleaned(text: &str, most: usize, what: &str, altered: &mut Vec<String>) -> String {
    // What is stripped may be long; what is left of eight times as much is enough, or the text is nothing but tricks.
    let beginning: String = text.chars().take(8 * most).collect();
    if hides(&beginning) {
        altered.push(format!("hidden characters of the {what} were left out"));
    }
    let plain = strip(&beginning);
    let plain = plain.trim();
    if text.len() > beginning.len() || plain.chars().count() > most {
        altered.push(format!("the {what} was cut at {most} characters"));
    }
    plain.chars().take(most).collect()
}

fn description(alias: &ServerAlias, said: Option<&Value>, altered: &mut Vec<String>) -> String {
    let said = said.and_then(Value::as_str).unwrap_or_default();
    let plain = cleaned(said, MAX_DESCRIPTION, "description", altered);
    match plain.is_empty() {
        true => format!("A tool of the server '{alias}', which does not describe it."),
        false => plain,
    }
}

fn title(said: Option<&Value>, altered: &mut Vec<String>) -> Option<String> {
    let plain = cleaned(said?.as_str()?, MAX_TITLE, "title", altered).replace('\n', " ");
    (!plain.is_empty()).then_some(plain)
}

/// The hints that are what they should be. One of another kind counts as not given.
fn annotations(said: Option<&Value>, altered: &mut Vec<String>) -> Annotations {
    let Some(Value::Object(said)) = said else {
        return Annotations::default();
    };
    let mut hint = |name: &str| match said.get(name) {
        Some(Value::Bool(hint)) => Some(*hint),
        None | Some(Value::Null) => None,
        Some(_) => {
            altered.push(format!(
                "the annotation '{name}' is neither true nor false, and counts as not given"
            ));
            None
        }
    };
    Annotations {
        title: None,
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}

fn pinned(said: &Map<String, Value>) -> Value {
    let pinned = PINNED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), said.get(*name)?.clone())));
    canonical(&Value::Object(pinned.collect()))
}

/// The same value with all names in order, so that equal values are equal texts.
pub(super) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let mut names: Vec<&String> = entries.keys().collect();
            names.sort();
            let sorted = names
                .into_iter()
                .filter_map(|name| Some((name.clone(), canonical(entries.get(name)?))));
            Value::Object(sorted.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all(list: Value) -> (Vec<Definition>, Vec<Quarantined>) {
        let alias = ServerAlias::try_from("s").unwrap();
        read_all(&alias, list.as_array().unwrap())
    }

    fn tool(name: &str) -> Value {
        json!({"name": name, "description": "Does.", "inputSchema": {"type": "object"}})
    }

    #[test]
    fn one_bad_tool_costs_itself() {
        let (good, bad) = all(json!([
            tool("good"), 5, {"inputSchema": {"type": "object"}}, {"name": 5, "inputSchema": {"type": "object"}},
            tool(""), {"name": "bare"}, tool("twice"), tool("twice"), tool("Alike"), tool("alike"), tool("a b"), tool("a.b"),
        ]));
        assert_eq!(good.len(), 1);
        assert_eq!(good[0].name.as_str(), "s__good");
        let shown: Vec<_> = bad
            .iter()
            .map(|one| format!("{}: {}", one.tool, one.why))
            .collect();
        assert_eq!(
            shown,
            [
                "number 2: its definition is no object",
                "number 3: its name is no text",
                "number 4: its name is no text",
                "number 5: its name is empty",
                "bare: its input schema is missing",
                "twice: the server offers several tools that would all be called 's__twice'",
                "twice: the server offers several tools that would all be called 's__twice'",
                "Alike: the server offers several tools that would all be called 's__Alike'",
                "alike: the server offers several tools that would all be called 's__alike'",
                "a b: the server offers several tools that would all be called 's__a_b'",
                "a.b: the server offers several tools that would all be called 's__a_b'",
            ]
        );
    }

    #[test]
    fn texts_are_cut_and_cleaned_and_it_is_said() {
        let mut odd = tool("odd");
        odd["description"] = json!(format!("\u{1b}[31mred\u{e0041}{}", "x".repeat(5_000_000)));
        odd["title"] = Value::Null;
        odd["annotations"] = json!({"readOnlyHint": "yes", "openWorldHint": false});
        let (good, bad) = all(
            json!([odd, {"name": "silent", "description": null, "inputSchema": {"type": "object"}}]),
        );
        assert!(bad.is_empty(), "{bad:?}");
        assert_eq!(good[0].description.chars().count(), MAX_DESCRIPTION);
        assert!(good[0].description.starts_with("[31mredxx"));
        assert_eq!(good[0].altered.len(), 3, "{:?}", good[0].altered);
        assert_eq!(good[0].annotations.read_only_hint, None);
        assert_eq!(good[0].annotations.open_world_hint, Some(false));
        assert!(good[1].description.contains("does not describe it"));
    }

    #[test]
    fn the_pin_is_of_what_is_told_in_canonical_form() {
        let digest = |tool: &Value| all(json!([tool])).0[0].digest.clone();
        let plain = tool("t");
        let turned: Value = serde_json::from_str(
            r#"{"inputSchema":{"type":"object"},"_meta":{"x":1},"icons":[],"description":"Does.","name":"t"}"#,
        )
        .unwrap();
        assert_eq!(digest(&plain), digest(&turned));
        for (key, value) in [
            ("description", json!("Does more.")),
            ("inputSchema", json!({"type": "object", "properties": {}})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
            ("title", json!("T")),
        ] {
            let mut changed = plain.clone();
            changed[key] = value;
            assert_ne!(digest(&plain), digest(&changed), "{key}");
        }
    }
}
