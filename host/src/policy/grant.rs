//! Grants: what the verdict lets an instance reach. The permission gate makes them, the runtime keeps to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::ToolRules;
use super::{Access, FileGuard, Refusal, Roots};
use crate::model::RuleSource;

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
    /// What a link that leads away from the scope must satisfy; none: somebody accepted the call as it is.
    pub(super) strays: Option<Strays>,
}

/// Rules over what is reached under another path than the call named.
#[derive(Clone, Debug)]
pub(super) struct Strays {
    pub(super) rules: Arc<ToolRules>,
    /// The call runs because of an allow rule, so what it reaches needs one too.
    pub(super) need_allow: bool,
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
    /// A link leads to what this rule asks for.
    Asked(RuleSource),
    /// A link leads to what no rule allows.
    NotAllowed,
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

    /// May what was opened be used, now that its real path is known? A link that the call names may lead to another place
    /// inside the roots, where the tool's rules hold for the real path as they did for the named one.
    ///
    /// # Errors
    /// [`RequestRefusal`].
    pub fn judge_opened(&self, access: Access, real: &Path) -> Result<(), RequestRefusal> {
        self.judge(access, real)?;
        let (Some(scope), Some(strays)) = (&self.scope, &self.strays) else {
            return Ok(());
        };
        if scope.iter().any(|subject| real.starts_with(subject)) {
            return Ok(());
        }
        if let Some(rule) = strays.rules.ask.matching(real).into_iter().next() {
            return Err(RequestRefusal::Asked(rule));
        }
        let allow = &strays.rules.allow;
        if strays.need_allow && allow.bare().is_empty() && allow.matching(real).is_empty() {
            return Err(RequestRefusal::NotAllowed);
        }
        Ok(())
    }

    /// May this directory be on the way: listed, or made for what the call names?
    ///
    /// # Errors
    /// [`RequestRefusal`].
    pub fn judge_way(&self, access: Access, real: &Path) -> Result<(), RequestRefusal> {
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
