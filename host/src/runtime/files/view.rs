//! The view: what one call may touch, and what it touched.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cap_std::fs::Dir;
use rustix::fs::Stat;

use super::error::{Code, FileError};
use super::ledger::ReadLedger;
use super::roots::RootDirs;
use super::status::device;
use crate::model::{FileUse, RuleSource};
use crate::policy::{Access, Deed, FileGrant, Refusal, RequestRefusal, fold};

/// The most touched files that are kept as evidence of a call.
const MAX_USES: usize = 1_000;
/// The most scans of one call.
const MAX_SCANS: u32 = 16;
/// The longest path that a guest may name, bytes: twice what Linux takes.
pub(super) const MAX_PATH: usize = 8_192;
/// How many links a path may lead through, as on Linux.
const MAX_LINKS: usize = 40;

/// The files of one call.
#[derive(Debug)]
pub struct FileView {
    judge: Option<Judge>,
    roots: RootDirs,
    pub(super) ledger: Arc<ReadLedger>,
    pub(super) deadline: Instant,
    uses: Vec<FileUse>,
    scans: u32,
}

/// The grant, and the files that deny rules name by one path. Cheap to clone, so that a walk keeps its own.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    grant: FileGrant,
    denied: Arc<[DeniedFile]>,
}

/// A file that a deny rule names by one path, by its identity.
#[derive(Debug)]
struct DeniedFile {
    access: Access,
    device: u64,
    inode: u64,
    rule: RuleSource,
}

/// A path that may be tried: the directory to start from, and the way from there.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) dir: Arc<Dir>,
    /// Below `dir`; `.` for itself.
    pub(super) below: PathBuf,
    /// The whole path.
    pub(super) path: PathBuf,
}

impl FileView {
    /// The view of a call with this grant; without one, nothing is in view.
    pub fn new(
        grant: Option<FileGrant>,
        roots: RootDirs,
        ledger: Arc<ReadLedger>,
        deadline: Instant,
    ) -> Self {
        let judge = grant.map(|grant| Judge {
            denied: denied_files(&grant).into(),
            grant,
        });
        Self {
            judge,
            roots,
            ledger,
            deadline,
            uses: Vec::new(),
            scans: 0,
        }
    }

    /// The files that were touched.
    pub fn take_uses(&mut self) -> Vec<FileUse> {
        std::mem::take(&mut self.uses)
    }

    /// Every root with its opened directory.
    pub(in crate::runtime) fn preopens(&self) -> Vec<(PathBuf, Arc<Dir>)> {
        let Some(Judge { grant, .. }) = &self.judge else {
            return Vec::new();
        };
        grant
            .roots()
            .all(grant.access())
            .filter_map(|root| Some((root.to_owned(), Arc::clone(self.roots.get(root)?))))
            .collect()
    }

    pub(in crate::runtime) fn writable(&self) -> bool {
        self.judge
            .as_ref()
            .is_some_and(|judge| judge.grant.access() == Access::Write)
    }

    /// Whether it is a writing view in which what exists stays as it is.
    pub(super) fn creates_only(&self) -> bool {
        self.judge
            .as_ref()
            .is_some_and(|judge| judge.grant.creates_only())
    }

    pub(super) fn judge(&self) -> Result<&Judge, FileError> {
        self.judge
            .as_ref()
            .ok_or_else(|| FileError::new(Code::Refused, "this tool was not granted any files."))
    }

    pub(super) fn grant(&self) -> Result<&FileGrant, FileError> {
        self.judge().map(|judge| &judge.grant)
    }

    /// The absolute path that a text means.
    pub(super) fn absolute(&self, text: &str) -> Result<PathBuf, FileError> {
        if text.is_empty() {
            return Err(FileError::new(Code::Invalid, "the path is empty."));
        }
        if text.len() > MAX_PATH {
            return Err(FileError::new(Code::NameTooLong, "the name is too long."));
        }
        if text.contains('\0') {
            return Err(FileError::new(
                Code::Invalid,
                "the path holds a NUL character.",
            ));
        }
        Ok(self.grant()?.roots().absolute(text))
    }

    /// Where to try an absolute path.
    pub(super) fn locate(&self, deed: Deed, path: &Path) -> Result<Located, FileError> {
        let grant = self.grant()?;
        let root = grant
            .judge_request(deed, path)
            .map_err(|refusal| FileError::refused(path, &refusal))?;
        self.located(root, path)
    }

    fn located(&self, root: &Path, path: &Path) -> Result<Located, FileError> {
        let outside = || FileError::refused(path, &RequestRefusal::OutsideRoots);
        let dir = self.roots.get(root).ok_or_else(outside)?;
        let below = path.strip_prefix(root).ok().ok_or_else(outside)?;
        Ok(Located {
            dir: Arc::clone(dir),
            below: if below.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                below.to_owned()
            },
            path: path.to_owned(),
        })
    }

    /// The same place with every link on the way resolved, as long as they stay inside the roots. The last component may
    /// not exist.
    pub(super) fn resolve_links(&self, located: Located) -> Result<Located, FileError> {
        let asked = located.path.clone();
        let mut here = located;
        for _ in 0..MAX_LINKS {
            let Some(target) = first_link(&here) else {
                return Ok(here);
            };
            let grant = self.grant()?;
            let root = grant.roots().covering(grant.access(), &target);
            let root =
                root.ok_or_else(|| FileError::refused(&asked, &RequestRefusal::OutsideRoots))?;
            here = self.located(root, &target)?;
        }
        Err(FileError::new(
            Code::Invalid,
            format!("'{}': too many links.", asked.display()),
        ))
    }

    /// Judges what was opened, by its real path and its identity.
    pub(super) fn judge_opened(
        &self,
        deed: Deed,
        asked: &Path,
        real: &Path,
        stat: Option<&Stat>,
    ) -> Result<(), FileError> {
        self.judge()?.opened(deed, asked, real, stat)
    }

    /// Judges a directory on the way to what the call names.
    pub(super) fn judge_way(&self, deed: Deed, asked: &Path, real: &Path) -> Result<(), FileError> {
        let judged = self.grant()?.judge_way(deed, real);
        judged.map_err(|refusal| FileError::refused(asked, &refusal))
    }

    /// Leaves evidence of a touched file. What is written is kept where there is no more room for what is read.
    pub(super) fn used(&mut self, access: Access, requested: &Path, resolved: &Path) {
        let room = match access {
            Access::Read => MAX_USES,
            Access::Write => 2 * MAX_USES,
        };
        if self.uses.len() < room {
            self.uses.push(FileUse {
                access: access.as_str(),
                requested: requested.to_owned(),
                resolved: resolved.to_owned(),
            });
        }
    }

    /// One more scan; each has a thread of the host.
    pub(super) fn begin_scan(&mut self) -> Result<(), FileError> {
        self.scans += 1;
        if self.scans > MAX_SCANS {
            let message = format!("more than {MAX_SCANS} scans in one call.");
            return Err(FileError::new(Code::TooLarge, message));
        }
        Ok(())
    }

    pub(super) fn in_time(&self) -> Result<(), FileError> {
        if Instant::now() < self.deadline {
            Ok(())
        } else {
            Err(FileError::new(
                Code::Deadline,
                "the deadline struck; nothing was changed.",
            ))
        }
    }
}

impl Judge {
    /// Judges what was opened, by its real path and its identity.
    pub(super) fn opened(
        &self,
        deed: Deed,
        asked: &Path,
        real: &Path,
        stat: Option<&Stat>,
    ) -> Result<(), FileError> {
        self.grant
            .judge_opened(deed, real)
            .map_err(|refusal| FileError::refused(asked, &refusal))?;
        match stat.and_then(|stat| self.denied_as(deed.access(), stat)) {
            Some(rule) => {
                let refusal = RequestRefusal::Guard(Refusal::Rules(vec![rule.clone()]));
                Err(FileError::refused(asked, &refusal))
            }
            None => Ok(()),
        }
    }

    /// The deny rule that names this file by another of its names.
    pub(super) fn denied_as(&self, access: Access, stat: &Stat) -> Option<&RuleSource> {
        let same = |denied: &&DeniedFile| {
            denied.access == access && denied.device == device(stat) && denied.inode == stat.st_ino
        };
        self.denied.iter().find(same).map(|denied| &denied.rule)
    }

    /// Whether a listing may show this path.
    pub(super) fn shows(&self, path: &Path) -> bool {
        self.grant.guard().judge(Access::Read, path).is_ok()
    }

    /// The root that holds a resolved path.
    pub(super) fn root_of(&self, path: &Path) -> Option<&Path> {
        self.grant.roots().covering(self.grant.access(), path)
    }
}

/// The path that the first link on the way leads to, with the rest of the way behind it.
fn first_link(here: &Located) -> Option<PathBuf> {
    let root = here.path.ancestors().nth(depth(&here.below))?.to_owned();
    let mut way = PathBuf::new();
    let mut components = here.below.components();
    while let Some(component) = components.next() {
        way.push(component);
        let is_link = here
            .dir
            .symlink_metadata(&way)
            .is_ok_and(|metadata| metadata.is_symlink());
        if is_link {
            let target = here.dir.read_link_contents(&way).ok()?;
            let from = root.join(way.parent().unwrap_or(Path::new("")));
            return Some(fold(&from, &target.join(components.as_path())));
        }
    }
    None
}

fn depth(below: &Path) -> usize {
    below
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .count()
}

/// Deny rules that name one path bind the file there, under whatever name it is reached.
fn denied_files(grant: &FileGrant) -> Vec<DeniedFile> {
    let mut denied = Vec::new();
    for access in [Access::Read, Access::Write] {
        for (path, rule) in grant.guard().denied_paths(access) {
            if let Ok(stat) = rustix::fs::stat(path) {
                denied.push(DeniedFile {
                    access,
                    device: device(&stat),
                    inode: stat.st_ino,
                    rule: rule.clone(),
                });
            }
        }
    }
    denied
}
