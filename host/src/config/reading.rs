//! One file on its way to settings: positions to lines, values to sourced values, relative paths to whole ones.

use std::path::{Component, Path, PathBuf};

use toml::Spanned;

use super::ConfigError;
use super::source::{Layer, Source, Sourced};
use crate::model::suggestion;
use crate::policy::fold;

/// See the module.
pub(super) struct Reading<'a> {
    layer: Layer,
    path: &'a Path,
    text: &'a str,
    /// Where each line begins, but for the first.
    breaks: Vec<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(layer: Layer, path: &'a Path, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            layer,
            path,
            text,
            breaks: ends.map(|(at, _)| at + 1).collect(),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Line of a position, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.breaks.partition_point(|begin| *begin <= at)
    }

    pub(super) fn source(&self, at: usize) -> Source {
        Source {
            layer: self.layer,
            file: self.path.to_owned(),
            line: self.line(at),
        }
    }

    pub(super) fn sourced<T>(&self, value: Spanned<T>) -> Sourced<T> {
        let source = self.source(value.span().start);
        Sourced {
            value: value.into_inner(),
            source,
        }
    }

    /// A path of the file, which stands on the file's folder.
    ///
    /// # Errors
    /// The file is a workspace's, and its path has `..` behind a name: where that leads is up to whoever can put a link
    /// in the place of the name.
    pub(super) fn placed(&self, path: Spanned<PathBuf>) -> Result<Sourced<PathBuf>, ConfigError> {
        let at = path.span().start;
        let mut path = self.sourced(path);
        self.refuse_dodge(at, &path.value)?;
        path.value = self.folder().join(&path.value);
        if self.of_a_workspace() {
            path.value = fold(Path::new("/"), &path.value);
        }
        Ok(path)
    }

    fn of_a_workspace(&self) -> bool {
        matches!(self.layer, Layer::Project | Layer::Local)
    }

    fn refuse_dodge(&self, at: usize, path: &Path) -> Result<(), ConfigError> {
        let mut named = false;
        let mut dodges = false;
        for part in path.components() {
            match part {
                Component::Normal(_) => named = true,
                Component::ParentDir => dodges |= named,
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        if !(dodges && self.of_a_workspace()) {
            return Ok(());
        }
        let what = format!(
            "'{}' has '..' behind a name, which may become a link to anywhere: write the path without it",
            path.display()
        );
        Err(self.wrong(at, what))
    }

    /// A command of the file, whose program stands on the file's folder where it has a slash in its name.
    pub(super) fn command(
        &self,
        command: Spanned<Vec<String>>,
    ) -> Result<Sourced<Vec<String>>, ConfigError> {
        let at = command.span().start;
        let mut command = self.sourced(command);
        let Some(program) = command.value.first_mut() else {
            return Err(self.wrong(at, "the command is empty: name a program"));
        };
        if program.contains('/') {
            self.refuse_dodge(at, Path::new(&*program))?;
            *program = match self.folder().join(&*program).into_os_string().into_string() {
                Ok(placed) => placed,
                Err(folder) => {
                    let what = format!(
                        "the program's path '{}' is not UTF-8: name it by a path without this folder",
                        folder.display()
                    );
                    return Err(self.wrong(at, what));
                }
            };
        }
        Ok(command)
    }

    /// Something that is wrong at a position.
    pub(super) fn wrong(&self, at: usize, what: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.path.to_owned(),
            line: self.line(at),
            what: what.into(),
        }
    }

    /// What the TOML reader says.
    pub(super) fn malformed(&self, error: &toml::de::Error) -> ConfigError {
        ConfigError {
            file: self.path.to_owned(),
            line: error.span().map_or(0, |span| self.line(span.start)),
            what: self.plainly(error),
        }
    }

    /// The reader's sentence in words of the file rather than of the program.
    fn plainly(&self, error: &toml::de::Error) -> String {
        let message = error.message();
        let span = error.span().and_then(|span| self.text.get(span));
        if let ("duplicate key", Some(key)) = (message, span) {
            return format!("the key '{}' stands there twice", key.trim());
        }
        let words = [
            ("expected a sequence", "expected a list"),
            ("expected u64", "expected a whole number"),
            ("expected a map", "expected a table"),
            ("invalid type: map", "invalid type: a table"),
            ("invalid type: sequence", "invalid type: a list"),
            ("wanted string or table", "expected a text or a table"),
        ];
        let plain = words
            .iter()
            .fold(message.to_owned(), |said, (theirs, ours)| {
                said.replace(theirs, ours)
            });
        match meant(message) {
            Some(meant) => format!("{plain}.{meant}"),
            None => plain,
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// The nearest of the values that the reader lists, where it met another one.
fn meant(message: &str) -> Option<String> {
    let (value, known) = message.strip_prefix("unknown variant `")?.split_once('`')?;
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    Some(suggestion(value, known)).filter(|said| !said.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_lines() {
        let reading = Reading::new(Layer::User, Path::new("f"), "a\nbc\n\nd");
        let lines: Vec<usize> = (0..7).map(|at| reading.line(at)).collect();
        assert_eq!(lines, [1, 1, 2, 2, 2, 3, 4]);
        assert_eq!(Reading::new(Layer::User, Path::new("f"), "").line(0), 1);
    }
}
