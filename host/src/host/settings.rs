//! Settings of one tool, looked up, and names in settings that no tool has.

use std::collections::BTreeMap;

use crate::config::{Config, LimitSetting};
use crate::error::HostError;
use crate::model::{Fuel, LimitError, Limits, MemoryLimit, Timeout, suggestion};
use crate::policy::SchemaMode;

/// The bounds of a tool's calls.
pub(super) fn limits(config: &Config, tool: &str) -> Result<Limits, LimitError> {
    let own = config.limits_of.get(tool).copied().unwrap_or_default();
    let pick = |of: fn(&LimitSetting) -> Option<u64>| of(&own).or(of(&config.limits));
    let mut limits = Limits::default();
    if let Some(millis) = pick(|setting| setting.timeout_ms) {
        limits.timeout = Timeout::from_millis(millis)?;
    }
    if let Some(units) = pick(|setting| setting.fuel) {
        limits.fuel = Fuel::new(units)?;
    }
    if let Some(mebibytes) = pick(|setting| setting.memory_mib) {
        limits.memory = MemoryLimit::from_mebibytes(mebibytes)?;
    }
    Ok(limits)
}

/// How a tool's schema is enforced.
pub(super) fn schema_mode(config: &Config, tool: &str) -> SchemaMode {
    config
        .schema_of
        .get(tool)
        .copied()
        .or(config.schema)
        .unwrap_or_default()
}

/// Every name in a table must be a tool's: a setting that binds nothing is a typing error.
pub(super) fn check_names(config: &Config, tools: &[String]) -> Result<(), HostError> {
    fn keys<V>(map: &BTreeMap<String, V>) -> Vec<&str> {
        map.keys().map(String::as_str).collect()
    }
    let hooks = [&config.pre_hooks, &config.post_hooks, &config.failure_hooks];
    let hooked: Vec<&str> = hooks
        .into_iter()
        .flatten()
        .flat_map(|hook| hook.tools.iter().map(String::as_str))
        .collect();
    for (table, names) in [
        ("table [schema.tools]", keys(&config.schema_of)),
        ("table [limits.tools]", keys(&config.limits_of)),
        ("'tools' of a hook", hooked),
    ] {
        if let Some(unknown) = names
            .into_iter()
            .find(|name| !tools.iter().any(|tool| tool == name))
        {
            return Err(HostError::UnknownTool {
                table,
                tool: unknown.to_owned(),
                suggestion: suggestion(unknown, tools.iter().map(String::as_str)),
            });
        }
    }
    Ok(())
}
