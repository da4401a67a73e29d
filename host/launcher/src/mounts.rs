//! The file system of a command: everything read-only, roots writable, secrets out of sight, and a `/tmp`, `/run`, `/dev` and
//! `/proc` of its own.
//!
//! Works in a mount namespace of its own and never binds over a path that does not exist, so that nothing of the sandbox is
//! left in the workspace. Order matters: what is writable is taken aside before the tree becomes read-only, the protected names
//! come after the roots that hold them, and what is hidden comes last and wins.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use crate::wire::{Force, Layers, Plan, Step};
use crate::{At as _, Failure, devices, sys};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const INERT: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// Folders that each command has for itself.
pub(crate) const PRIVATE: [&str; 2] = ["/tmp", "/run"];
/// What root could change in `/proc` without any capability.
const PROC_READ_ONLY: [&str; 8] = [
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/mtrr",
    "/proc/acpi",
    "/proc/scsi",
];
/// Since 6.14 a PID namespace has its own limit; before, the write would change the whole machine's.
const OWN_PID_LIMIT: (u32, u32) = (6, 14);

/// A mount that was taken aside.
struct Aside {
    mount: OwnedFd,
    path: PathBuf,
    folder: bool,
}

/// Sets the mounts up.
pub(crate) fn set_up(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    let root = Path::new("/");
    sys::mount_attributes(CWD, c"/", true, 0, libc::MS_PRIVATE)
        .at_path(Step::ReadOnlyRoot, root)?;
    match plan.layers {
        Layers::All => {}
        Layers::Landlock | Layers::Off => return fresh_proc(plan, force),
    }
    let mut roots = Vec::new();
    for (list, attributes) in [(&plan.writable, INERT), (&plan.readable, INERT | READ_ONLY)] {
        for path in list {
            let aside = take_aside(as_path(path))?;
            set_attributes(&aside.mount, attributes).at_path(Step::Root, &aside.path)?;
            roots.push(aside);
        }
    }
    // A root inside of another one is mounted after it.
    roots.sort_by_key(|root| root.path.components().count());
    let devices = devices::take_aside()?;
    sys::mount_attributes(CWD, c"/", true, INERT | READ_ONLY, 0)
        .at_path(Step::ReadOnlyRoot, root)?;
    for folder in PRIVATE {
        private_folder(Path::new(folder), plan.tmp_size)?;
    }
    devices::set_up(devices, plan.tmp_size)?;
    fresh_proc(plan, force)?;
    for root in &roots {
        attach(root)?;
    }
    protect(plan)?;
    hide(plan)
}

pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Opens a real path. Another command that runs in the same workspace may put a link in its way, which is an error here.
fn exactly(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, flags, Mode::empty(), resolve)
}

/// A copy of what is mounted at a real path, and below it.
pub(crate) fn clone_of(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(exactly(path)?, c"", flags)
}

/// Mounts a copy at a real path.
pub(crate) fn place(mount: &OwnedFd, path: &Path) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, c"", exactly(path)?, c"", flags)
}

fn set_attributes(mount: &OwnedFd, set: u64) -> rustix::io::Result<()> {
    sys::mount_attributes(mount.as_fd(), c"", true, set, 0)
}

fn take_aside(path: &Path) -> Result<Aside, Failure> {
    let folder = fs::metadata(path).at_path(Step::Root, path)?.is_dir();
    Ok(Aside {
        mount: clone_of(path).at_path(Step::Root, path)?,
        path: path.to_owned(),
        folder,
    })
}

/// A memory file system of the command's own.
pub(crate) fn memory(path: &Path, options: &str) -> rustix::io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = std::ffi::CString::new(options).unwrap_or_default();
    mount("tmpfs", path, "tmpfs", flags, Some(options.as_c_str()))
}

fn private_folder(path: &Path, size: u64) -> Result<(), Failure> {
    if !path.is_dir() {
        return Ok(());
    }
    let mode = if path == Path::new("/tmp") {
        "1777"
    } else {
        "755"
    };
    memory(path, &format!("mode={mode},size={size}")).at_path(Step::PrivateFolder, path)
}

/// Mounts a root where it was, making the way to it in a private folder.
fn attach(root: &Aside) -> Result<(), Failure> {
    let path = root.path.as_path();
    if !path.exists() {
        let folder = if root.folder {
            Some(path)
        } else {
            path.parent()
        };
        if let Some(folder) = folder {
            fs::create_dir_all(folder).at_path(Step::Root, folder)?;
        }
        if !root.folder {
            fs::write(path, "").at_path(Step::Root, path)?;
        }
    }
    place(&root.mount, path).at_path(Step::Root, path)
}

fn fresh_proc(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    let proc = Path::new("/proc");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if let Err(error) = mount("proc", proc, "proc", flags, None) {
        if !plan.shared_proc {
            return Err(error).at_path(Step::Proc, proc);
        }
        force.shared_proc = true;
        return Ok(());
    }
    bounded_proc(plan, force)
}

/// Bounds the processes of a fresh `/proc`, and covers what root could change there.
pub(crate) fn bounded_proc(plan: &Plan, force: &mut Force) -> Result<(), Failure> {
    // Read back: what counts is what the kernel took.
    let limit = Path::new("/proc/sys/kernel/pid_max");
    if kernel() >= OWN_PID_LIMIT && fs::write(limit, plan.processes.to_string()).is_ok() {
        let taken = fs::read_to_string(limit).unwrap_or_default();
        force.processes = taken.trim().parse().unwrap_or_default();
    }
    for path in PROC_READ_ONLY.map(Path::new) {
        if path.exists() {
            let copy = clone_of(path).at_path(Step::Proc, path)?;
            set_attributes(&copy, READ_ONLY).at_path(Step::Proc, path)?;
            place(&copy, path).at_path(Step::Proc, path)?;
        }
    }
    Ok(())
}

/// The kernel's version; zero where it says something else.
fn kernel() -> (u32, u32) {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy().into_owned();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    )
}

/// The real path of something that exists. What does not, or cannot be reached, needs neither protection nor hiding.
pub(crate) fn existing(path: &Path, step: Step) -> Result<Option<PathBuf>, Failure> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => Ok(None),
            Some(_) | None => Err(error).at_path(step, path),
        },
    }
}

/// Makes the protected names read-only, and pins each folder on the way to them: a folder that holds a mount can be renamed
/// and made anew, one that is a mount itself cannot.
fn protect(plan: &Plan) -> Result<(), Failure> {
    let roots: Vec<&Path> = plan.writable.iter().map(|root| as_path(root)).collect();
    let mut pinned = BTreeSet::new();
    for path in &plan.protected {
        let Some(real) = existing(as_path(path), Step::Protected)? else {
            continue;
        };
        let holding = roots.iter().filter(|root| real.starts_with(root));
        let Some(root) = holding.max_by_key(|root| root.components().count()) else {
            continue;
        };
        let mut way: Vec<&Path> = real
            .ancestors()
            .skip(1)
            .take_while(|folder| folder != root && folder.starts_with(root))
            .collect();
        way.reverse();
        for folder in way {
            if pinned.insert(folder.to_owned()) {
                pin(folder, 0)?;
            }
        }
        pin(&real, READ_ONLY)?;
    }
    Ok(())
}

fn pin(path: &Path, attributes: u64) -> Result<(), Failure> {
    let copy = clone_of(path).at_path(Step::Protected, path)?;
    set_attributes(&copy, attributes).at_path(Step::Protected, path)?;
    place(&copy, path).at_path(Step::Protected, path)
}

/// Covers what is hidden: a file with a device that cannot be opened, a folder with an empty one that nobody may enter.
fn hide(plan: &Plan) -> Result<(), Failure> {
    for path in &plan.hidden {
        let Some(real) = existing(as_path(path), Step::Hidden)? else {
            continue;
        };
        if real.is_dir() {
            cover_folder(&real).at_path(Step::Hidden, &real)?;
        } else {
            let null = clone_of(Path::new("/dev/null")).at_path(Step::Hidden, &real)?;
            set_attributes(&null, INERT | READ_ONLY).at_path(Step::Hidden, &real)?;
            place(&null, &real).at_path(Step::Hidden, &real)?;
        }
    }
    Ok(())
}

fn cover_folder(path: &Path) -> rustix::io::Result<()> {
    let folder = exactly(path)?;
    let place = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("tmpfs", place, "tmpfs", flags, Some(c"mode=0,size=4k"))
}
