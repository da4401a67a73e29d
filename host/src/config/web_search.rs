//! The table `[web_search]`: whom questions to the web go to.
//!
//! The host of a program that embeds the library has the same settings as [`WebSearchSetting`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep;
use super::reading::Reading;
use super::settings::Config;
use super::source::{Source, Sourced};
use crate::policy::UrlSubject;

/// Whom questions to the web go to. Without this table the tool WebSearch is not there.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WebSearch {
    /// The search service.
    #[schemars(with = "Option<WebSearchBackend>")]
    backend: Option<Spanned<WebSearchBackend>>,
    /// Where it answers. Of `searxng` the instance, as in `https://searx.example.com/search`, which has no default; of the
    /// others the service's own, unless a gateway in front of it is named here.
    #[schemars(with = "Option<String>")]
    url: Option<Spanned<String>>,
    /// Name of the secret (`[secrets.NAME]`) that the service wants. `brave` and `tavily` do not answer without one.
    #[schemars(with = "Option<String>")]
    secret: Option<Spanned<String>>,
}

/// A search service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebSearchBackend {
    /// Brave Search, with a key.
    Brave,
    /// Tavily, with a key.
    Tavily,
    /// An instance of SearXNG that answers in JSON.
    Searxng,
    /// DuckDuckGo's page for browsers without scripts: no key, and it refuses often.
    Duckduckgo,
    /// None, whatever a lesser layer says.
    None,
}

impl WebSearchBackend {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Searxng => "searxng",
            Self::Duckduckgo => "duckduckgo",
            Self::None => "none",
        }
    }

    /// Where it answers, if there is one place.
    pub fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
            Self::Duckduckgo => Some("https://html.duckduckgo.com/html/"),
            Self::Searxng | Self::None => None,
        }
    }

    fn wants_secret(self) -> bool {
        matches!(self, Self::Brave | Self::Tavily)
    }
}

/// Whom questions to the web go to, as far as it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WebSearchSetting {
    /// The service.
    pub backend: Option<Sourced<WebSearchBackend>>,
    /// Where it answers.
    pub url: Option<Sourced<String>>,
    /// The name of its secret.
    pub secret: Option<Sourced<String>>,
}

/// A service that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchService {
    /// Which.
    pub backend: WebSearchBackend,
    /// Where it answers: `http` or `https`, without a query.
    pub url: String,
    /// The name of the secret that goes with each question.
    pub secret: Option<Sourced<String>>,
    /// Where it is chosen.
    pub source: Source,
}

impl WebSearchSetting {
    /// The service; none where none is chosen.
    ///
    /// # Errors
    /// What is missing or does not fit, and what to write.
    pub fn service(&self) -> Result<Option<SearchService>, ConfigError> {
        let Some(backend) = &self.backend else {
            let stray = [&self.url, &self.secret].into_iter().flatten().next();
            return match stray {
                None => Ok(None),
                Some(stray) => Err(stray.source.wrong(
                    "[web_search] names no service: write backend = \"brave\", \"tavily\", \"searxng\" or \"duckduckgo\"",
                )),
            };
        };
        let (backend, source) = (backend.value, &backend.source);
        if backend == WebSearchBackend::None {
            return Ok(None);
        }
        let word = backend.as_str();
        let usual = backend.usual_url().map(str::to_owned);
        let url = match &self.url {
            Some(url) => checked(url)?,
            None => usual.ok_or_else(|| {
                source.wrong(format!(
                    "in [web_search], '{word}' has no place of its own: write url = \"https://HOST/search\" with the instance's \
                     host"
                ))
            })?,
        };
        match &self.secret {
            None if backend.wants_secret() => {
                return Err(source.wrong(format!(
                    "in [web_search], '{word}' answers nobody without a key: write secret = \"NAME\", and a table \
                     [secrets.NAME] that says where the key is"
                )));
            }
            Some(secret) if backend == WebSearchBackend::Duckduckgo => {
                return Err(secret.source.wrong(format!(
                    "in [web_search], '{word}' takes no key: leave 'secret' out"
                )));
            }
            None | Some(_) => {}
        }
        Ok(Some(SearchService {
            backend,
            url,
            secret: self.secret.clone(),
            source: source.clone(),
        }))
    }
}

fn checked(url: &Sourced<String>) -> Result<String, ConfigError> {
    let wrong = |what: String| url.source.wrong(format!("in [web_search], the url {what}"));
    let subject =
        UrlSubject::parse(&url.value).map_err(|error| wrong(format!("does not hold: {error}")))?;
    let dialled = subject.url();
    if !matches!(dialled.scheme(), "http" | "https") {
        return Err(wrong("must begin with 'https://' or 'http://'".to_owned()));
    }
    if dialled.query().is_some() || url.value.contains('#') {
        return Err(wrong(
            "must end with its path: the question is put behind it".to_owned(),
        ));
    }
    Ok(dialled.as_str().to_owned())
}

/// Adds what a file says. Whether it is whole is only known when all layers are read.
///
/// # Errors
/// The table is empty.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    table: Option<Spanned<WebSearch>>,
) -> Result<(), ConfigError> {
    let Some(table) = table else {
        return Ok(());
    };
    let at = table.span().start;
    let WebSearch {
        backend,
        url,
        secret,
    } = table.into_inner();
    if backend.is_none() && url.is_none() && secret.is_none() {
        return Err(reading.wrong(at, "[web_search] is empty: name a backend, or leave it out"));
    }
    let into = &mut config.web_search;
    keep(&mut into.backend, backend.map(|word| reading.sourced(word)));
    keep(&mut into.url, url.map(|url| reading.sourced(url)));
    keep(&mut into.secret, secret.map(|name| reading.sourced(name)));
    Ok(())
}
