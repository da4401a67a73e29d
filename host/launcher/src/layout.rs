//! The mounts of a plan as bubblewrap's arguments, and a look at what came of them.
//!
//! The same file system as `mounts` makes, with one difference: bubblewrap takes what it binds from the host's own tree, so that
//! a later bind covers an earlier one below it. What may be written therefore never comes after what may not on the same way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, StatxFlags};
use rustix::io::Errno;

use crate::bubblewrap::argument;
use crate::mounts::{self, PRIVATE, as_path, existing};
use crate::wire::{Force, Plan, Step};
use crate::{At as _, Failure};

/// Folders that the sandbox makes anew.
const OWN: [&str; 4] = ["/tmp", "/run", "/dev", "/proc"];
/// Attribute of a file at which something is mounted.
const MOUNT_ROOT: u64 = 0x2000;
/// Named so in `/proc/net/dev`.
const LOOPBACK: &str = "lo";

/// How a path is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bind {
    /// A root that may be written.
    Writable,
    /// A folder on the way to a protected name: it cannot be renamed.
    Pinned,
    /// A root that may be read.
    Readable,
    /// A name that nothing changes, with all below it.
    Protected,
}

impl Bind {
    fn option(self) -> &'static str {
        match self {
            Self::Writable | Self::Pinned => "--bind",
            Self::Readable | Self::Protected => "--ro-bind",
        }
    }

    fn is_root(self) -> bool {
        matches!(self, Self::Writable | Self::Readable)
    }
}

/// All binds and covers, the upper ones first.
struct Layout {
    binds: Vec<(PathBuf, Bind)>,
    hidden: Vec<PathBuf>,
}

impl Layout {
    fn of(plan: &Plan) -> Result<Self, Failure> {
        let mut binds = BTreeMap::new();
        for (list, bind) in [
            (&plan.writable, Bind::Writable),
            (&plan.readable, Bind::Readable),
        ] {
            // What is both is read-only, as where the second one is mounted over the first.
            binds.extend(list.iter().map(|path| (as_path(path).to_owned(), bind)));
        }
        let mut protected = real(&plan.protected, Step::Protected)?;
        protected.retain(|path| nearest(&binds, path, Bind::is_root) == Some(Bind::Writable));
        for path in &protected {
            let roots = path.ancestors().filter(|at| is_root(&binds, at));
            let root = roots.max_by_key(|root| root.components().count());
            let way = path.ancestors().skip(1);
            let way: Vec<PathBuf> = way
                .take_while(|folder| Some(*folder) != root)
                .map(Path::to_owned)
                .collect();
            for folder in way {
                binds.entry(folder).or_insert(Bind::Pinned);
            }
        }
        binds.extend(protected.into_iter().map(|path| (path, Bind::Protected)));
        let mut hidden = real(&plan.hidden, Step::Hidden)?;
        hidden.retain(|path| is_seen(&binds, path));
        Ok(Self {
            binds: ordered(binds),
            hidden: outermost(hidden),
        })
    }
}

/// The real paths of those that exist, each once.
fn real(paths: &[Vec<u8>], step: Step) -> Result<Vec<PathBuf>, Failure> {
    let mut real = Vec::new();
    for path in paths {
        real.extend(existing(as_path(path), step)?);
    }
    real.sort();
    real.dedup();
    Ok(real)
}

fn is_root(binds: &BTreeMap<PathBuf, Bind>, path: &Path) -> bool {
    binds.get(path).is_some_and(|bind| bind.is_root())
}

/// The bind nearest above a path, or at it, among some.
fn nearest(
    binds: &BTreeMap<PathBuf, Bind>,
    path: &Path,
    among: impl Fn(Bind) -> bool,
) -> Option<Bind> {
    let mut above = path.ancestors();
    above.find_map(|at| binds.get(at).copied().filter(|bind| among(*bind)))
}

/// Whether a path of the host is there inside.
fn is_seen(binds: &BTreeMap<PathBuf, Bind>, path: &Path) -> bool {
    nearest(binds, path, Bind::is_root).is_some() || !OWN.iter().any(|own| path.starts_with(own))
}

/// Without what lies below a protected name, which is bound with it.
fn ordered(binds: BTreeMap<PathBuf, Bind>) -> Vec<(PathBuf, Bind)> {
    let protected: Vec<PathBuf> = binds
        .iter()
        .filter(|(_, bind)| **bind == Bind::Protected)
        .map(|(path, _)| path.clone())
        .collect();
    let below = |path: &Path| {
        let mut above = path.ancestors().skip(1);
        above.any(|at| {
            protected
                .binary_search_by(|known| known.as_path().cmp(at))
                .is_ok()
        })
    };
    let mut binds: Vec<_> = binds.into_iter().filter(|(path, _)| !below(path)).collect();
    binds.sort_by_key(|(path, _)| path.components().count());
    binds
}

/// Without what lies below another one, which covers it.
fn outermost(sorted: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in sorted {
        if !kept.last().is_some_and(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

/// Bubblewrap's arguments for a plan, without the command.
pub(crate) fn arguments(plan: &Plan) -> Result<Vec<Vec<u8>>, Failure> {
    let layout = Layout::of(plan)?;
    let size = plan.tmp_size.to_string();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut add = |words: &[&str]| lines.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    add(&[
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]);
    if !plan.network {
        add(&["--unshare-net"]);
    }
    add(&["--as-pid-1", "--chdir", "/", "--ro-bind", "/", "/"]);
    for folder in PRIVATE.into_iter().filter(|at| Path::new(at).is_dir()) {
        let mode = if folder == "/tmp" { "1777" } else { "0755" };
        add(&["--perms", mode, "--size", &size, "--tmpfs", folder]);
    }
    add(&["--dev", "/dev"]);
    add(&["--perms", "1777", "--size", &size, "--tmpfs", "/dev/shm"]);
    add(&["--remount-ro", "/dev", "--proc", "/proc"]);
    // Root bounds and covers it from inside. Anybody else would find a bound there that they can lift, and no way to cover it.
    if !rustix::process::geteuid().is_root() {
        add(&["--ro-bind", "/proc/sys", "/proc/sys"]);
    }
    for (path, bind) in &layout.binds {
        lines.push(bind.option().into());
        lines.extend([argument(path), argument(path)]);
    }
    for path in &layout.hidden {
        hide(path, &mut lines);
    }
    Ok(lines)
}

/// A file is covered with a device that cannot be opened, a folder with an empty one that nobody may enter.
fn hide(path: &Path, lines: &mut Vec<Vec<u8>>) {
    let mut add = |words: &[&str]| lines.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    if path.is_dir() {
        add(&["--perms", "0000", "--size", "4096", "--tmpfs"]);
        lines.push(argument(path));
        lines.push("--remount-ro".into());
    } else {
        add(&["--ro-bind", "/dev/null"]);
    }
    lines.push(argument(path));
}

/// Looks at what bubblewrap made, from inside, and bounds what only root could bound.
pub(crate) fn check(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    read_only(Path::new("/"), Step::ReadOnlyRoot)?;
    let layout = Layout::of(plan)?;
    for (path, bind) in &layout.binds {
        match bind {
            Bind::Writable => mounted(path, Step::Root)?,
            Bind::Pinned => mounted(path, Step::Protected)?,
            Bind::Readable => {
                mounted(path, Step::Root)?;
                read_only(path, Step::Root)?;
            }
            Bind::Protected => {
                mounted(path, Step::Protected)?;
                read_only(path, Step::Protected)?;
            }
        }
    }
    for path in &layout.hidden {
        mounted(path, Step::Hidden)?;
    }
    if !plan.network {
        alone()?;
    }
    match rustix::process::geteuid().is_root() {
        true => mounts::bounded_proc(plan, force),
        false => read_only(Path::new("/proc/sys"), Step::Proc),
    }
}

fn mounted(path: &Path, step: Step) -> Result<(), Failure> {
    let open = || -> rustix::io::Result<bool> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let file = rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve)?;
        let found = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::TYPE)?;
        Ok(found.stx_attributes.bits() & MOUNT_ROOT != 0)
    };
    match open().at_path(step, path)? {
        true => Ok(()),
        false => Err(Errno::NODATA).at_path(step, path),
    }
}

fn read_only(path: &Path, step: Step) -> Result<(), Failure> {
    let found = rustix::fs::statvfs(path).at_path(step, path)?;
    match found.f_flag.contains(StatVfsMountFlags::RDONLY) {
        true => Ok(()),
        false => Err(Errno::ROFS).at_path(step, path),
    }
}

/// Nothing but a loopback is there.
fn alone() -> Result<(), Failure> {
    let table = Path::new("/proc/net/dev");
    let text = std::fs::read_to_string(table).at_path(Step::Loopback, table)?;
    let mut names = text.lines().filter_map(|line| line.split_once(':'));
    match names.all(|(name, _)| name.trim() == LOOPBACK) {
        true => Ok(()),
        false => Err(Errno::NOTUNIQ).at_path(Step::Loopback, table),
    }
}
