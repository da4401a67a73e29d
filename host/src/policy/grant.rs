//! Grants: what the verdict lets an instance reach. The permission gate makes them, the runtime keeps to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::ToolRules;
use super::{Access, FileGuard, Refusal, Roots};
use crate::model::RuleSource;

/// What is about to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Look at it, or read it.
    Read,
    /// Make it where nothing is.
    Create,
    /// Change, replace, move or remove what is there.
    Change,
}

impl Deed {
    /// What rules and roots call it.
    pub fn access(self) -> Access {
        match self {
            Self::Read => Access::Read,
            Self::Create | Self::Change => Access::Write,
        }
    }
}

/// The file view of one call.
#[derive(Clone, Debug)]
pub struct FileGrant {
    pub(super) access: Access,
    /// What exists stays as it is.
    pub(super) create_only: bool,
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
    pub(super) rules: Option<Arc<ToolRules>>,
    /// The call runs because of an allow rule, so what it reaches needs one too.
    pub(super) need_allow: bool,
    /// The call runs because it stays in this directory, so what it reaches must lie there too.
    pub(super) within: Option<PathBuf>,
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
    /// Changing what exists in a view that was granted for creating.
    CreateOnly,
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

    /// Whether it is a writing view in which what exists stays as it is.
    pub fn creates_only(&self) -> bool {
        self.create_only
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
    pub fn judge_request(&self, deed: Deed, path: &Path) -> Result<&Path, RequestRefusal> {
        let root = self.judge(deed, path)?;
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
    pub fn judge_opened(&self, deed: Deed, real: &Path) -> Result<(), RequestRefusal> {
        self.judge(deed, real)?;
        let (Some(scope), Some(strays)) = (&self.scope, &self.strays) else {
            return Ok(());
        };
        if scope.iter().any(|subject| real.starts_with(subject)) {
            return Ok(());
        }
        if let Some(within) = &strays.within
            && !real.starts_with(within)
        {
            return Err(RequestRefusal::NotAllowed);
        }
        let Some(rules) = &strays.rules else {
            return Ok(());
        };
        if let Some(rule) = rules.ask.matching(real).into_iter().next() {
            return Err(RequestRefusal::Asked(rule));
        }
        let allow = &rules.allow;
        if strays.need_allow && allow.bare().is_empty() && allow.matching(real).is_empty() {
            return Err(RequestRefusal::NotAllowed);
        }
        Ok(())
    }

    /// May this directory be on the way: listed, or made for what the call names?
    ///
    /// # Errors
    /// [`RequestRefusal`].
    pub fn judge_way(&self, deed: Deed, real: &Path) -> Result<(), RequestRefusal> {
        self.judge(deed, real).map(|_| ())
    }

    fn judge(&self, deed: Deed, path: &Path) -> Result<&Path, RequestRefusal> {
        let access = deed.access();
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
        if deed == Deed::Change && self.create_only {
            return Err(RequestRefusal::CreateOnly);
        }
        Ok(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Claim, Evidence, FileScope, SideEffect, Subject, SubjectKind, ToolName, Traits, Trust,
    };
    use crate::policy::{Mode, Policy, PolicySettings, Question, ToolFacts};

    /// The grant of a tool that writes files and claims to be destructive or not.
    fn grant(destructive: bool) -> FileGrant {
        let claim = Claim {
            level: SideEffect::Mutating,
            destructive,
            ..Claim::default()
        };
        let evidence = Evidence {
            writes_files: true,
            ..Evidence::default()
        };
        let tool = ToolFacts {
            name: ToolName::try_from("Maker").unwrap(),
            traits: Traits::resolve(&claim, &evidence, Trust::None),
            subject: Some(SubjectKind::Path),
            computes_subjects: false,
            files: Some((Access::Write, FileScope::Subject)),
            built_in: false,
        };
        let ws = PathBuf::from("/ws");
        let settings = PolicySettings {
            mode: Mode::Default,
            ceiling: SideEffect::Mutating,
            roots: Roots::new(ws.clone(), ws, Vec::new(), Vec::new()),
            home: None,
            protected: Vec::new(),
        };
        let policy = Policy::build(&[], settings, std::slice::from_ref(&tool)).unwrap();
        let subjects = [Subject {
            kind: SubjectKind::Path,
            value: "sub".to_owned(),
        }];
        let verdict = policy.evaluate(Question {
            tool: &tool,
            subjects: &subjects,
        });
        policy.file_grant(&tool, &verdict, true).unwrap()
    }

    #[test]
    fn a_view_for_creating_refuses_every_change_and_nothing_else() {
        let (creating, changing) = (grant(false), grant(true));
        assert!(creating.creates_only() && !changing.creates_only());
        let path = Path::new("/ws/sub/a");
        for deed in [Deed::Read, Deed::Create] {
            assert!(creating.judge_request(deed, path).is_ok(), "{deed:?}");
            assert_eq!(creating.judge_opened(deed, path), Ok(()), "{deed:?}");
            assert_eq!(creating.judge_way(deed, path), Ok(()), "{deed:?}");
        }
        let refused = Err(RequestRefusal::CreateOnly);
        assert_eq!(
            creating.judge_request(Deed::Change, path).map(|_| ()),
            refused
        );
        assert_eq!(creating.judge_opened(Deed::Change, path), refused);
        assert_eq!(creating.judge_way(Deed::Change, path), refused);
        assert_eq!(changing.judge_opened(Deed::Change, path), Ok(()));
    }

    #[test]
    fn creating_is_writing_for_rules_and_scope() {
        let creating = grant(false);
        let refusal = |path: &str| {
            creating
                .judge_request(Deed::Create, Path::new(path))
                .unwrap_err()
        };
        assert!(matches!(
            refusal("/ws/.git/config"),
            RequestRefusal::Guard(Refusal::Protected(_))
        ));
        assert_eq!(refusal("/ws/other"), RequestRefusal::OutsideScope);
        assert_eq!(refusal("/elsewhere"), RequestRefusal::OutsideRoots);
    }
}
