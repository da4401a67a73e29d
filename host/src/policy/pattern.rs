//! A rule's pattern, compiled for the kinds of subject that its tool may yield.

use std::path::Path;

use super::{CommandPattern, Decision, PathPattern, Roots, ToolFacts, UrlPattern};
use crate::model::SubjectKind;

/// What patterns stand on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) roots: &'a Roots,
    pub(super) home: Option<&'a Path>,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Path(PathPattern),
    Command(CommandPattern),
    Url(UrlPattern),
}

impl Pattern {
    pub(super) fn kind(&self) -> SubjectKind {
        match self {
            Self::Path(_) => SubjectKind::Path,
            Self::Command(_) => SubjectKind::Command,
            Self::Url(_) => SubjectKind::Url,
        }
    }
}

/// The pattern in each kind that the tool's subjects may have. A tool that computes its subjects may yield any: then a
/// pattern is compiled for every kind whose grammar it fits, because its text cannot tell which is meant.
///
/// # Errors
/// What is wrong with the pattern, or that the tool has no subject at all.
pub(super) fn compile(
    text: &str,
    effect: Decision,
    tool: &ToolFacts,
    ground: Ground<'_>,
) -> Result<Vec<Pattern>, String> {
    if let Some(kind) = tool.subject {
        return Ok(vec![as_kind(kind, text, effect, ground)?]);
    }
    if !tool.computes_subjects {
        return Err(format!(
            "has a pattern, and {} has no permission subject",
            tool.name
        ));
    }
    let kinds = [SubjectKind::Path, SubjectKind::Command, SubjectKind::Url];
    let compiled: Vec<Pattern> = kinds
        .into_iter()
        .filter_map(|kind| as_kind(kind, text, effect, ground).ok())
        .collect();
    if compiled.is_empty() {
        return Err("is neither a path pattern nor a command nor a URL pattern".to_owned());
    }
    Ok(compiled)
}

fn as_kind(
    kind: SubjectKind,
    text: &str,
    effect: Decision,
    ground: Ground<'_>,
) -> Result<Pattern, String> {
    let wrong = |what: String| format!("does not hold: {what}");
    match kind {
        SubjectKind::Path => {
            // On some file systems two spellings are one file.
            let ignore_case = effect == Decision::Deny;
            PathPattern::compile(text, ground.roots.workspace(), ground.home, ignore_case)
                .map(Pattern::Path)
                .map_err(|error| wrong(error.to_string()))
        }
        SubjectKind::Command => CommandPattern::parse(text)
            .map(Pattern::Command)
            .map_err(|error| wrong(error.to_string())),
        SubjectKind::Url => UrlPattern::parse(text)
            .map(Pattern::Url)
            .map_err(|error| wrong(error.to_string())),
    }
}
