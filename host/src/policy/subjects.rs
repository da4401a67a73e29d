//! The subjects of a call, read once for all rules: what a pattern is compared with.

use std::path::{Path, PathBuf};

use super::{CommandLine, Roots, UrlSubject};
use crate::model::{DenialReason, Subject, SubjectKind};

/// The longest path that is judged, bytes: twice what Linux takes. The judge's work grows with the number of components.
const MAX_PATH: usize = 8_192;

/// One subject, read as its kind says.
#[derive(Clone, Debug)]
pub(super) enum ReadSubject {
    /// A path, absolute and folded.
    Path(PathBuf),
    /// A command line, analysed.
    Command(CommandLine),
    /// A URL, parsed.
    Url(UrlSubject),
}

impl ReadSubject {
    /// Reads a subject.
    ///
    /// # Errors
    /// It is a path longer than any file's, or a text that is no URL: nothing could be compared with it.
    pub(super) fn read(subject: &Subject, roots: &Roots) -> Result<Self, DenialReason> {
        match subject.kind {
            SubjectKind::Path => {
                let path = roots.absolute(&subject.value);
                let length = path.as_os_str().len();
                if length > MAX_PATH {
                    return Err(DenialReason::PathTooLong { length });
                }
                Ok(Self::Path(path))
            }
            SubjectKind::Command => Ok(Self::Command(CommandLine::analyse(&subject.value))),
            SubjectKind::Url => {
                UrlSubject::parse(&subject.value)
                    .map(Self::Url)
                    .map_err(|refusal| DenialReason::Undecidable {
                        rule: None,
                        what: format!("the URL is refused: {refusal}"),
                    })
            }
        }
    }

    pub(super) fn kind(&self) -> SubjectKind {
        match self {
            Self::Path(_) => SubjectKind::Path,
            Self::Command(_) => SubjectKind::Command,
            Self::Url(_) => SubjectKind::Url,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Command(_) | Self::Url(_) => None,
        }
    }

    /// Why no rule that is stricter than allow can be decided for it, if none can.
    pub(super) fn undecidable(&self) -> Option<&str> {
        match self {
            Self::Command(line) => line.undecidable(),
            Self::Path(_) | Self::Url(_) => None,
        }
    }
}
