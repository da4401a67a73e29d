//! Bounds of a call. Each has a default, a setting for each tool, and a hard maximum that no setting passes.

use std::time::Duration;

use serde::Serialize;

/// A wall-clock deadline, 1 s to 600 s by construction; 120 s by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Timeout(Duration);

/// A budget of executed Wasm instructions, 1 million to 10^15; 10^11 by default, which is about a minute of computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Fuel(u64);

/// Bytes over all memories and tables of an instance together, 1 MiB to 1 GiB; 256 MiB by default. The default holds
/// a JavaScript or Python guest (measured: 9 to 13 MiB before any work).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct MemoryLimit(usize);

/// A setting outside the range of its bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {given}, but must be from {low} to {high}")]
pub struct LimitError {
    what: &'static str,
    given: u64,
    low: u64,
    high: u64,
}

fn within(what: &'static str, given: u64, low: u64, high: u64) -> Result<u64, LimitError> {
    if (low..=high).contains(&given) {
        Ok(given)
    } else {
        Err(LimitError {
            what,
            given,
            low,
            high,
        })
    }
}

impl Timeout {
    /// The longest.
    pub const LONGEST: Self = Self(Duration::from_secs(600));

    /// From milliseconds.
    ///
    /// # Errors
    /// Outside 1,000 to 600,000.
    pub fn from_millis(millis: u64) -> Result<Self, LimitError> {
        within("the deadline in milliseconds", millis, 1_000, 600_000)
            .map(|ok| Self(Duration::from_millis(ok)))
    }

    /// As a duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl Default for Timeout {
    fn default() -> Self {
        Self(Duration::from_secs(120))
    }
}

impl Fuel {
    /// From a number of instructions.
    ///
    /// # Errors
    /// Outside 10^6 to 10^15.
    pub fn new(units: u64) -> Result<Self, LimitError> {
        within("the fuel", units, 1_000_000, 1_000_000_000_000_000).map(Self)
    }

    /// The number of instructions.
    pub fn units(self) -> u64 {
        self.0
    }
}

impl Default for Fuel {
    fn default() -> Self {
        Self(100_000_000_000)
    }
}

impl MemoryLimit {
    /// The hard maximum, bytes.
    pub const MAX: usize = 1 << 30;

    /// From mebibytes.
    ///
    /// # Errors
    /// Outside 1 to 1,024.
    pub fn from_mebibytes(mebibytes: u64) -> Result<Self, LimitError> {
        let checked = within(
            "the memory limit in MiB",
            mebibytes,
            1,
            (Self::MAX >> 20) as u64,
        )?;
        Ok(Self(usize::try_from(checked << 20).unwrap_or(Self::MAX)))
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        self.0
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self(256 << 20)
    }
}

/// All bounds of a call that are settings. The fixed ones stand beside the code that keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Around instantiating, running and draining.
    pub timeout: Timeout,
    /// Instructions.
    pub fuel: Fuel,
    /// Memory and tables.
    pub memory: MemoryLimit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_cannot_be_out_of_range() {
        assert!(Timeout::from_millis(0).is_err());
        assert!(Timeout::from_millis(999).is_err());
        assert!(Timeout::from_millis(600_001).is_err());
        assert_eq!(
            Timeout::from_millis(1_000).unwrap().duration(),
            Duration::from_secs(1)
        );
        assert!(Fuel::new(0).is_err());
        assert!(MemoryLimit::from_mebibytes(0).is_err());
        assert!(MemoryLimit::from_mebibytes(1_025).is_err());
        assert_eq!(MemoryLimit::from_mebibytes(1).unwrap().bytes(), 1 << 20);
    }
}
