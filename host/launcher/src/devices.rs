//! A minimal `/dev`: no disk, no terminal of the host.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, mount};

use crate::mounts::{clone_of, memory, place};
use crate::wire::Step;
use crate::{At as _, Failure, sys};

/// The devices that are there, if the host has them.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// Links that programs expect.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The host's devices, before they are covered.
pub(crate) fn take_aside() -> Result<Vec<(PathBuf, OwnedFd)>, Failure> {
    NODES
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .filter(|path| path.exists())
        .map(|path| {
            let node = clone_of(&path).at_path(Step::Devices, &path)?;
            Ok((path, node))
        })
        .collect()
}

/// Covers `/dev`.
pub(crate) fn set_up(nodes: Vec<(PathBuf, OwnedFd)>, size: u64) -> Result<(), Failure> {
    let dev = Path::new("/dev");
    memory(dev, "mode=755,size=64k").at_path(Step::Devices, dev)?;
    for (path, node) in nodes {
        fs::write(&path, "").at_path(Step::Devices, &path)?;
        place(&node, &path).at_path(Step::Devices, &path)?;
    }
    for (name, target) in LINKS {
        let path = dev.join(name);
        symlink(target, &path).at_path(Step::Devices, &path)?;
    }
    let (terminals, shared) = (dev.join("pts"), dev.join("shm"));
    for folder in [&terminals, &shared] {
        fs::create_dir(folder).at_path(Step::Devices, folder)?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", &terminals, "devpts", flags, Some(options))
        .at_path(Step::Devices, &terminals)?;
    memory(&shared, &format!("mode=1777,size={size}")).at_path(Step::Devices, &shared)?;
    sys::mount_attributes(CWD, c"/dev", false, libc::MOUNT_ATTR_RDONLY, 0)
        .at_path(Step::Devices, dev)
}
