//! Rules: `Name` or `Name(pattern)`, parsed into what cannot be wrong.

use std::fmt;
use std::path::Path;

use super::Decision;
use crate::model::{NameError, RuleSource, ToolName};

/// The tools a rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamePattern {
    /// One tool, whole.
    Exact(ToolName),
    /// All tools whose name begins so: written with a trailing `*`.
    Prefix(String),
}

/// One rule, with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it says.
    pub effect: Decision,
    /// Of which tools.
    pub name: NamePattern,
    /// Of which calls; none: of all.
    pub pattern: Option<String>,
    /// What it is meant to say, checked before it is used.
    pub examples: Examples,
    /// Where it stands.
    pub source: RuleSource,
}

/// Subjects that show what a rule means. Those under the word of the rule's own effect must match its pattern, those under
/// another word must not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    /// Calls that are allowed.
    pub allows: Vec<String>,
    /// Calls that are asked for.
    pub asks: Vec<String>,
    /// Calls that are denied.
    pub denies: Vec<String>,
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The part before the parenthesis.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An opening parenthesis without a closing one at the end.
    #[error("the rule '{0}' has an opening parenthesis and does not end in a closing one")]
    Unclosed(String),
    /// `*` alone.
    #[error("the rule '{0}' names no tool: a '*' only stands behind the beginning of a name")]
    EveryTool(String),
    /// `Name()`.
    #[error("the rule '{0}' has an empty pattern: write the name alone for every call")]
    EmptyPattern(String),
}

impl Rule {
    /// Parses a rule. The pattern is everything between the first opening and the last closing parenthesis.
    ///
    /// # Errors
    /// [`RuleError`].
    pub fn parse(
        effect: Decision,
        text: &str,
        file: &Path,
        line: usize,
    ) -> Result<Self, RuleError> {
        let (name, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                None => return Err(RuleError::Unclosed(text.to_owned())),
                Some("") => return Err(RuleError::EmptyPattern(text.to_owned())),
                Some(pattern) => (name, Some(pattern.to_owned())),
            },
        };
        let name = match name.strip_suffix('*') {
            Some("") => return Err(RuleError::EveryTool(text.to_owned())),
            Some(prefix) => NamePattern::Prefix(ToolName::try_from(prefix)?.as_str().to_owned()),
            None => NamePattern::Exact(ToolName::try_from(name)?),
        };
        Ok(Self {
            effect,
            name,
            pattern,
            examples: Examples::default(),
            source: RuleSource {
                rule: text.to_owned(),
                effect: effect.as_str(),
                file: file.to_owned(),
                line,
            },
        })
    }
}

impl Examples {
    /// Each example, and whether the pattern of a rule with this effect must match it.
    pub fn expected(&self, effect: Decision) -> impl Iterator<Item = (&str, bool)> {
        [
            (&self.allows, Decision::Allow),
            (&self.asks, Decision::Ask),
            (&self.denies, Decision::Deny),
        ]
        .into_iter()
        .flat_map(move |(examples, of)| {
            examples
                .iter()
                .map(move |example| (example.as_str(), of == effect))
        })
    }
}

impl NamePattern {
    /// Whether the rule speaks of this tool.
    pub fn matches(&self, name: &ToolName) -> bool {
        match self {
            Self::Exact(exact) => exact == name,
            Self::Prefix(prefix) => name.as_str().starts_with(prefix.as_str()),
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => name.fmt(f),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Rule, RuleError> {
        Rule::parse(Decision::Allow, text, Path::new("toolgate.toml"), 3)
    }

    #[test]
    fn rules_are_parsed() {
        let rule = parse("Read(report(1).csv)").unwrap();
        assert_eq!(rule.pattern.as_deref(), Some("report(1).csv"));
        assert_eq!(
            rule.source.to_string(),
            "allow Read(report(1).csv) (toolgate.toml:3)"
        );
        assert_eq!(parse("Read").unwrap().pattern, None);
        assert!(matches!(
            parse("mcp__git__*").unwrap().name,
            NamePattern::Prefix(_)
        ));
    }

    #[test]
    fn malformed_rules_are_refused() {
        assert!(matches!(parse("Read("), Err(RuleError::Unclosed(_))));
        assert!(matches!(parse("Read(a) "), Err(RuleError::Unclosed(_))));
        assert!(matches!(parse("Read()"), Err(RuleError::EmptyPattern(_))));
        assert!(matches!(parse(""), Err(RuleError::Name(_))));
        assert!(matches!(parse("*"), Err(RuleError::EveryTool(_))));
        assert!(matches!(parse("Re ad"), Err(RuleError::Name(_))));
    }
}
