//! Bounds of a call. Each has a default, a setting for each tool, and a hard maximum that no setting passes.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// A bound that is a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// The wall clock.
    Timeout,
    /// Executed instructions.
    Fuel,
    /// Bytes of memories and tables.
    Memory,
    /// Elements of tables.
    TableElements,
    /// Instances of core modules.
    Instances,
    /// Handles that the guest or the host holds for it.
    Handles,
    /// Bytes that one call of the guest makes the host allocate.
    Transfer,
    /// Random bytes.
    Random,
    /// Lines of the guest's log.
    LogLines,
    /// Bytes of the result.
    Result,
}

impl Bound {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Timeout,
        Self::Fuel,
        Self::Memory,
        Self::TableElements,
        Self::Instances,
        Self::Handles,
        Self::Transfer,
        Self::Random,
        Self::LogLines,
        Self::Result,
    ];

    /// Its key in `[limits]` and `[limits.tools.NAME]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Timeout => "timeout_ms",
            Self::Fuel => "fuel",
            Self::Memory => "memory_mib",
            Self::TableElements => "table_elements",
            Self::Instances => "instances",
            Self::Handles => "handles",
            Self::Transfer => "transfer_mib",
            Self::Random => "random_mib",
            Self::LogLines => "log_lines",
            Self::Result => "result_mib",
        }
    }

    /// What it counts, in the words of an error.
    fn what(self) -> &'static str {
        match self {
            Self::Timeout => "the deadline in milliseconds",
            Self::Fuel => "the fuel",
            Self::Memory => "the memory limit in MiB",
            Self::TableElements => "the number of table elements",
            Self::Instances => "the number of instances",
            Self::Handles => "the number of handles",
            Self::Transfer => "the limit of one transfer in MiB",
            Self::Random => "the limit of random bytes in MiB",
            Self::LogLines => "the number of log lines",
            Self::Result => "the limit of the result in MiB",
        }
    }

    /// The least and the most that a setting can be, in the unit of its key.
    pub fn range(self) -> (u64, u64) {
        match self {
            Self::Timeout => (1_000, 600_000),
            Self::Fuel => (1_000_000, 1_000_000_000_000_000),
            Self::Memory => (1, (MemoryLimit::MAX >> 20) as u64),
            // A table takes 8 bytes an element in the host.
            Self::TableElements => (1_000, 1_000_000),
            // What the engine has room for in one component; CPython's has 38.
            Self::Instances => (1, MAX_INSTANCES),
            Self::Handles => (16, 10_000),
            Self::Transfer => (1, 256),
            Self::Random => (1, 64),
            // A line has 4 KiB.
            Self::LogLines => (0, 10_000),
            Self::Result => (1, 64),
        }
    }

    /// Whether a setting can be this.
    ///
    /// # Errors
    /// It is out of range.
    pub fn check(self, given: u64) -> Result<u64, LimitError> {
        let (low, high) = self.range();
        if (low..=high).contains(&given) {
            Ok(given)
        } else {
            Err(LimitError {
                what: self.what(),
                given,
                low,
                high,
            })
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limits.{}", self.key())
    }
}

/// The most instances of core modules that one component is given.
pub const MAX_INSTANCES: u64 = 64;

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

/// A number within the range of its bound, in the bound's own unit: elements, instances, handles, lines, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Count(usize);

/// A setting outside the range of its bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {given}, but must be from {low} to {high}")]
pub struct LimitError {
    what: &'static str,
    given: u64,
    low: u64,
    high: u64,
}

impl Timeout {
    /// The longest.
    pub const LONGEST: Self = Self(Duration::from_secs(600));

    /// From milliseconds.
    ///
    /// # Errors
    /// Outside 1,000 to 600,000.
    pub fn from_millis(millis: u64) -> Result<Self, LimitError> {
        let checked = Bound::Timeout.check(millis)?;
        Ok(Self(Duration::from_millis(checked)))
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
        Bound::Fuel.check(units).map(Self)
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

    /// What a hook has.
    pub const OF_A_HOOK: Self = Self(64 << 20);

    /// From mebibytes.
    ///
    /// # Errors
    /// Outside 1 to 1,024.
    pub fn from_mebibytes(mebibytes: u64) -> Result<Self, LimitError> {
        let checked = Bound::Memory.check(mebibytes)?;
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

impl Count {
    /// The number.
    pub fn get(self) -> usize {
        self.0
    }
}

/// All bounds of a call that are settings. The fixed ones stand beside the code that keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Around instantiating, running and draining.
    pub timeout: Timeout,
    /// Instructions.
    pub fuel: Fuel,
    /// Memory and tables.
    pub memory: MemoryLimit,
    /// Elements of all tables together; 200,000 by default. One table has at most 20,000 where memory is pooled.
    pub table_elements: Count,
    /// Instances of core modules; 64 by default.
    pub instances: Count,
    /// Handles that the guest holds, and as many things of its own that the host holds; 1,000 by default.
    pub handles: Count,
    /// Bytes that one call of the guest to the host, or its result, makes the host allocate; 72 MiB by default, which a
    /// file to write of 64 MiB needs.
    pub transfer: Count,
    /// Random bytes of a call together; 16 MiB by default.
    pub random: Count,
    /// Lines of the log that are kept, of 4 KiB each; 1,000 by default. What is over is counted, and the call goes on.
    pub log_lines: Count,
    /// Bytes of the result before anything is cut; 32 MiB by default.
    pub result: Count,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Timeout::default(),
            fuel: Fuel::default(),
            memory: MemoryLimit::default(),
            table_elements: Count(200_000),
            instances: Count(64),
            handles: Count(1_000),
            transfer: Count(72 << 20),
            random: Count(16 << 20),
            log_lines: Count(1_000),
            result: Count(32 << 20),
        }
    }
}

impl Limits {
    /// Sets one bound, in the unit of its key.
    ///
    /// # Errors
    /// Out of its range; nothing is changed.
    pub fn set(&mut self, bound: Bound, given: u64) -> Result<(), LimitError> {
        let checked = usize::try_from(bound.check(given)?).unwrap_or(usize::MAX);
        let mebibytes = || Count(checked << 20);
        match bound {
            Bound::Timeout => self.timeout = Timeout::from_millis(given)?,
            Bound::Fuel => self.fuel = Fuel::new(given)?,
            Bound::Memory => self.memory = MemoryLimit::from_mebibytes(given)?,
            Bound::TableElements => self.table_elements = Count(checked),
            Bound::Instances => self.instances = Count(checked),
            Bound::Handles => self.handles = Count(checked),
            Bound::Transfer => self.transfer = mebibytes(),
            Bound::Random => self.random = mebibytes(),
            Bound::LogLines => self.log_lines = Count(checked),
            Bound::Result => self.result = mebibytes(),
        }
        Ok(())
    }
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

    #[test]
    fn each_bound_takes_its_range_and_nothing_else() {
        for bound in Bound::ALL {
            let (low, high) = bound.range();
            let mut limits = Limits::default();
            for good in [low, high] {
                limits.set(bound, good).unwrap();
            }
            let set = limits;
            for bad in [low.checked_sub(1), high.checked_add(1), Some(u64::MAX)] {
                let Some(bad) = bad else { continue };
                let said = limits.set(bound, bad).unwrap_err().to_string();
                let range = format!("must be from {low} to {high}");
                assert!(said.ends_with(&range), "{bound}: {said}");
                assert_eq!(limits, set, "{bound}: {bad} changed something");
            }
        }
    }

    #[test]
    fn each_default_is_in_its_range_and_each_setting_changes_one_bound() {
        let default = serde_json::to_value(Limits::default()).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for bound in Bound::ALL {
            let mut limits = Limits::default();
            limits.set(bound, bound.range().0).unwrap();
            let set = serde_json::to_value(limits).unwrap();
            let fields = set.as_object().unwrap().iter();
            let changed: Vec<&String> = fields
                .filter(|(field, value)| default[field.as_str()] != **value)
                .map(|(field, _)| field)
                .collect();
            assert_eq!(changed.len(), 1, "{bound}: {changed:?}");
            assert!(seen.insert(changed[0].clone()), "{bound}: {changed:?}");
        }
        assert_eq!(seen.len(), default.as_object().unwrap().len());
    }
}
