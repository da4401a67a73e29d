//! `[limits]`: bounds of every call, and those of one tool. One list of keys makes the tables of the file, the setting
//! and the walk over it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep;
use super::reading::Reading;
use super::settings::Config;
use super::source::{Sourced, nearer};
use crate::model::Bound;

macro_rules! bounds {
    ($($(#[doc = $doc:literal])+ $key:ident => $bound:ident,)+) => {
        /// Bounds of calls, as far as they are set.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct LimitSetting {
            $($(#[doc = $doc])+ pub $key: Option<Sourced<u64>>,)+
        }

        impl LimitSetting {
            /// Every bound, with its setting if there is one.
            pub fn each(&self) -> impl Iterator<Item = (Bound, Option<&Sourced<u64>>)> {
                [$((Bound::$bound, self.$key.as_ref()),)+].into_iter()
            }

            fn slots(&mut self) -> impl Iterator<Item = (Bound, &mut Option<Sourced<u64>>)> {
                [$((Bound::$bound, &mut self.$key),)+].into_iter()
            }
        }

        /// Bounds of a call.
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct Limits {
            $($(#[doc = $doc])+ #[schemars(with = "Option<u64>")] $key: Option<Spanned<u64>>,)+
            /// For one tool, by its name.
            tools: BTreeMap<String, ToolLimits>,
        }

        /// Bounds of the calls of one tool.
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        struct ToolLimits {
            $($(#[doc = $doc])+ #[schemars(with = "Option<u64>")] $key: Option<Spanned<u64>>,)+
        }

        impl Limits {
            fn parts(self) -> (ToolLimits, BTreeMap<String, ToolLimits>) {
                (ToolLimits { $($key: self.$key,)+ }, self.tools)
            }
        }

        impl ToolLimits {
            fn each(self) -> impl Iterator<Item = Option<Spanned<u64>>> {
                [$(self.$key,)+].into_iter()
            }
        }
    };
}

bounds! {
    /// Wall clock, milliseconds, 1,000 to 600,000. Default 120,000.
    timeout_ms => Timeout,
    /// Wasm instructions, 10^6 to 10^15. Default 10^11.
    fuel => Fuel,
    /// Memory and tables together, MiB, 1 to 1,024. Default 256.
    memory_mib => Memory,
    /// Elements of all tables together, 1,000 to 1,000,000. Default 200,000.
    table_elements => TableElements,
    /// Instances of core modules, 1 to 64. Default 64.
    instances => Instances,
    /// Handles of the guest, and things that the host holds for it, 16 to 10,000. Default 1,000.
    handles => Handles,
    /// What one call of the guest to the host, or its result, makes the host allocate, MiB, 1 to 256. Default 72.
    transfer_mib => Transfer,
    /// Random bytes of a call together, MiB, 1 to 64. Default 16.
    random_mib => Random,
    /// Lines of stdout, stderr and log that are kept, 0 to 10,000, of 4 KiB each. Default 1,000.
    log_lines => LogLines,
    /// The result before it is cut for the model, MiB, 1 to 64. Default 32.
    result_mib => Result,
}

impl LimitSetting {
    /// A tool's own bounds, and those of all tools where it has none, or where an administrator says so.
    pub(super) fn nearer(own: &Self, all: &Self) -> Self {
        let mut nearest = Self::default();
        let settings = own.each().zip(all.each());
        for ((_, slot), ((_, own), (_, all))) in nearest.slots().zip(settings) {
            *slot = nearer(own, all).cloned();
        }
        nearest
    }
}

/// Adds what a file says.
///
/// # Errors
/// A value out of its range, where its line is known.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    limits: Limits,
) -> Result<(), ConfigError> {
    let (all, tools) = limits.parts();
    keep_limits(&mut config.limits, reading, "limits", all)?;
    for (tool, limits) in tools {
        let table = format!("limits.tools.{tool}");
        let setting = config.limits_of.entry(tool).or_default();
        keep_limits(setting, reading, &table, limits)?;
    }
    Ok(())
}

/// Keeps what is set, key by key.
fn keep_limits(
    setting: &mut LimitSetting,
    reading: &Reading<'_>,
    table: &str,
    limits: ToolLimits,
) -> Result<(), ConfigError> {
    for ((bound, slot), given) in setting.slots().zip(limits.each()) {
        let Some(given) = given else { continue };
        let given = reading.sourced(given);
        if let Err(error) = bound.check(given.value) {
            return Err(given.source.wrong(format!("in [{table}], {error}")));
        }
        keep(slot, Some(given));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_its_key_in_the_file() {
        let setting = LimitSetting::default();
        let bounds: Vec<Bound> = setting.each().map(|(bound, _)| bound).collect();
        assert_eq!(bounds, Bound::ALL);
        let schema = schemars::schema_for!(Limits).to_value();
        for bound in Bound::ALL {
            let described = &schema["properties"][bound.key()]["description"];
            let (low, high) = bound.range();
            let described = described.as_str().unwrap().replace(',', "");
            let range = match bound {
                Bound::Fuel => "10^6 to 10^15".to_owned(),
                _ => format!("{low} to {high}"),
            };
            assert!(described.contains(&range), "{bound}: {described}");
        }
    }
}
