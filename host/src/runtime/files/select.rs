//! Which entries a walk gives.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::types::{Types, TypesBuilder};

use super::error::{Code, FileError};

/// The most globs and types of one selection.
const MAX_PARTS: usize = 100;
/// The longest glob, bytes.
const MAX_GLOB: usize = 1_024;

/// As the guest asks; see `selection` in `wit/deps/files/files.wit`.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Globs of which one must match.
    pub include: Vec<String>,
    /// Globs of which none may match.
    pub exclude: Vec<String>,
    /// Names of file types.
    pub types: Vec<String>,
    /// Follow ignore files and leave out hidden files.
    pub respect_ignore: bool,
    /// Give directories too.
    pub directories: bool,
    /// Levels below the start; 0: all.
    pub max_depth: u32,
}

/// The same, compiled.
#[derive(Debug)]
pub(super) struct Select {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
    types: Option<Types>,
}

impl Select {
    pub(super) fn compile(selection: &Selection) -> Result<Self, FileError> {
        let parts = selection.include.len() + selection.exclude.len() + selection.types.len();
        if parts > MAX_PARTS {
            return Err(FileError::new(
                Code::Invalid,
                format!("more than {MAX_PARTS} globs and types."),
            ));
        }
        Ok(Self {
            include: globs(&selection.include)?,
            exclude: globs(&selection.exclude)?,
            types: types(&selection.types)?,
        })
    }

    /// Whether a path relative to the start is wanted.
    pub(super) fn wants(&self, relative: &str, is_dir: bool) -> bool {
        self.include
            .as_ref()
            .is_none_or(|globs| globs.is_match(relative))
            && (is_dir
                || self
                    .types
                    .as_ref()
                    .is_none_or(|types| types.matched(relative, false).is_whitelist()))
    }

    /// Whether it, and all below it, is left out.
    pub(super) fn excludes(&self, relative: &str) -> bool {
        self.exclude
            .as_ref()
            .is_some_and(|globs| globs.is_match(relative))
    }
}

fn globs(texts: &[String]) -> Result<Option<GlobSet>, FileError> {
    if texts.is_empty() {
        return Ok(None);
    }
    let invalid = |text: &str, what: String| {
        FileError::new(Code::Invalid, format!("the glob '{text}': {what}."))
    };
    let mut set = GlobSetBuilder::new();
    for text in texts {
        if text.len() > MAX_GLOB {
            return Err(invalid("…", format!("longer than {MAX_GLOB} bytes")));
        }
        let below = text.strip_prefix("./").unwrap_or(text);
        let anywhere = if below.contains('/') {
            below.to_owned()
        } else {
            format!("**/{below}")
        };
        let glob = GlobBuilder::new(&anywhere)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| invalid(text, error.kind().to_string()))?;
        set.add(glob);
    }
    set.build().map(Some).map_err(|error| {
        invalid(
            error.glob().unwrap_or("(together)"),
            error.kind().to_string(),
        )
    })
}

fn types(names: &[String]) -> Result<Option<Types>, FileError> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known: Vec<String> = builder
        .definitions()
        .iter()
        .map(|known| known.name().to_owned())
        .collect();
    for name in names {
        if !known.contains(name) {
            let near = crate::model::suggestion(name, known.iter().map(String::as_str));
            return Err(FileError::new(
                Code::Invalid,
                format!("'{name}' is not a file type.{near}"),
            ));
        }
        builder.select(name);
    }
    builder
        .build()
        .map(Some)
        .map_err(|error| FileError::new(Code::Invalid, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(include: &[&str], path: &str) -> bool {
        let selection = Selection {
            include: include.iter().map(|glob| (*glob).to_owned()).collect(),
            ..Selection::default()
        };
        Select::compile(&selection).unwrap().wants(path, false)
    }

    #[test]
    fn globs_are_relative_and_bare_ones_match_at_any_depth() {
        assert!(wants(&["*.nix"], "modules/common/zsh.nix"));
        assert!(wants(&["modules/**/*.nix"], "modules/common/zsh.nix"));
        assert!(wants(&["**/*.{nix,toml}"], "modules/common/zsh.nix"));
        assert!(wants(&["./modules/common/*.nix"], "modules/common/zsh.nix"));
        assert!(!wants(&["modules/*.nix"], "modules/common/zsh.nix"));
        assert!(wants(&[], "anything"));
    }

    #[test]
    fn bad_globs_and_types_are_named() {
        let error = |include: &str, kind: &str| {
            let list = |text: &str| {
                if text.is_empty() {
                    vec![]
                } else {
                    vec![text.to_owned()]
                }
            };
            let selection = Selection {
                include: list(include),
                types: list(kind),
                ..Selection::default()
            };
            Select::compile(&selection).unwrap_err().message
        };
        assert!(error("a[", "").starts_with("the glob 'a['"));
        assert_eq!(
            error("", "rus"),
            "'rus' is not a file type. Did you mean 'rust'?"
        );
    }
}
