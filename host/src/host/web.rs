//! What tools are told by the configuration, and whether the tool for questions to the web is there at all.
//!
//! The search service that an operator chose is opened for that tool alone, and its secret goes with that tool's questions:
//! nobody has to write either twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Config, ConfigError, SearchService, SecretSetting, Sourced, WebSearchBackend};
use crate::model::suggestion;
use crate::policy::{EgressPattern, UrlSubject, literal_path};
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

/// The one URL that questions go to, by the one method.
pub(super) fn place(service: &SearchService) -> Result<EgressPattern, ConfigError> {
    let wrong = |what: String| {
        let said = format!("in [web_search], the url {what}");
        service.source.wrong(said)
    };
    let subject = UrlSubject::parse(&service.url).map_err(|error| wrong(error.to_string()))?;
    let url = subject.url();
    let before = url.as_str().strip_suffix(url.path()).unwrap_or_default();
    let mut text = format!("{before}{}", literal_path(url.path()));
    // No pattern ends in a '/': what is below the directory is the least that holds it.
    if text.ends_with('/') {
        text.push_str("**");
    }
    let method = match service.backend {
        WebSearchBackend::Tavily => "POST",
        WebSearchBackend::Brave
        | WebSearchBackend::Searxng
        | WebSearchBackend::Duckduckgo
        | WebSearchBackend::None => "GET",
    };
    let pattern = EgressPattern::parse(&text).and_then(|pattern| pattern.with_methods([method]));
    pattern.map_err(|error| wrong(error.to_string()))
}

/// The secret that goes with each question.
///
/// # Errors
/// There is no such secret, or it does not fit the service.
pub(super) fn secret(
    config: &Config,
    service: &SearchService,
) -> Result<Option<String>, ConfigError> {
    let Some(name) = &service.secret else {
        return Ok(None);
    };
    let Some(secret) = config.secrets.get(&name.value) else {
        let hint = suggestion(&name.value, config.secrets.keys().map(String::as_str));
        return Err(name.source.wrong(format!(
            "in [web_search], there is no secret '{0}': write a table [secrets.{0}].{hint}",
            name.value.escape_debug()
        )));
    };
    check_secret(service, name, &secret.value)?;
    Ok(Some(name.value.clone()))
}

/// A key that would go elsewhere, or in another way than the service reads it, is said before anybody asks.
fn check_secret(
    service: &SearchService,
    name: &Sourced<String>,
    secret: &SecretSetting,
) -> Result<(), ConfigError> {
    let wrong = |what: String| {
        let said = format!("in [web_search], the secret '{}' {what}", name.value);
        Err(name.source.wrong(said))
    };
    let place = |url: &str| {
        let subject = UrlSubject::parse(url).ok()?;
        let host = subject.host().to_owned();
        Some((subject.scheme().to_owned(), host, subject.port()))
    };
    if place(&secret.url) != place(&service.url) {
        return wrong(format!(
            "is for {}, and the service answers at {}",
            secret.url, service.url
        ));
    }
    let (header, prefix) = match service.backend {
        WebSearchBackend::Brave => ("x-subscription-token", ""),
        WebSearchBackend::Tavily => ("authorization", "Bearer "),
        // Whatever stands in front of an instance decides.
        WebSearchBackend::Searxng | WebSearchBackend::Duckduckgo | WebSearchBackend::None => {
            return Ok(());
        }
    };
    if secret.header.eq_ignore_ascii_case(header) && secret.prefix == prefix {
        return Ok(());
    }
    wrong(format!(
        "stands in the header '{}' behind '{}', and '{}' reads it in '{header}' behind '{prefix}'",
        secret.header,
        secret.prefix,
        service.backend.as_str()
    ))
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
