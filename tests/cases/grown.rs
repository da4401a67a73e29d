//! How much a process grows while something happens in it. Meaningful only where nothing else happens: in a process of the
//! case's own.

use std::fs;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::Meanwhile;

/// What was taken at most, beyond what was there before.
#[derive(Debug)]
pub(crate) struct Grown {
    /// Bytes of resident memory.
    pub(crate) memory: u64,
    /// File descriptors.
    pub(crate) descriptors: usize,
}

/// Does something and measures it.
pub(crate) async fn grown<T>(what: impl Future<Output = T>) -> (T, Grown) {
    let before = memory("VmRSS:");
    // Sets the peak back to what is held now.
    fs::write("/proc/self/clear_refs", "5").expect("the peak is set back");
    let open = descriptors();
    let most = Arc::new(AtomicUsize::new(open));
    let peak = Arc::clone(&most);
    let watching = Meanwhile::start(move |_| {
        peak.fetch_max(descriptors(), Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
    });
    let done = what.await;
    watching.stop();
    let grown = Grown {
        memory: memory("VmHWM:").saturating_sub(before),
        descriptors: most.load(Ordering::Relaxed).saturating_sub(open),
    };
    (done, grown)
}

/// One line of the process's own status, bytes.
pub(crate) fn memory(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the own status");
    let found = status.lines().find_map(|found| found.strip_prefix(line));
    let kibibytes = found.expect("the line").trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().expect("a number") << 10
}

/// Open descriptors.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd")
        .expect("the own descriptors")
        .count()
}

/// Threads.
pub(crate) fn threads() -> usize {
    fs::read_dir("/proc/self/task")
        .expect("the own threads")
        .count()
}
