//! The verdict on a foreign tool: the server's annotations as far as they count, and above them what the operator says.

use crate::config::{McpServer, McpTool};
use crate::model::{AnnotationTrust, Annotations, Concurrency, Ground, SideEffect, Traits};

/// Resolves the traits of a tool.
pub(super) fn verdict(
    annotations: &Annotations,
    server: &McpServer,
    said: Option<&McpTool>,
) -> Traits {
    let mut traits = match server.annotation_trust {
        AnnotationTrust::Ignore | AnnotationTrust::Trust => {
            Traits::of_annotations(annotations, server.annotation_trust)
        }
        AnnotationTrust::Raise => raised(annotations, server.level),
    };
    if let Some(said) = said {
        overrule(&mut traits, said);
    }
    traits
}

/// The operator's level, unless the server says that its tool is worse.
fn raised(annotations: &Annotations, level: SideEffect) -> Traits {
    let worse =
        annotations.read_only_hint == Some(false) || annotations.destructive_hint == Some(true);
    let reads = level == SideEffect::ReadOnly && !worse;
    let taken = Annotations {
        read_only_hint: Some(reads),
        ..Annotations::default()
    };
    let mut traits = Traits::of_annotations(&taken, AnnotationTrust::Trust);
    if level == SideEffect::ReadOnly && worse {
        let what = "the operator takes the server's tools for read-only, and the server says that this one is not";
        traits.reductions.push(what.to_owned());
    }
    traits
}

fn overrule(traits: &mut Traits, said: &McpTool) {
    if let Some(level) = said.level {
        if traits.level == SideEffect::ReadOnly && level == SideEffect::Mutating {
            traits.destructive = true;
            traits.concurrency = Concurrency::Exclusive;
        }
        traits.level = level;
        traits.grounds.level = Ground::Trusted;
    }
    if let Some(destructive) = said.destructive {
        traits.destructive = destructive;
        traits.grounds.destructive = Ground::Trusted;
        if destructive {
            traits.level = SideEffect::Mutating;
            traits.concurrency = Concurrency::Exclusive;
        }
    }
    if traits.level == SideEffect::ReadOnly {
        traits.destructive = false;
        traits.grounds.destructive = traits.grounds.level;
        traits.concurrency = Concurrency::Shared;
        traits.grounds.concurrency = traits.grounds.level;
    }
    if let Some(idempotent) = said.idempotent {
        traits.idempotent = idempotent;
        traits.grounds.idempotent = Ground::Trusted;
    }
    if let Some(open_world) = said.open_world {
        traits.open_world = open_world;
        traits.grounds.open_world = Ground::Trusted;
    }
    // What the operator says is not believed less because the server says it too.
    let grounds = traits.grounds;
    let spoken = [
        (grounds.level, "readOnlyHint"),
        (grounds.destructive, "destructiveHint"),
        (grounds.idempotent, "idempotentHint"),
        (grounds.open_world, "openWorldHint"),
    ];
    traits.reductions.retain(|reduction| {
        !spoken
            .iter()
            .any(|(ground, hint)| *ground == Ground::Trusted && reduction.contains(hint))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerAlias;

    fn server(trust: AnnotationTrust, level: SideEffect) -> McpServer {
        let alias = ServerAlias::try_from("s").unwrap();
        let mut server = McpServer::command(alias, vec!["x".to_owned()]);
        server.annotation_trust = trust;
        server.level = level;
        server
    }

    fn hints(reads: Option<bool>, destroys: Option<bool>) -> Annotations {
        Annotations {
            read_only_hint: reads,
            destructive_hint: destroys,
            ..Annotations::default()
        }
    }

    #[test]
    fn annotations_that_raise_only_make_a_tool_worse() {
        use SideEffect::{Mutating, ReadOnly};
        for (level, annotations, is) in [
            (ReadOnly, hints(None, None), ReadOnly),
            (ReadOnly, hints(Some(true), None), ReadOnly),
            (ReadOnly, hints(Some(false), None), Mutating),
            (ReadOnly, hints(None, Some(true)), Mutating),
            (Mutating, hints(Some(true), Some(false)), Mutating),
        ] {
            let traits = verdict(&annotations, &server(AnnotationTrust::Raise, level), None);
            assert_eq!(traits.level, is, "{annotations:?}");
            assert_eq!(traits.destructive, is == Mutating, "{annotations:?}");
        }
    }

    #[test]
    fn the_operators_word_counts_for_more() {
        let flattering = hints(Some(true), Some(false));
        for trust in [AnnotationTrust::Ignore, AnnotationTrust::Trust] {
            let server = server(trust, SideEffect::Mutating);
            let said = McpTool {
                level: Some(SideEffect::Mutating),
                ..McpTool::default()
            };
            let traits = verdict(&flattering, &server, Some(&said));
            assert!(traits.level == SideEffect::Mutating && traits.destructive);
            let said = McpTool {
                level: Some(SideEffect::ReadOnly),
                idempotent: Some(true),
                open_world: Some(false),
                ..McpTool::default()
            };
            let traits = verdict(&hints(None, None), &server, Some(&said));
            assert!(traits.level == SideEffect::ReadOnly && !traits.destructive);
            assert!(traits.idempotent && !traits.open_world);
            assert_eq!(traits.concurrency, Concurrency::Shared);
            assert!(traits.reductions.is_empty(), "{:?}", traits.reductions);
            let said = McpTool {
                destructive: Some(true),
                ..McpTool::default()
            };
            let traits = verdict(&flattering, &server, Some(&said));
            assert!(traits.level == SideEffect::Mutating && traits.destructive);
        }
    }
}
