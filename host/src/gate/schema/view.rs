//! A schema as a place to stand in: which type, which properties, which items, with local references followed.

use serde_json::Value;

/// How many references and `allOf` are followed at one place.
const MAX_HOPS: usize = 32;

/// A type that a conversion can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) enum Kind {
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    String,
}

/// The schemas that hold at one place of the input.
#[derive(Clone, Debug)]
pub(in crate::gate) struct SchemaView<'a> {
    root: &'a Value,
    schemas: Vec<&'a Value>,
}

impl<'a> SchemaView<'a> {
    pub(in crate::gate) fn root(schema: &'a Value) -> Self {
        Self::at(schema, schema)
    }

    fn at(root: &'a Value, schema: &'a Value) -> Self {
        let mut schemas: Vec<&'a Value> = vec![schema];
        let mut next = 0;
        while let Some(schema) = schemas.get(next).copied()
            && schemas.len() < MAX_HOPS
        {
            next += 1;
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| root.pointer(pointer));
            let all = schema.get("allOf").and_then(Value::as_array);
            for found in target.into_iter().chain(all.into_iter().flatten()) {
                if !schemas.iter().any(|known| std::ptr::eq(*known, found)) {
                    schemas.push(found);
                }
            }
        }
        Self { root, schemas }
    }

    /// The schema of a property, if it is declared or `additionalProperties` is a schema.
    pub(in crate::gate) fn property(&self, name: &str) -> Option<Self> {
        let declared = self.find(|schema| schema.get("properties")?.get(name));
        let other = || {
            self.find(|schema| {
                schema
                    .get("additionalProperties")
                    .filter(|other| other.is_object())
            })
        };
        declared
            .or_else(other)
            .map(|schema| Self::at(self.root, schema))
    }

    /// The schema of the items of an array.
    pub(in crate::gate) fn items(&self) -> Option<Self> {
        self.find(|schema| schema.get("items").filter(|items| items.is_object()))
            .map(|schema| Self::at(self.root, schema))
    }

    /// Names of the declared properties.
    pub(in crate::gate) fn property_names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.schemas
            .iter()
            .filter_map(|schema| schema.get("properties")?.as_object())
            .flat_map(|properties| properties.keys().map(String::as_str))
    }

    /// Whether null is a value here. What says nothing of types admits it.
    pub(in crate::gate) fn admits_null(&self) -> bool {
        self.schemas.iter().all(|schema| admits_null(schema))
    }

    /// The one type that is declared here beside null; none where several are, or none.
    pub(in crate::gate) fn single_kind(&self) -> Option<Kind> {
        let mut kinds = Vec::new();
        for schema in &self.schemas {
            collect_kinds(schema, &mut kinds);
        }
        kinds.dedup();
        match kinds.as_slice() {
            [Some(kind)] => Some(*kind),
            _ => None,
        }
    }

    /// The declared type as a word.
    pub(in crate::gate) fn type_word(&self) -> Option<&'a str> {
        self.find(|schema| schema.get("type"))
            .and_then(Value::as_str)
    }

    fn find(&self, part: impl Fn(&'a Value) -> Option<&'a Value>) -> Option<&'a Value> {
        self.schemas.iter().copied().find_map(part)
    }
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten()
}

fn admits_null(schema: &Value) -> bool {
    let by_type = match schema.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => true,
    };
    let by_enum = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(options)), _) => options.iter().any(Value::is_null),
        (_, Some(only)) => only.is_null(),
        _ => true,
    };
    let mut branches = branches(schema).peekable();
    let by_branch = branches.peek().is_none() || branches.any(admits_null);
    by_type && by_enum && by_branch
}

/// Adds the types that a schema declares; `None` for a type that is not known.
fn collect_kinds(schema: &Value, kinds: &mut Vec<Option<Kind>>) {
    let mut add = |name: &Value| {
        let kind = match name.as_str() {
            Some("null") => return,
            Some("integer") => Some(Kind::Integer),
            Some("number") => Some(Kind::Number),
            Some("boolean") => Some(Kind::Boolean),
            Some("array") => Some(Kind::Array),
            Some("object") => Some(Kind::Object),
            Some("string") => Some(Kind::String),
            _ => None,
        };
        kinds.push(kind);
    };
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().for_each(&mut add),
        Some(name) => add(name),
        None => {}
    }
    for branch in branches(schema) {
        collect_kinds(branch, kinds);
    }
}
