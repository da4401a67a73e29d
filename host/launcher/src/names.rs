//! Namespaces and the control group: where the tree lives.

use std::fs;
use std::path::Path;

use rustix::thread::UnshareFlags;

use crate::wire::{Hold, Plan, Step};
use crate::{At as _, Failure, sys};

/// Enters new namespaces; the next process that is made is the first of the new PID namespace.
pub(crate) fn enter(plan: &Plan) -> Result<(), Failure> {
    if plan.hold == Hold::UserNamespace {
        own_user()?;
    }
    let mut flags = UnshareFlags::NEWPID
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if !plan.network {
        flags |= UnshareFlags::NEWNET;
    }
    sys::unshare(flags).at(Step::Namespaces)
}

/// A user namespace in which this user is who they were.
fn own_user() -> Result<(), Failure> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    sys::unshare(UnshareFlags::NEWUSER).at(Step::UserNamespace)?;
    let write = |file: &str, text: String| {
        let file = Path::new(file);
        fs::write(file, text).at_path(Step::Identity, file)
    };
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Joins a control group, so that everything made from here on is in it.
pub(crate) fn join(group: &[u8]) -> Result<(), Failure> {
    use std::os::unix::ffi::OsStrExt as _;
    let procs = Path::new(std::ffi::OsStr::from_bytes(group)).join("cgroup.procs");
    fs::write(&procs, "0").at_path(Step::Cgroup, &procs)
}
