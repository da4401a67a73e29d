//! Domains that results may come from, or may not.

use url::{Host, Url};

/// The most domains of one list.
const MAX_DOMAINS: usize = 20;

/// What a call asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    /// Only these, if there is one.
    pub allowed: Vec<String>,
    /// None of these.
    pub blocked: Vec<String>,
}

impl Domains {
    /// Reads both lists.
    ///
    /// # Errors
    /// One sentence for each thing that is wrong.
    pub fn new(allowed: &[String], blocked: &[String]) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        if !allowed.is_empty() && !blocked.is_empty() {
            wrong.push(
                "Parameters 'allowed_domains' and 'blocked_domains' exclude each other: give one of them. Nothing was asked."
                    .to_owned(),
            );
        }
        let domains = Self {
            allowed: read("allowed_domains", allowed, &mut wrong),
            blocked: read("blocked_domains", blocked, &mut wrong),
        };
        match wrong.is_empty() {
            true => Ok(domains),
            false => Err(wrong),
        }
    }

    /// Whether a result at this URL is wanted. One whose host cannot be read is not.
    #[must_use]
    pub fn admit(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else {
            return false;
        };
        let host = host.trim_end_matches('.');
        let of = |domain: &String| is_of(host, domain);
        (self.allowed.is_empty() || self.allowed.iter().any(of)) && !self.blocked.iter().any(of)
    }

    /// The question with the operators that search services know for this.
    #[must_use]
    pub fn in_words(&self, query: &str) -> String {
        let mut words = query.to_owned();
        match self.allowed.as_slice() {
            [] => {}
            [one] => words.push_str(&format!(" site:{one}")),
            several => {
                let sites: Vec<String> =
                    several.iter().map(|site| format!("site:{site}")).collect();
                words.push_str(&format!(" ({})", sites.join(" OR ")));
            }
        }
        for domain in &self.blocked {
            words.push_str(&format!(" -site:{domain}"));
        }
        words
    }
}

/// The domain itself, or one below it: at a dot.
fn is_of(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain);
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

fn read(parameter: &str, texts: &[String], wrong: &mut Vec<String>) -> Vec<String> {
    if texts.len() > MAX_DOMAINS {
        wrong.push(format!(
            "Parameter '{parameter}' must have at most {MAX_DOMAINS} domains, but has {}. Nothing was asked.",
            texts.len()
        ));
        return Vec::new();
    }
    let mut domains = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match domain(text) {
            Some(domain) => domains.push(domain),
            None => wrong.push(format!(
                "Parameter '{parameter}[{at}]' must be a domain as in 'example.com', without scheme, port, path or '*'. \
                 Nothing was asked."
            )),
        }
    }
    domains
}

/// A domain as URLs have it: in lower case and ASCII.
fn domain(text: &str) -> Option<String> {
    let named = text.trim_end_matches('.');
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    if !named.chars().all(plain) || !named.contains('.') {
        return None;
    }
    match Host::parse(named).ok()? {
        Host::Domain(domain) => Some(domain),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(domains: &[&str]) -> Vec<String> {
        domains.iter().map(|domain| (*domain).to_owned()).collect()
    }

    fn admits(domains: &Domains, url: &str) -> bool {
        domains.admit(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_domain_is_itself_and_what_is_below_it() {
        let allowed = Domains::new(&list(&["Example.com.", "bücher.test"]), &[]).unwrap();
        for (url, admitted) in [
            ("https://example.com/", true),
            ("https://docs.example.com/x", true),
            ("https://example.com./", true),
            ("https://notexample.com/", false),
            ("https://example.com.evil.test/", false),
            ("https://xn--bcher-kva.test/", true),
            ("https://1.2.3.4/", false),
            ("data:text/plain,x", false),
        ] {
            assert_eq!(admits(&allowed, url), admitted, "{url}");
        }
        let blocked = Domains::new(&[], &list(&["example.com"])).unwrap();
        assert!(!admits(&blocked, "https://a.example.com/"));
        assert!(admits(&blocked, "https://example.org/"));
    }

    #[test]
    fn what_is_no_domain_is_named_with_its_place() {
        for text in [
            "",
            ".",
            "com",
            "https://example.com",
            "example.com/x",
            "*.example.com",
            "example.com:8",
            "1.2.3.4",
            "[::1]",
            "a b.test",
            "a.test OR b.test",
            "exa\u{202e}mple.com",
            "example.com\n",
            "-site:x.test\"",
        ] {
            let wrong = Domains::new(&list(&["good.test", text]), &[]).unwrap_err();
            assert_eq!(wrong.len(), 1, "{text}");
            assert!(
                wrong[0].starts_with("Parameter 'allowed_domains[1]' must be a domain"),
                "{text}"
            );
        }
        let both = Domains::new(&list(&["a.test"]), &list(&["b.test"])).unwrap_err();
        assert!(both[0].contains("exclude each other"));
        let many = Domains::new(&[], &vec!["a.test".to_owned(); 21]).unwrap_err();
        assert!(many[0].contains("at most 20 domains, but has 21"));
    }

    #[test]
    fn services_are_told_in_their_own_words() {
        let of = |allowed: &[&str], blocked: &[&str]| {
            Domains::new(&list(allowed), &list(blocked))
                .unwrap()
                .in_words("q")
        };
        assert_eq!(of(&[], &[]), "q");
        assert_eq!(of(&["a.test"], &[]), "q site:a.test");
        assert_eq!(
            of(&["a.test", "b.test"], &[]),
            "q (site:a.test OR site:b.test)"
        );
        assert_eq!(
            of(&[], &["a.test", "b.test"]),
            "q -site:a.test -site:b.test"
        );
    }
}
