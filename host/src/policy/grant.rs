//! Grants: what the verdict lets an instance reach. The permission gate makes them, the runtime keeps to them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluate::{Policy, ToolFacts};
use super::index::ToolRules;
use super::{Access, Basis, FileGuard, Refusal, Roots, Verdict};
use crate::model::{DenialReason, FileScope, RuleSource};

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
    /// Where the call's paths led when somebody was asked: whatever the scope says, what is opened lies there. None:
    /// nobody was asked.
    pub(super) seen: Option<Vec<PathBuf>>,
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
    /// It leads to another place than when somebody was asked.
    NotSeen,
}

/// What the rules say to the place that a path of the call leads to, beyond what they say to the path itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceRules {
    /// Ask rules that speak of it.
    pub asked: Vec<RuleSource>,
    /// The built-in pattern by which programs run the file on their own, if they do.
    pub runs_code: Option<&'static str>,
}

impl PlaceRules {
    /// Whether they say nothing.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.runs_code.is_none()
    }
}

impl Policy {
    /// The file view of a call that may run. `accepted`: a human, or mode `bypass`, accepted what the call names.
    pub fn file_grant(
        &self,
        tool: &ToolFacts,
        verdict: &Verdict,
        accepted: bool,
    ) -> Option<FileGrant> {
        let (access, scope) = tool.files?;
        Some(FileGrant {
            access,
            create_only: tool.traits.create_only,
            roots: Arc::clone(&self.roots),
            guard: Arc::clone(&self.guard),
            scope: match scope {
                FileScope::Subject => Some(verdict.paths.clone()),
                FileScope::Workspace => None,
            },
            may_run_code: if accepted {
                verdict.paths.clone()
            } else {
                Vec::new()
            },
            strays: (!accepted).then(|| Strays {
                rules: self.rules.get(&tool.name).map(Arc::clone),
                need_allow: verdict.basis == Basis::Rules,
                within: (verdict.basis == Basis::AcceptEdits)
                    .then(|| self.roots.workspace().to_owned()),
            }),
            seen: None,
        })
    }

    /// The file view of a call that somebody approved, once: bound to the real paths that they were shown.
    pub fn approved_grant(
        &self,
        tool: &ToolFacts,
        verdict: &Verdict,
        seen: &[PathBuf],
    ) -> Option<FileGrant> {
        let mut grant = self.file_grant(tool, verdict, true)?;
        grant.may_run_code.extend_from_slice(seen);
        grant.seen = Some(seen.to_vec());
        Some(grant)
    }

    /// The file view of a call for which an answer stands: what an allow rule over these real paths, and over nothing
    /// else, would give.
    pub fn standing_grant(
        &self,
        tool: &ToolFacts,
        verdict: &Verdict,
        seen: &[PathBuf],
    ) -> Option<FileGrant> {
        let mut grant = self.file_grant(tool, verdict, false)?;
        grant.strays = Some(Strays {
            rules: self.rules.get(&tool.name).map(Arc::clone),
            // The answer's own rule is the one that is needed, and it covers what was seen.
            need_allow: false,
            within: None,
        });
        grant.seen = Some(seen.to_vec());
        Some(grant)
    }

    /// What the rules say to the real path that a path of the call leads to.
    ///
    /// # Errors
    /// Why the call would be refused when it opens this file, whoever approved it.
    pub fn judge_place(&self, tool: &ToolFacts, real: &Path) -> Result<PlaceRules, DenialReason> {
        if let Some(reason) = self.path_denial(tool, real) {
            return Err(reason);
        }
        let rules = self.rules.get(&tool.name);
        let writes = matches!(tool.files, Some((Access::Write, _)));
        Ok(PlaceRules {
            asked: rules
                .map(|rules| rules.ask.matching(real))
                .unwrap_or_default(),
            runs_code: self.guard.runs_code(real).filter(|_| writes),
        })
    }
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
        let Some(scope) = &self.scope else {
            return Ok(());
        };
        if let Some(seen) = &self.seen
            && !seen.iter().any(|place| real.starts_with(place))
        {
            return Err(RequestRefusal::NotSeen);
        }
        let Some(strays) = &self.strays else {
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
    use crate::policy::{Decision, Mode, PolicySettings, Question, Rule};

    /// The grant of a tool that writes files and claims to be destructive or not, somebody having accepted the call.
    fn grant(destructive: bool) -> FileGrant {
        let (policy, tool, verdict) = asked(&[], destructive);
        policy.file_grant(&tool, &verdict, true).unwrap()
    }

    /// A call of such a tool for `sub` under these ask rules.
    fn asked(rules: &[&str], destructive: bool) -> (Policy, ToolFacts, Verdict) {
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
            coming: Vec::new(),
        };
        let rules: Vec<Rule> = rules
            .iter()
            .map(|rule| Rule::parse(Decision::Ask, rule, Path::new("t"), 1).unwrap())
            .collect();
        let policy = Policy::build(&rules, settings, std::slice::from_ref(&tool)).unwrap();
        let subjects = [Subject {
            kind: SubjectKind::Path,
            value: "sub".to_owned(),
        }];
        let verdict = policy.evaluate(Question {
            tool: &tool,
            subjects: &subjects,
        });
        (policy, tool, verdict)
    }

    #[test]
    fn what_somebody_approved_is_where_the_path_led_when_they_saw_it() {
        let (policy, tool, verdict) = asked(&["Maker(/ws/asked/**)"], true);
        let opened =
            |grant: &FileGrant, path: &str| grant.judge_opened(Deed::Change, Path::new(path));
        let seen = [PathBuf::from("/ws/real")];
        for grant in [
            policy.approved_grant(&tool, &verdict, &seen).unwrap(),
            policy.standing_grant(&tool, &verdict, &seen).unwrap(),
        ] {
            assert!(
                grant
                    .judge_request(Deed::Change, Path::new("/ws/sub"))
                    .is_ok()
            );
            assert_eq!(opened(&grant, "/ws/real/a"), Ok(()));
            for elsewhere in ["/ws/other", "/ws/sub", "/ws/realistic"] {
                let refused = Err(RequestRefusal::NotSeen);
                assert_eq!(opened(&grant, elsewhere), refused, "{elsewhere}");
            }
        }
        // An answer that stands is no yes to what an ask rule speaks of.
        let seen = [PathBuf::from("/ws/asked")];
        let standing = policy.standing_grant(&tool, &verdict, &seen).unwrap();
        assert!(matches!(
            opened(&standing, "/ws/asked/a"),
            Err(RequestRefusal::Asked(_))
        ));
        let once = policy.approved_grant(&tool, &verdict, &seen).unwrap();
        assert_eq!(opened(&once, "/ws/asked/a"), Ok(()));
    }

    #[test]
    fn what_no_answer_helps_is_known_before_anybody_is_asked() {
        let (policy, tool, _) = asked(&["Maker(/ws/asked/**)"], true);
        let judge = |path: &str| policy.judge_place(&tool, Path::new(path));
        assert!(judge("/ws/a").unwrap().is_empty());
        assert_eq!(judge("/ws/asked/a").unwrap().asked.len(), 1);
        assert!(judge("/ws/.envrc").unwrap().runs_code.is_some());
        assert!(matches!(
            judge("/etc/passwd"),
            Err(DenialReason::OutsideRoots { .. })
        ));
        assert!(matches!(
            judge("/ws/.git/config"),
            Err(DenialReason::Protected { .. })
        ));
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
