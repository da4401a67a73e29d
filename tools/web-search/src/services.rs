//! The search services: how each is asked, and how its answers are read.

use toolgate_guest::http::Body;
use toolgate_guest::json;
use url::Url;

use crate::domains::Domains;
use crate::duckduckgo;
use crate::results::{Found, MAX_RESULTS, in_json};

/// The services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// An instance of SearXNG that the operator names.
    Searxng,
    /// DuckDuckGo's page without scripts: it has no interface for programs.
    DuckDuckGo,
}

/// A service at its URL.
#[derive(Clone, Debug)]
pub struct Service {
    kind: Kind,
    url: Url,
}

/// A request to a service. Its key is put in by the host.
#[derive(Clone, Debug)]
pub struct Asked {
    /// GET or POST.
    pub method: &'static str,
    /// With the question, if the method is GET.
    pub url: Url,
    /// What can be read.
    pub accept: &'static str,
    /// JSON with the question, if the method is POST.
    pub body: Option<String>,
}

impl Service {
    /// The service that the settings `service` and `url` name. The host checks both when it starts.
    ///
    /// # Errors
    /// A setting is missing or wrong.
    pub fn configured(setting: &impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let missing = |name: &str| {
            format!("The operator's setting '{name}' of this tool is missing or wrong.")
        };
        let get = |name: &str| setting(name).ok_or_else(|| missing(name));
        let kind = match get("service")?.as_str() {
            "brave" => Kind::Brave,
            "tavily" => Kind::Tavily,
            "searxng" => Kind::Searxng,
            "duckduckgo" => Kind::DuckDuckGo,
            _ => return Err(missing("service")),
        };
        let url = Url::parse(&get("url")?).map_err(|_wrong| missing("url"))?;
        Ok(Self { kind, url })
    }

    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Brave => "Brave Search",
            Kind::Tavily => "Tavily",
            Kind::Searxng => "SearXNG",
            Kind::DuckDuckGo => "DuckDuckGo",
        }
    }

    /// The request for a question.
    #[must_use]
    pub fn ask(&self, query: &str, domains: &Domains) -> Asked {
        let mut asked = Asked {
            method: "GET",
            url: self.url.clone(),
            accept: "application/json",
            body: None,
        };
        let count = MAX_RESULTS.to_string();
        let words = domains.in_words(query);
        match self.kind {
            Kind::Brave => {
                let mut pairs = asked.url.query_pairs_mut();
                pairs.append_pair("q", &words);
                // Some results will be of other domains.
                pairs.append_pair("count", "20");
                pairs.append_pair("result_filter", "web");
            }
            Kind::Searxng => {
                let mut pairs = asked.url.query_pairs_mut();
                pairs.append_pair("q", &words).append_pair("format", "json");
            }
            Kind::DuckDuckGo => {
                asked.accept = "text/html";
                asked.url.query_pairs_mut().append_pair("q", &words);
            }
            Kind::Tavily => {
                asked.method = "POST";
                let body = json!({
                    "query": query,
                    "max_results": count.parse::<u32>().unwrap_or(10),
                    "include_domains": domains.allowed,
                    "exclude_domains": domains.blocked,
                });
                asked.body = Some(body.to_string());
            }
        }
        asked
    }

    /// The results in an answer.
    ///
    /// # Errors
    /// It is no answer to a question, in a sentence for the model.
    pub fn read(&self, status: u16, body: &Body) -> Result<Vec<Found>, String> {
        let failed = |what: &str| Err(format!("{} gave no results: {what}.", self.name()));
        match status {
            200 => {}
            401 | 403 if self.kind == Kind::Searxng => {
                return failed(
                    "it refuses to answer in JSON, which the operator of that instance can allow ('json' in its \
                     'search.formats')",
                );
            }
            401 | 403 => return failed("it does not accept the key that the operator configured"),
            402 | 432 | 433 => return failed("the operator's plan with it is used up"),
            202 | 429 => return failed("it was asked too often: wait before you try again"),
            500..=599 => return failed("it has an error of its own: try again later"),
            other => return failed(&format!("it answered with the status {other}")),
        }
        if body.truncated {
            return failed("its answer is larger than 2 MiB");
        }
        let found = match self.kind {
            Kind::Brave if !has_web(&body.data) => Ok(Vec::new()),
            Kind::Brave => in_json(&body.data, "/web/results", ["title", "url", "description"]),
            Kind::Tavily | Kind::Searxng => {
                in_json(&body.data, "/results", ["title", "url", "content"])
            }
            Kind::DuckDuckGo => duckduckgo::results(&body.data),
        };
        found.or_else(|what| failed(&what))
    }
}

/// Brave leaves the list out where it found nothing.
fn has_web(body: &[u8]) -> bool {
    let answer = toolgate_guest::parse_json(body);
    answer.is_none_or(|answer| {
        let is_answer =
            answer.get("type").and_then(toolgate_guest::Value::as_str) == Some("search");
        !is_answer || answer.get("web").is_some()
    })
}

#[cfg(test)]
mod tests;
