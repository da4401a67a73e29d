//! Ending a tree without a namespace: adopt what is left behind, and kill until no child is left.
//!
//! A process that forks as fast as it is killed can outrun one pass, so passes are repeated until the system says that there
//! is no child, or five seconds have passed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// How long a sweep may take.
const LONGEST: Duration = Duration::from_secs(5);
/// Flag of a process that is on its way out, in the ninth field of its `stat`.
const EXITING: u64 = 0x4;

/// A process as `/proc` shows it.
pub(crate) struct Process {
    pub(crate) id: Pid,
    parent: i32,
    /// Neither ended nor on its way out.
    pub(crate) lives: bool,
}

/// Makes this process the parent of all descendants whose own parent ends.
pub(crate) fn adopt() -> Result<(), Errno> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// All processes that this one sees.
pub(crate) fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(process)
        .collect()
}

fn process(id: i32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in parentheses and may hold any character.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let flags: u64 = fields.nth(4)?.parse().ok()?;
    Some(Process {
        id: Pid::from_raw(id)?,
        parent,
        lives: !matches!(state, "Z" | "X") && flags & EXITING == 0,
    })
}

/// All processes below this one.
pub(crate) fn descendants() -> Vec<Process> {
    let all = processes();
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in &all {
        let id = process.id.as_raw_nonzero().get();
        children.entry(process.parent).or_default().push(id);
    }
    let mut below = BTreeSet::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if below.insert(*child) {
                next.push(*child);
            }
        }
    }
    all.into_iter()
        .filter(|process| below.contains(&process.id.as_raw_nonzero().get()))
        .collect()
}

/// Kills until no child is left. Gives how many processes were left at the end, and one of them.
pub(crate) fn sweep() -> (u32, u32) {
    let begun = Instant::now();
    loop {
        for process in descendants() {
            // One that is gone already is what was wanted; any other refusal shows in what is left.
            if kill_process(process.id, Signal::KILL) == Err(Errno::SRCH) {
                continue;
            }
        }
        if is_childless() {
            return (0, 0);
        }
        if begun.elapsed() > LONGEST {
            break;
        }
    }
    let left = descendants();
    let first = left.first().map(|process| process.id.as_raw_nonzero());
    let first = first.map_or(0, |id| u32::try_from(id.get()).unwrap_or_default());
    (u32::try_from(left.len()).unwrap_or(u32::MAX), first)
}

/// Buries what has ended, for a moment also what is about to, and says whether no child is left at all.
fn is_childless() -> bool {
    for _ in 0..64 {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return true,
            Ok(None) => std::thread::yield_now(),
            Ok(Some(_)) | Err(_) => {}
        }
    }
    false
}
