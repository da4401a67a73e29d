//! `[plain.NAME]`: what the operator says of a tool that is a function of a plain component, and lets it reach.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep;
use super::reading::Reading;
use super::settings::Config;
use super::source::Sourced;

/// What a plain function is given of the files that tools may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlainFiles {
    /// Nothing.
    #[default]
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// What is said of one plain function, as far as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlainSetting {
    /// Its description, in the place of the component's.
    pub description: Option<Sourced<String>>,
    /// Its files. Default: none.
    pub files: Option<Sourced<PlainFiles>>,
}

/// A function of a component that was not made for Toolgate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Plain {
    /// What the model reads of it, at most 4,096 characters. Default: the component's own words, or its signature.
    #[schemars(with = "Option<String>")]
    description: Option<Spanned<String>>,
    /// What it is given of the workspace and the directories of `[files]`. Default: none.
    #[schemars(with = "Option<PlainFiles>")]
    files: Option<Spanned<PlainFiles>>,
}

/// Adds what a file says.
///
/// # Errors
/// A table that says nothing.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    tables: BTreeMap<String, Spanned<Plain>>,
) -> Result<(), ConfigError> {
    for (tool, table) in tables {
        let at = table.span().start;
        let Plain { description, files } = table.into_inner();
        if description.is_none() && files.is_none() {
            let what = format!("[plain.{tool}] says nothing: set 'description' or 'files'");
            return Err(reading.wrong(at, what));
        }
        let setting = config.plain.entry(tool).or_default();
        let description = description.map(|text| reading.sourced(text));
        keep(&mut setting.description, description);
        keep(
            &mut setting.files,
            files.map(|files| reading.sourced(files)),
        );
    }
    Ok(())
}
