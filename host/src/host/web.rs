//! What tools are told by the configuration, and whether the tool for questions to the web is there at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Config, ConfigError, SearchService};
use crate::runtime::ToolSettings;

/// The tool that needs a search service.
pub(super) const WEB_SEARCH: &str = "WebSearch";

/// The service that questions go to, if one is configured and the tool for it is not left out.
///
/// # Errors
/// What is missing or does not fit.
pub(super) fn service(config: &Config) -> Result<Option<SearchService>, ConfigError> {
    let own = config.tool_settings.get(WEB_SEARCH);
    if let Some(stray) = own.and_then(|settings| settings.values().next()) {
        return Err(stray.source.wrong(format!(
            "[tools.{WEB_SEARCH}.settings] is filled by the host: write [web_search] instead"
        )));
    }
    let left_out = config.without.iter().any(|name| name.value == WEB_SEARCH);
    let service = config.web_search.service()?;
    Ok(service.filter(|_| !left_out))
}

/// What a tool is told.
pub(super) fn settings(
    config: &Config,
    tool: &str,
    built_in: bool,
    service: Option<&SearchService>,
) -> ToolSettings {
    if let (WEB_SEARCH, true, Some(service)) = (tool, built_in, service) {
        return Arc::new(BTreeMap::from([
            ("service".to_owned(), service.backend.as_str().to_owned()),
            ("url".to_owned(), service.url.clone()),
        ]));
    }
    let settings = config.tool_settings.get(tool).into_iter().flatten();
    let told = settings.map(|(name, value)| (name.clone(), value.value.clone()));
    Arc::new(told.collect())
}
