//! Control groups of version 2: a tree that is killed as one, and bounds for memory where the system lends them.
//!
//! A group is made below the host's own, which needs root or a delegated group. It is killed and removed with this value.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How often an ending group is looked at.
const PACE: Duration = Duration::from_millis(1);

/// Groups that could not be removed when they should: a process takes a moment to be gone.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A group of one command.
#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
    /// The memory bound that was taken, bytes.
    pub(super) memory: Option<u64>,
    /// The bound of processes that was taken.
    pub(super) processes: Option<u64>,
}

impl Cgroup {
    /// Makes a group below the host's own, with what bounds the system lends there.
    pub(super) fn create(memory: u64, processes: u64) -> io::Result<Self> {
        forget();
        let parent = own_folder()?;
        let folder = parent.join(format!("toolgate-{}", uuid::Uuid::new_v4().simple()));
        fs::create_dir(&folder)?;
        let bound = |file: &str, most: u64| {
            let file = folder.join(file);
            (file.exists() && fs::write(file, most.to_string()).is_ok()).then_some(most)
        };
        let (memory, processes) = (bound("memory.max", memory), bound("pids.max", processes));
        let group = Self {
            folder,
            memory,
            processes,
        };
        // Without this file, which came with Linux 5.14, a group cannot be killed as one.
        if !group.folder.join("cgroup.kill").exists() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(group)
    }

    /// Whether groups that are made here could bound memory.
    pub(super) fn bounds_memory() -> bool {
        let lent = own_folder()
            .and_then(|folder| fs::read_to_string(folder.join("cgroup.subtree_control")));
        lent.is_ok_and(|lent| lent.split_whitespace().any(|name| name == "memory"))
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Kills all that is in it, also what is being made at this moment.
    pub(super) fn kill(&self) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.kill"), "1")
    }

    /// Waits until nothing is in it. Whether that came to be in time.
    pub(super) async fn is_empty_within(&self, longest: Duration) -> bool {
        let deadline = Instant::now() + longest;
        while !self.is_empty() {
            if Instant::now() > deadline {
                return false;
            }
            sleep(PACE).await;
        }
        true
    }

    fn is_empty(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 0"))
    }

    /// One of the processes in it.
    pub(super) fn process(&self) -> Option<u32> {
        let processes = fs::read_to_string(self.folder.join("cgroup.procs")).ok()?;
        processes.lines().next()?.parse().ok()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if !self.is_empty()
            && let Err(error) = self.kill()
        {
            tracing::warn!("{} cannot be killed: {error}", self.folder.display());
        }
        if fs::remove_dir(&self.folder).is_err() {
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.push(std::mem::take(&mut self.folder));
        }
    }
}

/// Removes groups that were left.
fn forget() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|folder| match fs::remove_dir(folder) {
        Ok(()) => false,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    });
}

/// The folder of the group that this process is in.
fn own_folder() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let place = fields.next()?;
        (fields.next()? == "cgroup2").then(|| PathBuf::from(place))
    });
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    match (mount, own) {
        (Some(mount), Some(own)) => Ok(mount.join(own)),
        (_, _) => Err(io::ErrorKind::NotFound.into()),
    }
}
