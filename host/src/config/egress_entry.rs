//! An entry of an allow list as it may be written: a text, or a table with methods and addresses.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::policy::{EgressAllow, EgressPattern, EgressPatternError};

/// See the module.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    url: String,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    addresses: Vec<String>,
}

#[derive(Debug)]
pub(super) struct EgressEntry(Table);

impl EgressEntry {
    /// What it opens.
    pub(super) fn read(self) -> Result<EgressAllow, EgressPatternError> {
        let Table {
            url,
            methods,
            addresses,
        } = self.0;
        if url == "public" && methods.is_empty() && addresses.is_empty() {
            return Ok(EgressAllow::Public);
        }
        let pattern = EgressPattern::parse(&url)?
            .with_methods(methods.iter().map(String::as_str))?
            .with_addresses(addresses.iter().map(String::as_str))?;
        Ok(EgressAllow::Pattern(pattern))
    }
}

impl<'de> Deserialize<'de> for EgressEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = EgressEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL pattern such as \"https://api.example.com/**\", \"public\", or a table with the key 'url'")
    }

    fn visit_str<E>(self, text: &str) -> Result<EgressEntry, E> {
        Ok(EgressEntry(Table {
            url: text.to_owned(),
            methods: Vec::new(),
            addresses: Vec::new(),
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EgressEntry, A::Error> {
        Table::deserialize(MapAccessDeserializer::new(map)).map(EgressEntry)
    }
}

impl JsonSchema for EgressEntry {
    fn schema_name() -> Cow<'static, str> {
        "EgressEntry".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let texts = |what: &str| {
            serde_json::json!({
                "description": what,
                "type": "array",
                "items": {"type": "string"},
            })
        };
        json_schema!({
            "description": "What is opened: a URL pattern, or `public`; as a table for some methods, or with addresses.",
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "url": {"description": "The URL pattern.", "type": "string"},
                        "methods": texts("Methods it is for, as in GET. Default: all."),
                        "addresses": texts("Addresses or ranges outside of the public Internet that its names may lead to."),
                    },
                    "required": ["url"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
