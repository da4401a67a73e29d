//! One URL, and the redirects that stay with its host.

use std::fmt;

use toolgate_guest::http::{Body, Error};
use toolgate_reply::cut;
use url::Url;

use crate::charset;
use crate::media::{Kind, MediaType};

/// The most bytes of a body.
pub const MAX_BODY: usize = 4 << 20;
/// The most redirects of one call.
const MAX_REDIRECTS: usize = 10;
/// The most characters of a page that stands behind an error status.
const MAX_EXCERPT: usize = 1_000;
/// The longest URL that a message repeats, characters.
const MAX_SHOWN: usize = 2_000;

/// What answers a GET. A trait, so that the rules above are tested without a network.
pub trait Web {
    /// One request, whose redirects are not followed.
    ///
    /// # Errors
    /// There is no answer.
    fn get(&self, url: &str) -> Result<Answer, Error>;
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header `location`.
    pub location: Option<String>,
    /// The header `content-type`.
    pub content_type: Option<String>,
    /// The body; empty for a redirect.
    pub body: Body,
}

/// What stands behind a URL in the end.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it stands.
    pub url: Url,
    /// What was answered there.
    pub answer: Answer,
}

/// Why there is no page.
#[derive(Debug)]
pub enum Wrong {
    /// The URL cannot be fetched.
    Url(String),
    /// No answer.
    Request {
        /// Of which URL.
        url: String,
        /// Why.
        error: Error,
    },
    /// Redirects that are not followed.
    Redirect(String),
    /// An answer that says that there is no page.
    Status(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(sentence) | Self::Redirect(sentence) | Self::Status(sentence) => {
                f.write_str(sentence)
            }
            Self::Request { url, error } => write!(f, "{url}: {error}"),
        }
    }
}

/// Whether a status sends on to another URL.
#[must_use]
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Fetches a URL. Each redirect is a request of its own, so that each is judged.
///
/// # Errors
/// [`Wrong`].
pub fn follow(web: &impl Web, url: &str) -> Result<Page, Wrong> {
    let mut at = parse(url)?;
    for _ in 0..=MAX_REDIRECTS {
        let answer = web.get(at.as_str()).map_err(|error| Wrong::Request {
            url: shown(&at),
            error,
        })?;
        if is_redirect(answer.status) {
            at = next(&at, &answer)?;
        } else if (200..300).contains(&answer.status) {
            return Ok(Page { url: at, answer });
        } else {
            return Err(Wrong::Status(status(&at, &answer)));
        }
    }
    Err(Wrong::Redirect(format!(
        "{url} redirects more than {MAX_REDIRECTS} times, the last time to {}.",
        shown(&at)
    )))
}

fn parse(url: &str) -> Result<Url, Wrong> {
    let wrong =
        |what: String| Wrong::Url(format!("The parameter 'url' {what}. Nothing was fetched."));
    let mut parsed =
        Url::parse(url).map_err(|error| wrong(format!("is not a whole URL: {error}")))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(wrong(format!(
            "has the scheme '{}': only http and https can be fetched",
            parsed.scheme()
        )));
    }
    parsed.set_fragment(None);
    Ok(parsed)
}

/// Where a redirect leads, if that is followed.
fn next(at: &Url, answer: &Answer) -> Result<Url, Wrong> {
    let location = answer.location.as_deref().ok_or_else(|| {
        let from = shown(at);
        Wrong::Status(format!(
            "{from} answered {} without saying where to.",
            answer.status
        ))
    })?;
    let mut next = at.join(location).map_err(|_unreadable| {
        let (from, to) = (
            shown(at),
            cut(location, MAX_SHOWN).escape_debug().to_string(),
        );
        Wrong::Redirect(format!("{from} redirects to '{to}', which is no URL."))
    })?;
    next.set_fragment(None);
    let same_host = next.host() == at.host();
    let downgrade = at.scheme() == "https" && next.scheme() != "https";
    let same_port = next.port_or_known_default() == at.port_or_known_default();
    // From http to https on the usual ports is the one change of port that is not another server.
    let upgrade = at.scheme() == "http" && next.scheme() == "https";
    let usual = |url: &Url| url.port().is_none();
    if same_host && !downgrade && (same_port || (upgrade && usual(at) && usual(&next))) {
        return Ok(next);
    }
    let whither = match same_host && downgrade {
        true => "without encryption",
        false => "to another host",
    };
    Err(Wrong::Redirect(format!(
        "{} redirects {whither}: {}\nIt was not followed. If you want that page, call WebFetch with that URL; the rules judge \
         it by itself.",
        shown(at),
        shown(&next)
    )))
}

/// What is told of an answer that is no page: its status, and what it says in text.
fn status(at: &Url, answer: &Answer) -> String {
    let code = answer.status;
    let mut told = format!("{} answered {code}", shown(at));
    let meaning = match code {
        401 => " (it wants a login)",
        403 => " (it refuses access)",
        404 => " (there is no such page)",
        410 => " (the page is gone)",
        429 => " (too many requests: wait before you try again)",
        500..=599 => " (an error of the server)",
        _ => "",
    };
    told.push_str(meaning);
    told.push('.');
    let kind = MediaType::of(answer.content_type.as_deref(), &answer.body.data);
    if matches!(kind.kind, Kind::Html | Kind::Text) {
        let (text, _) = charset::decode(&kind, &answer.body.data);
        let text = match kind.kind {
            Kind::Html => crate::markdown::convert(&text, at).text,
            _ => text,
        };
        let text = text.trim();
        if !text.is_empty() {
            told.push_str(" It says:\n");
            told.push_str(&cut(text, MAX_EXCERPT));
        }
    }
    told
}

/// A URL as messages have it.
pub(crate) fn shown(url: &Url) -> String {
    cut(url.as_str(), MAX_SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use toolgate_guest::http::ErrorCode;

    use super::*;

    /// Answers by URL; what is not there cannot be reached.
    struct Table {
        answers: Vec<(&'static str, u16, &'static str)>,
        asked: RefCell<Vec<String>>,
    }

    impl Table {
        fn new(answers: &[(&'static str, u16, &'static str)]) -> Self {
            Self {
                answers: answers.to_vec(),
                asked: RefCell::default(),
            }
        }
    }

    impl Web for Table {
        fn get(&self, url: &str) -> Result<Answer, Error> {
            self.asked.borrow_mut().push(url.to_owned());
            let known = self.answers.iter().find(|(known, _, _)| *known == url);
            let Some((_, status, text)) = known else {
                return Err(Error {
                    code: ErrorCode::Unreachable,
                    message: "nobody".to_owned(),
                });
            };
            let redirect = is_redirect(*status) && !text.is_empty();
            Ok(Answer {
                status: *status,
                location: redirect.then(|| (*text).to_owned()),
                content_type: Some("text/plain".to_owned()),
                body: Body {
                    data: text.as_bytes().to_vec(),
                    truncated: false,
                },
            })
        }
    }

    fn fails(table: &Table, url: &str) -> String {
        follow(table, url).unwrap_err().to_string()
    }

    #[test]
    fn a_redirect_on_the_host_is_followed_and_a_fragment_is_not_sent() {
        let table = Table::new(&[
            ("http://a.test/", 301, "https://a.test/"),
            ("https://a.test/", 302, "/b?c#d"),
            ("https://a.test/b?c", 200, "there"),
        ]);
        let page = follow(&table, "http://a.test/#top").unwrap();
        assert_eq!(page.url.as_str(), "https://a.test/b?c");
        assert_eq!(page.answer.body.data, b"there");
        assert_eq!(table.asked.borrow().len(), 3);
    }

    #[test]
    fn a_redirect_away_is_told_and_nothing_is_sent_there() {
        for to in [
            "http://169.254.169.254/latest/",
            "https://b.test/",
            "https://a.test.b.test/",
            "https://a.test:8443/",
            "//b.test/",
            "http://a.test/",
            "ftp://a.test/",
            "file:///etc/passwd",
            "javascript:1",
        ] {
            let table = Table::new(&[("https://a.test/", 302, to)]);
            let said = fails(&table, "https://a.test/");
            assert!(said.contains("redirects"), "{to}: {said}");
            assert!(said.contains(to.trim_start_matches("//")), "{to}: {said}");
            assert_eq!(*table.asked.borrow(), ["https://a.test/"], "{to}");
        }
    }

    #[test]
    fn a_circle_ends() {
        let table = Table::new(&[("https://a.test/", 302, "/")]);
        assert!(fails(&table, "https://a.test/").contains("more than 10 times"));
        assert_eq!(table.asked.borrow().len(), 11);
        let nowhere = Table::new(&[("https://a.test/", 302, "")]);
        assert!(fails(&nowhere, "https://a.test/").contains("without saying where to"));
        let no_url = Table::new(&[("https://a.test/", 302, "https://[x\u{7}")]);
        let said = fails(&no_url, "https://a.test/");
        assert!(
            said.contains("which is no URL") && !said.contains('\u{7}'),
            "{said}"
        );
    }

    #[test]
    fn a_status_is_told_with_what_the_page_says() {
        let table = Table::new(&[("https://a.test/", 404, "no such thing")]);
        let said = fails(&table, "https://a.test/");
        assert!(
            said.contains("answered 404 (there is no such page)"),
            "{said}"
        );
        assert!(said.ends_with("no such thing"), "{said}");
    }

    #[test]
    fn what_is_no_url_of_the_web_is_not_fetched() {
        let table = Table::new(&[]);
        for url in [
            "http:///x",
            "http://exa mple.test/",
            "//ok.test/",
            "http://ok.test:99999/",
            "javascript:1",
            "file:///etc/passwd",
            "",
            "example.com",
            "ftp://a.test/",
            "data:text/html,x",
        ] {
            let result = follow(&table, url);
            // A browser reads `http:///x` as `http://x/`; the rules refuse it before.
            if url != "http:///x" {
                assert!(matches!(result, Err(Wrong::Url(_))), "{url}");
            }
        }
    }
}
