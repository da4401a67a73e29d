//! Where a setting comes from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::ConfigError;

/// Who set something. The order is the precedence: of a single setting, the greater layer's value is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The program that embeds the library.
    Library,
    /// The person's own file, for every workspace.
    User,
    /// The workspace's file, which everybody who works on it has.
    Project,
    /// The workspace's file for this machine alone.
    Local,
    /// Flags, and files that flags name.
    CommandLine,
    /// The machine's administrator.
    Managed,
}

impl Layer {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::CommandLine => "command line",
            Self::Managed => "managed",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a setting stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Source {
    /// Who set it.
    pub layer: Layer,
    /// The file, or what stands for one: a flag such as `--mode`, or `library`.
    pub file: PathBuf,
    /// Line in the file, from 1; 0 where there is no file.
    pub line: usize,
}

impl Source {
    /// A start flag.
    pub fn flag(name: &str) -> Self {
        Self {
            layer: Layer::CommandLine,
            file: PathBuf::from(name),
            line: 0,
        }
    }

    /// Something that is wrong with what stands here.
    pub fn wrong(&self, what: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            line: self.line,
            what: what.into(),
        }
    }

    /// The embedding program.
    pub fn library() -> Self {
        Self {
            layer: Layer::Library,
            file: PathBuf::from("library"),
            line: 0,
        }
    }
}

/// `FILE:LINE (project)`, `--mode (command line)`, `library`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layer == Layer::Library {
            return f.write_str(self.layer.as_str());
        }
        write!(f, "{} ({})", Place(&self.file, self.line), self.layer)
    }
}

/// `FILE:LINE`, or the file alone where there is no line.
pub(super) struct Place<'a>(pub(super) &'a Path, pub(super) usize);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            0 => write!(f, "{}", self.0.display()),
            line => write!(f, "{}:{line}", self.0.display()),
        }
    }
}

/// A setting and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sourced<T> {
    /// The setting.
    pub value: T,
    /// Where it stands.
    pub source: Source,
}

/// What the embedding program sets.
impl<T> From<T> for Sourced<T> {
    fn from(value: T) -> Self {
        Self {
            value,
            source: Source::library(),
        }
    }
}

/// Of what one tool is given and what every tool is given, the one in force: the tool's own, but an administrator's value
/// for every tool is not undone by anybody else's for one.
pub(super) fn nearer<'a, T>(
    own: Option<&'a Sourced<T>>,
    all: Option<&'a Sourced<T>>,
) -> Option<&'a Sourced<T>> {
    match (own, all) {
        (Some(own), Some(all))
            if all.source.layer == Layer::Managed && own.source.layer != Layer::Managed =>
        {
            Some(all)
        }
        (own, all) => own.or(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_said_with_its_line_and_layer() {
        let source = Source {
            layer: Layer::Project,
            file: PathBuf::from("/ws/toolgate.toml"),
            line: 7,
        };
        assert_eq!(source.to_string(), "/ws/toolgate.toml:7 (project)");
        assert_eq!(Source::flag("--mode").to_string(), "--mode (command line)");
        assert_eq!(Source::library().to_string(), "library");
    }

    #[test]
    fn only_an_administrator_binds_every_tool() {
        let from = |layer, value| Sourced {
            value,
            source: Source {
                layer,
                file: PathBuf::new(),
                line: 0,
            },
        };
        let (user, managed) = (from(Layer::User, 1), from(Layer::Managed, 2));
        let command_line = from(Layer::CommandLine, 3);
        let value = |own: Option<&Sourced<i32>>, all: Option<&Sourced<i32>>| {
            nearer(own, all).map(|setting| setting.value)
        };
        assert_eq!(value(Some(&user), Some(&command_line)), Some(1));
        assert_eq!(value(Some(&user), Some(&managed)), Some(2));
        assert_eq!(value(Some(&managed), Some(&managed)), Some(2));
        assert_eq!(value(None, Some(&managed)), Some(2));
        assert_eq!(value(Some(&user), None), Some(1));
        assert_eq!(value(None, None), None);
    }
}
