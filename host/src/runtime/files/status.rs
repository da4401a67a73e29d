//! What the system says of a file, in the same types on every system.

use rustix::fs::Stat;

/// The device that it is on.
#[cfg(target_os = "linux")]
pub(super) fn device(stat: &Stat) -> u64 {
    stat.st_dev
}

/// The device that it is on.
#[cfg(not(target_os = "linux"))]
pub(super) fn device(stat: &Stat) -> u64 {
    u64::from(stat.st_dev.cast_unsigned())
}

/// Its kind and its permissions.
#[cfg(target_os = "linux")]
pub(super) fn mode(stat: &Stat) -> u32 {
    stat.st_mode
}

/// Its kind and its permissions.
#[cfg(not(target_os = "linux"))]
pub(super) fn mode(stat: &Stat) -> u32 {
    u32::from(stat.st_mode)
}
