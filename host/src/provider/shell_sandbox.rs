//! From a shell grant to a sandbox: which existing files a command cannot read or change.
//!
//! Guarantees that what a deny rule covers under a granted directory is covered in the sandbox too, under every name that is
//! there when the command starts; where that cannot be found out, there is no sandbox.

use std::path::{Path, PathBuf};

use super::shell::ShellPlaces;
use crate::policy::{Access, FileGuard, Refusal, ShellGrant};
use crate::shell::Sandbox;

/// The most names that are looked at for one command.
const MAX_NAMES: usize = 200_000;
/// The most places that one sandbox covers: each is a mount.
const MAX_COVERED: usize = 4_000;

/// A sandbox, and what should be told of it.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) sandbox: Sandbox,
    pub(super) gaps: Vec<String>,
}

/// The sandbox of a grant. Looks at the names below the granted directories.
///
/// # Errors
/// For the model: the deny rules cannot be put into force.
pub(super) fn sandbox(grant: &ShellGrant, places: &ShellPlaces) -> Result<Made, String> {
    let roots = grant.roots();
    let all = |access| roots.all(access).map(Path::to_owned).collect::<Vec<_>>();
    let writable = match grant.writes() {
        true => all(Access::Write),
        false => Vec::new(),
    };
    let mut sandbox = Sandbox::new(writable, places.home.as_deref());
    let inside = |path: &Path| roots.covering(Access::Read, path).is_some();
    let in_hidden = |path: &Path| {
        let mut hidden = places.hidden.iter();
        hidden.any(|hidden| path.starts_with(hidden))
    };
    // What is named as readable is mounted read-only, also over what is writable.
    let mut readable = all(Access::Read);
    readable.retain(|root| !in_hidden(root) && !sandbox.writable.contains(root));
    sandbox.readable = readable;
    sandbox
        .hidden
        .extend(places.hidden.iter().filter(|path| path.exists()).cloned());
    for own in &places.own {
        // What lies among the files that are worked on stays readable, as it is for tools.
        match inside(own) {
            true => sandbox.protected.push(own.clone()),
            false => sandbox.hidden.push(own.clone()),
        }
    }
    let looked_at = all(Access::Read);
    let looked_at: Vec<&Path> = looked_at.iter().map(PathBuf::as_path).collect();
    covered(sandbox, &looked_at, grant.guard(), &places.hidden)
}

/// The sandbox with what the rules deny below these directories, out of reach of what is hidden anyway.
///
/// # Errors
/// For people: the deny rules cannot be put into force.
pub(super) fn covered(
    mut sandbox: Sandbox,
    looked_at: &[&Path],
    guard: &FileGuard,
    hidden: &[PathBuf],
) -> Result<Made, String> {
    let in_hidden = |path: &Path| hidden.iter().any(|hidden| path.starts_with(hidden));
    sandbox.masks.extend(named(guard, Access::Read));
    sandbox.protected.extend(named(guard, Access::Write));
    let mut found = Found::default();
    for root in looked_at {
        if !in_hidden(root) {
            found.walk(guard, (*root).to_owned(), in_hidden);
        }
    }
    let mut gaps = Vec::new();
    if found.left_out && guard.denies_by_wildcard(Access::Read) {
        return Err(format!(
            "there are more than {MAX_NAMES} files below the granted directories, so that those which a deny rule with a \
             wildcard keeps from being read cannot all be found: let such rules name files or whole directories \
             ('secrets/**'), or grant smaller directories"
        ));
    }
    if found.left_out {
        gaps.push(format!(
            "only the first {MAX_NAMES} files were looked through for files that are never written"
        ));
    }
    sandbox.masks.append(&mut found.masks);
    sandbox.protected.append(&mut found.protected);
    sort(&mut sandbox.masks);
    sort(&mut sandbox.protected);
    if sandbox.masks.len() + sandbox.protected.len() > MAX_COVERED {
        return Err(format!(
            "deny rules cover {} files below the granted directories, and a sandbox covers at most {MAX_COVERED}: let rules \
             name whole directories ('secrets/**')",
            sandbox.masks.len() + sandbox.protected.len()
        ));
    }
    Ok(Made { sandbox, gaps })
}

fn sort(paths: &mut Vec<PathBuf>) {
    paths.sort();
    paths.dedup();
}

/// What deny rules name as it stands, wherever it is, as far as it exists.
fn named(guard: &FileGuard, access: Access) -> Vec<PathBuf> {
    let literal = guard.denied_paths(access).iter().map(|(path, _)| path);
    let below = guard.denied_directories(access).iter();
    literal
        .chain(below)
        .filter(|path| path.exists())
        .flat_map(|path| [Some(path.clone()), path.canonicalize().ok()])
        .flatten()
        .collect()
}

/// What was found below the roots.
#[derive(Debug, Default)]
struct Found {
    masks: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    seen: usize,
    left_out: bool,
}

impl Found {
    /// Asks the guard about every name. What is covered as a whole is not gone into, and no link is followed.
    fn walk(&mut self, guard: &FileGuard, root: PathBuf, hidden: impl Fn(&Path) -> bool) {
        let mut folders = vec![root];
        while let Some(folder) = folders.pop() {
            // What the host cannot list, a command that is not more than the host cannot read either.
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                self.seen += 1;
                if self.seen > MAX_NAMES {
                    self.left_out = true;
                    return;
                }
                let path = entry.path();
                if hidden(&path) {
                    continue;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if guard.judge(Access::Read, &path).is_err() {
                    self.masks.push(path);
                    continue;
                }
                let judged = guard.judge(Access::Write, &path);
                // A repository's own folder is closed to file tools, and written by every commit.
                let repository = is_folder && entry.file_name() == ".git";
                if repository && !matches!(judged, Err(Refusal::Rules(_))) {
                    self.walk_repository(path);
                    continue;
                }
                if judged.is_err() {
                    self.protected.push(path);
                    continue;
                }
                if is_folder {
                    folders.push(path);
                }
            }
        }
    }

    /// What git obeys in a repository's own folder, and in those of its submodules and worktrees.
    fn walk_repository(&mut self, folder: PathBuf) {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            let alternates = folder.join("objects/info/alternates");
            if alternates.exists() {
                self.protected.push(alternates);
            }
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                self.seen += 1;
                if self.seen > MAX_NAMES {
                    self.left_out = true;
                    return;
                }
                let name = entry.file_name();
                if OBEYED_BY_GIT.iter().any(|obeyed| name == *obeyed) {
                    self.protected.push(entry.path());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !WRITTEN_BY_GIT.iter().any(|written| name == *written)
                {
                    folders.push(entry.path());
                }
            }
        }
    }
}

/// In a repository's own folder: what names programs, or another repository.
const OBEYED_BY_GIT: [&str; 6] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "attributes",
];
/// In a repository's own folder: what commits write, which may be much.
const WRITTEN_BY_GIT: [&str; 3] = ["objects", "refs", "logs"];
