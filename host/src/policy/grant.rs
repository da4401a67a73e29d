//! Grants: what the verdict lets an instance reach. The permission gate makes them, the runtime keeps to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Access, FileGuard, Refusal, Roots};

/// The file view of one call.
#[derive(Clone, Debug)]
pub struct FileGrant {
    pub(super) access: Access,
    pub(super) roots: Arc<Roots>,
    pub(super) guard: Arc<FileGuard>,
    /// Only these paths and what is below them; none: all roots.
    pub(super) scope: Option<Vec<PathBuf>>,
    /// Paths for which somebody accepted that programs run them on their own.
    pub(super) may_run_code: Vec<PathBuf>,
}

/// Why a path may not even be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestRefusal {
    /// Outside of every root.
    OutsideRoots,
    /// Inside a root, but not what the call is about.
    OutsideScope,
    /// Writing in a view that was granted for reading.
    ReadOnly,
    /// The guard.
    Guard(Refusal),
    /// Programs run this file on their own, and nobody accepted that.
    RunsCode(&'static str),
}

impl FileGrant {
    /// What the view is for. A writing view reads too; a reading view never writes. One instance has one view, so a
    /// read-only and a writable view of one file system never meet.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The granted directories.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The guard behind the view.
    pub fn guard(&self) -> &FileGuard {
        &self.guard
    }

    /// May the guest try this absolute, folded path? Gives the root that holds it.
    ///
    /// # Errors
    /// [`RequestRefusal`].
    pub fn judge_request(&self, access: Access, path: &Path) -> Result<&Path, RequestRefusal> {
        let root = self.judge(access, path)?;
        if let Some(scope) = &self.scope
            && !scope.iter().any(|subject| path.starts_with(subject))
        {
            return Err(RequestRefusal::OutsideScope);
        }
        Ok(root)
    }

    /// Whether a listing may name this path: it leads to what the call is about, or lies below it, and no rule hides it.
    pub fn shows(&self, path: &Path) -> bool {
        let in_scope = |scope: &Vec<PathBuf>| {
            scope
                .iter()
                .any(|subject| path.starts_with(subject) || subject.starts_with(path))
        };
        self.scope.as_ref().is_none_or(in_scope) && self.guard.judge(Access::Read, path).is_ok()
    }

    /// May what was opened be used, now that its real path is known? The call's scope is about names, so it is not asked
    /// again: a link that the call names may lead to another place inside the roots.
    ///
    /// # Errors
    /// [`RequestRefusal`].
    pub fn judge_opened(&self, access: Access, real: &Path) -> Result<(), RequestRefusal> {
        self.judge(access, real).map(|_| ())
    }

    fn judge(&self, access: Access, path: &Path) -> Result<&Path, RequestRefusal> {
        if access == Access::Write && self.access == Access::Read {
            return Err(RequestRefusal::ReadOnly);
        }
        let root = self
            .roots
            .covering(self.access, path)
            .ok_or(RequestRefusal::OutsideRoots)?;
        self.guard
            .judge(access, path)
            .map_err(RequestRefusal::Guard)?;
        if access == Access::Write
            && let Some(pattern) = self.guard.runs_code(path)
            && !self.may_run_code.iter().any(|accepted| accepted == path)
        {
            return Err(RequestRefusal::RunsCode(pattern));
        }
        Ok(root)
    }
}
