//! The tables `[tools.NAME]`: what the operator sets for one tool, in words of that tool.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::ConfigError;
use super::keep::keep_in;
use super::reading::Reading;
use super::settings::Config;

/// The most settings of one tool.
const MAX_SETTINGS: usize = 64;
/// The longest name and the longest value, bytes.
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 4_096;

/// What is set for one tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Tool {
    /// Texts that the tool may read, by names that it documents. Nothing secret: a credential is put into requests by the
    /// host, and no tool has it.
    #[schemars(with = "BTreeMap<String, String>")]
    settings: BTreeMap<String, Spanned<String>>,
}

/// Adds what a file says.
///
/// # Errors
/// A name or a value is too long, or there are too many.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    tools: BTreeMap<String, Tool>,
) -> Result<(), ConfigError> {
    for (tool, Tool { settings }) in tools {
        let known = config.tool_settings.entry(tool.clone()).or_default();
        for (name, value) in settings {
            let at = value.span().start;
            let wrong = |what: String| {
                Err(reading.wrong(at, format!("in [tools.{tool}.settings], {what}")))
            };
            if name.is_empty() || name.len() > MAX_NAME {
                return wrong(format!("a name has {} bytes: 1 to {MAX_NAME}", name.len()));
            }
            let length = value.get_ref().len();
            if length > MAX_VALUE {
                return wrong(format!(
                    "'{}' has {length} bytes, and {MAX_VALUE} is the most",
                    name.escape_debug()
                ));
            }
            keep_in(known, name, reading.sourced(value));
            if known.len() > MAX_SETTINGS {
                return wrong(format!("there are more than {MAX_SETTINGS} settings"));
            }
        }
    }
    Ok(())
}
