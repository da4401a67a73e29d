//! Annotations: what a foreign MCP server says of its tools.
//!
//! No sandbox shows any of it, so it counts only where the operator answers for the server.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Concurrency, Ground, Grounds, SideEffect, Traits, Trust, suggestion};

/// What an MCP server says of one of its tools, verbatim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing. Absent is no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May overwrite or delete. Absent is yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Twice is once. Absent is no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches what nobody here owns. Absent is yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// Whether the annotations of an MCP server count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AnnotationTrust {
    /// They count as nothing: its tools are mutating, destructive, not idempotent, exclusive and open-world.
    #[default]
    Ignore,
    /// They count against the tool: they may only make it worse than what the operator says.
    Raise,
    /// The operator answers for the server: its annotations are believed.
    Trust,
}

impl AnnotationTrust {
    const WORDS: [&'static str; 3] = ["ignore", "raise", "trust"];

    /// The word in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Raise => "raise",
            Self::Trust => "trust",
        }
    }
}

/// A text that is no annotation trust.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "annotation_trust is 'ignore', 'raise' or 'trust', not '{}'.{}",
    .0.escape_debug(),
    suggestion(.0, AnnotationTrust::WORDS)
)]
pub struct AnnotationTrustError(String);

impl FromStr for AnnotationTrust {
    type Err = AnnotationTrustError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "ignore" => Ok(Self::Ignore),
            "raise" => Ok(Self::Raise),
            "trust" => Ok(Self::Trust),
            _ => Err(AnnotationTrustError(text.to_owned())),
        }
    }
}

impl Traits {
    /// Resolves the annotations of an MCP server's tool. No sandbox shows any of them, so all hangs on the trust. There is
    /// no annotation for calls that may overlap: only those of a tool that is believed to read do.
    pub fn of_annotations(annotations: &Annotations, trust: AnnotationTrust) -> Self {
        let trust = match trust {
            AnnotationTrust::Ignore | AnnotationTrust::Raise => Trust::None,
            AnnotationTrust::Trust => Trust::Operator,
        };
        let mut reductions = Vec::new();
        let mut ground = |flatters: bool, hint: &str, instead: &str| match flatters {
            false => Ground::Admitted,
            true => {
                let ground = Ground::unproven(trust);
                if !ground.stands() {
                    reductions.push(format!(
                        "the server says {hint}, and its annotations are not trusted: treated as {instead}"
                    ));
                }
                ground
            }
        };
        let said = |hint: Option<bool>, word: bool| hint == Some(word);
        let reads = said(annotations.read_only_hint, true);
        let spares = said(annotations.destructive_hint, false);
        let level = ground(reads, "readOnlyHint: true", "mutating");
        let destructive = ground(spares, "destructiveHint: false", "destructive");
        let repeats = said(annotations.idempotent_hint, true);
        let idempotent = ground(repeats, "idempotentHint: true", "not idempotent");
        let closed = said(annotations.open_world_hint, false);
        let open_world = ground(closed, "openWorldHint: false", "open-world");
        let read_only = level == Ground::Trusted;
        Self {
            level: match read_only {
                true => SideEffect::ReadOnly,
                false => SideEffect::Mutating,
            },
            destructive: !read_only && destructive != Ground::Trusted,
            idempotent: idempotent == Ground::Trusted,
            open_world: open_world != Ground::Trusted,
            concurrency: match read_only {
                true => Concurrency::Shared,
                false => Concurrency::Exclusive,
            },
            create_only: false,
            grounds: Grounds {
                level,
                // Who reads only destroys nothing.
                destructive: if read_only { level } else { destructive },
                idempotent,
                open_world,
                concurrency: if read_only { level } else { Ground::Admitted },
            },
            reductions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Claim, Evidence};

    #[test]
    fn annotation_trust_is_one_of_three_words_and_ignores_unless_said() {
        assert_eq!(AnnotationTrust::default(), AnnotationTrust::Ignore);
        for word in AnnotationTrust::WORDS {
            let parsed: AnnotationTrust = word.parse().unwrap();
            assert_eq!(parsed.as_str(), word);
        }
        let refused = |text: &str| text.parse::<AnnotationTrust>().unwrap_err().to_string();
        assert_eq!(
            refused("trsut"),
            "annotation_trust is 'ignore', 'raise' or 'trust', not 'trsut'. Did you mean 'trust'?"
        );
        assert_eq!(
            refused("yes"),
            "annotation_trust is 'ignore', 'raise' or 'trust', not 'yes'."
        );
        assert!(refused("Trust").contains("Did you mean 'trust'?"));
    }

    #[test]
    fn annotations_keep_what_was_said_and_what_was_not() {
        let text = r#"{"title":"Look up","readOnlyHint":true,"openWorldHint":false}"#;
        let annotations: Annotations = serde_json::from_str(text).unwrap();
        assert_eq!(annotations.title.as_deref(), Some("Look up"));
        assert_eq!(annotations.read_only_hint, Some(true));
        assert_eq!(annotations.destructive_hint, None);
        assert_eq!(annotations.open_world_hint, Some(false));
        assert_eq!(serde_json::to_string(&annotations).unwrap(), text);
    }

    #[test]
    fn annotations_count_as_nothing_unless_the_server_is_trusted() {
        let flattering = Annotations {
            title: None,
            read_only_hint: Some(true),
            destructive_hint: Some(false),
            idempotent_hint: Some(true),
            open_world_hint: Some(false),
        };
        let ignored = Traits::of_annotations(&flattering, AnnotationTrust::default());
        assert_eq!(ignored.level, SideEffect::Mutating);
        assert_eq!(ignored.concurrency, Concurrency::Exclusive);
        assert!(ignored.destructive && !ignored.idempotent && ignored.open_world);
        assert_eq!(ignored.reductions.len(), 4, "{:?}", ignored.reductions);
        let believed = Traits::of_annotations(&flattering, AnnotationTrust::Trust);
        assert_eq!(believed.level, SideEffect::ReadOnly);
        assert!(!believed.destructive && believed.idempotent && !believed.open_world);
        assert_eq!(believed.grounds.level, Ground::Trusted);
        assert!(believed.reductions.is_empty());
    }

    #[test]
    fn annotations_that_are_absent_are_the_cautious_ones() {
        for trust in [AnnotationTrust::Ignore, AnnotationTrust::Trust] {
            let traits = Traits::of_annotations(&Annotations::default(), trust);
            let silent = Traits::resolve(&Claim::default(), &Evidence::default(), Trust::None);
            assert_eq!(traits, silent);
        }
        let maker = Annotations {
            destructive_hint: Some(false),
            ..Annotations::default()
        };
        let traits = Traits::of_annotations(&maker, AnnotationTrust::Trust);
        assert_eq!(traits.level, SideEffect::Mutating);
        assert!(!traits.destructive && traits.open_world);
        assert_eq!(traits.grounds.destructive, Ground::Trusted);
    }
}
