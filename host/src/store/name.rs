//! Names of installed tools: whose tool it is, and what a model calls it.
//!
//! A tool is `PUBLISHER/Tool`, and a model, a rule and a setting call it `PUBLISHER__Tool`. The publisher is the name that
//! the person gave to the key which signed the component; of one that no known key signed it is `local`, `oci`, or what
//! the person chose. So no component chooses the whole of its name, and none takes another's.

use std::fmt;

use crate::model::{NameError, ToolName, mixes_scripts};

/// What parts publisher and tool in a published name.
const BETWEEN: &str = "__";
/// The longest publisher, characters.
const MAX_PUBLISHER: usize = 20;
/// What is published from a file that no known key signed.
pub(super) const LOCAL: &str = "local";
/// What is published from a registry, signed by no known key.
pub(super) const OCI: &str = "oci";
/// Beginnings of names that mean something else.
const RESERVED: [&str; 5] = ["mcp", "functions", "toolgate", LOCAL, OCI];

/// A publisher: `^[a-z][a-z0-9-]{0,19}$`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Publisher(String);

/// Whose tool it is, and its own name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName {
    publisher: Publisher,
    tool: ToolName,
    published: ToolName,
}

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameRefusal {
    /// No publisher's name.
    #[error(
        "'{}' is not a publisher's name: it is a small letter, then at most 19 small letters, digits or '-'",
        .0.escape_debug()
    )]
    Publisher(String),
    /// A publisher's name that is taken by the host.
    #[error("the name '{0}' is not for publishers: choose another one")]
    Reserved(String),
    /// The tool's own name.
    #[error(transparent)]
    Tool(#[from] NameError),
    /// Letters of several scripts.
    #[error(
        "the name '{}' mixes letters of several scripts ({}), so that it may not be what it looks like",
        .0,
        .0.escape_unicode()
    )]
    Mixed(String),
    /// A publisher without a key.
    #[error("no key is known as '{0}': 'toolgate keys list' shows those that are")]
    NoKey(String),
    /// Both together are too long.
    #[error("the name '{0}' is longer than 64 characters: choose a shorter publisher with --as")]
    Long(String),
    /// Another tool has it.
    #[error(
        "'{new}' from {new_source} and the tool '{known}' ({known_source}) would have the same name: neither takes the other's place"
    )]
    Taken {
        /// The new one.
        new: String,
        /// Where it comes from.
        new_source: String,
        /// The one that is there.
        known: String,
        /// Where that comes from.
        known_source: String,
    },
    /// Another tool's name looks the same.
    #[error(
        "the name '{new}' looks like that of the tool '{known}' ({known_source}), and is another one: choose another publisher with --as"
    )]
    LooksLike {
        /// The new one.
        new: String,
        /// The one that is there.
        known: String,
        /// Where that comes from.
        known_source: String,
    },
}

impl Publisher {
    /// A publisher that a person names: for a key, or with `--as`.
    ///
    /// # Errors
    /// It is none, or reserved.
    pub fn chosen(text: &str) -> Result<Self, NameRefusal> {
        if mixes_scripts(text) {
            return Err(NameRefusal::Mixed(text.chars().take(64).collect()));
        }
        let publisher = Self::read(text)?;
        match RESERVED.contains(&text) {
            true => Err(NameRefusal::Reserved(text.to_owned())),
            false => Ok(publisher),
        }
    }

    /// The same with what the host itself gives.
    pub(super) fn read(text: &str) -> Result<Self, NameRefusal> {
        let starts = text.starts_with(|first: char| first.is_ascii_lowercase());
        let rest = text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if starts && rest && text.len() <= MAX_PUBLISHER {
            Ok(Self(text.to_owned()))
        } else {
            let shown = text.chars().take(2 * MAX_PUBLISHER).collect();
            Err(NameRefusal::Publisher(shown))
        }
    }

    /// Of a file that no known key signed.
    pub fn local() -> Self {
        Self(LOCAL.to_owned())
    }

    /// Of a registry's, signed by no known key.
    pub fn oci() -> Self {
        Self(OCI.to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl QualifiedName {
    /// The name of a publisher's tool.
    ///
    /// # Errors
    /// The published name would be none.
    pub fn new(publisher: Publisher, tool: ToolName) -> Result<Self, NameRefusal> {
        let text = format!("{publisher}{BETWEEN}{tool}");
        let published = ToolName::try_from(text.as_str()).map_err(|error| {
            tracing::debug!("no published name: {error}");
            NameRefusal::Long(text)
        })?;
        Ok(Self {
            publisher,
            tool,
            published,
        })
    }

    /// Reads `PUBLISHER/Tool`.
    ///
    /// # Errors
    /// It is none.
    pub fn read(text: &str) -> Result<Self, NameRefusal> {
        let (publisher, tool) = text
            .split_once('/')
            .ok_or_else(|| NameRefusal::Publisher(text.chars().take(64).collect()))?;
        Self::new(Publisher::read(publisher)?, ToolName::try_from(tool)?)
    }

    /// Whose tool it is.
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// What the tool calls itself.
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// What a model, a rule and a setting call it.
    pub fn published(&self) -> &ToolName {
        &self.published
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.publisher, self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_are_checked() {
        for good in ["acme", "a", "my-tools-2"] {
            assert_eq!(Publisher::chosen(good).unwrap().as_str(), good);
        }
        for bad in ["", "Acme", "9a", "a_b", "a/b", "a b", &"a".repeat(21)] {
            let refused = Publisher::chosen(bad);
            assert!(matches!(refused, Err(NameRefusal::Publisher(_))), "{bad}");
        }
        for reserved in RESERVED {
            let refused = Publisher::chosen(reserved);
            assert!(
                matches!(refused, Err(NameRefusal::Reserved(_))),
                "{reserved}"
            );
        }
        let mixed = Publisher::chosen("аcme").unwrap_err();
        assert!(matches!(mixed, NameRefusal::Mixed(_)));
        assert!(mixed.to_string().contains("\\u{430}"), "{mixed}");
    }

    #[test]
    fn a_published_name_is_a_tool_name() {
        let name = QualifiedName::read("acme/Resize").unwrap();
        assert_eq!(name.published().as_str(), "acme__Resize");
        assert_eq!(name.to_string(), "acme/Resize");
        for bad in ["Resize", "acme/", "acme/9", "acme/a/b", "Acme/Resize"] {
            assert!(QualifiedName::read(bad).is_err(), "{bad}");
        }
        let long = format!("acme/{}", "x".repeat(59));
        assert!(matches!(
            QualifiedName::read(&long),
            Err(NameRefusal::Long(_))
        ));
    }
}
