//! Many URL patterns, one URL: which of them match? The price grows with the labels of the host and the depth of the path,
//! not with the number of patterns.
//!
//! Patterns are kept under their scheme, host and port. A host with `*` labels is found by putting the stars into the host
//! that is asked for, in every arrangement that some pattern has.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::pattern_index::PatternIndex;
use super::url_glob;
use super::url_host::UrlHost;
use super::url_pattern::PortPattern;
use super::{PatternError, UrlPattern, UrlSubject};

/// How a pattern must match the path of a URL, which has a strict reading and one of a lenient server (that decodes
/// slashes, and takes several for one).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlReadings {
    /// In every reading: for what allows.
    Every,
    /// In one of them, whatever the letter case of the path: for what denies or asks.
    Any,
}

/// See the module. What it gives are the positions of the patterns in the list that it was built from.
#[derive(Clone, Debug)]
pub struct UrlIndex {
    places: HashMap<Place, Paths>,
    /// By number of labels, which of them are stars in some pattern.
    arrangements: HashMap<usize, BTreeSet<Vec<usize>>>,
    readings: UrlReadings,
}

/// Where patterns are kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    scheme: String,
    host: String,
    port: PortPattern,
}

/// The paths of one place, and which pattern each is.
#[derive(Clone, Debug)]
struct Paths {
    strict: Arc<PatternIndex>,
    lenient: Arc<PatternIndex>,
    patterns: Vec<usize>,
}

impl UrlIndex {
    /// Indexes patterns.
    ///
    /// # Errors
    /// The globs of one place are too large to be compiled together.
    pub fn new<'a>(
        patterns: impl IntoIterator<Item = &'a UrlPattern>,
        readings: UrlReadings,
    ) -> Result<Self, PatternError> {
        let mut arrangements: HashMap<usize, BTreeSet<Vec<usize>>> = HashMap::new();
        let mut sorted: HashMap<Place, Vec<(usize, &UrlPattern)>> = HashMap::new();
        for (position, pattern) in patterns.into_iter().enumerate() {
            if !pattern.stars.is_empty() {
                arrangements
                    .entry(pattern.host.split('.').count())
                    .or_default()
                    .insert(pattern.stars.clone());
            }
            let place = Place {
                scheme: pattern.scheme.clone(),
                host: pattern.host.clone(),
                port: pattern.port,
            };
            sorted.entry(place).or_default().push((position, pattern));
        }
        let mut compiled = Compiled {
            ignore_case: readings == UrlReadings::Any,
            ..Compiled::default()
        };
        let mut places = HashMap::with_capacity(sorted.len());
        for (place, patterns) in sorted {
            let of = |path: fn(&'a UrlPattern) -> &'a str| {
                patterns.iter().map(|(_, pattern)| path(pattern)).collect()
            };
            let paths = Paths {
                strict: compiled.get(of(|pattern| &pattern.path))?,
                lenient: compiled.get(of(|pattern| &pattern.lenient))?,
                patterns: patterns.iter().map(|(position, _)| *position).collect(),
            };
            places.insert(place, paths);
        }
        Ok(Self {
            places,
            arrangements,
            readings,
        })
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The patterns that match, in their order.
    pub fn matching(&self, subject: &UrlSubject) -> Vec<usize> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        for host in self.hosts(subject.url_host()) {
            for port in [PortPattern::Any, PortPattern::Only(subject.port())] {
                let place = Place {
                    scheme: subject.scheme().to_owned(),
                    host: host.clone(),
                    port,
                };
                if let Some(paths) = self.places.get(&place) {
                    found.extend(paths.matching(subject, self.readings));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The host itself, and the host with stars in it.
    fn hosts(&self, host: &UrlHost) -> Vec<String> {
        let mut hosts = vec![host.as_str().to_owned()];
        let UrlHost::Name(name) = host else {
            return hosts;
        };
        let labels = name.split('.').count();
        for stars in self.arrangements.get(&labels).into_iter().flatten() {
            let mut stars = stars.iter().peekable();
            let starred: Vec<&str> = name
                .split('.')
                .enumerate()
                .map(|(position, label)| {
                    stars
                        .next_if(|star| **star == position)
                        .map_or(label, |_| "*")
                })
                .collect();
            hosts.push(starred.join("."));
        }
        hosts
    }
}

impl Paths {
    fn matching(&self, subject: &UrlSubject, readings: UrlReadings) -> Vec<usize> {
        let (strict, lenient) = (subject.path(), subject.lenient_path());
        let mut matching = self.strict.matching(Path::new(strict));
        if strict != lenient || !Arc::ptr_eq(&self.strict, &self.lenient) {
            let also = self.lenient.matching(Path::new(lenient));
            match readings {
                UrlReadings::Every => matching.retain(|position| also.contains(position)),
                UrlReadings::Any => {
                    matching.extend(also);
                    matching.sort_unstable();
                    matching.dedup();
                }
            }
        }
        matching
            .into_iter()
            .filter_map(|position| self.patterns.get(position).copied())
            .collect()
    }
}

/// Indexes of paths, each compiled once: most places have the same, every path.
#[derive(Default)]
struct Compiled<'a> {
    indexes: HashMap<Vec<&'a str>, Arc<PatternIndex>>,
    ignore_case: bool,
}

impl<'a> Compiled<'a> {
    fn get(&mut self, paths: Vec<&'a str>) -> Result<Arc<PatternIndex>, PatternError> {
        if let Some(index) = self.indexes.get(&paths) {
            return Ok(Arc::clone(index));
        }
        let globs = paths
            .iter()
            .map(|path| url_glob::compile(path, self.ignore_case))
            .collect::<Result<Vec<_>, _>>()?;
        let index = Arc::new(PatternIndex::new(&globs, self.ignore_case)?);
        self.indexes.insert(paths, Arc::clone(&index));
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(patterns: &[&str], readings: UrlReadings) -> UrlIndex {
        let patterns: Vec<UrlPattern> = patterns
            .iter()
            .map(|pattern| UrlPattern::parse(pattern).unwrap())
            .collect();
        UrlIndex::new(&patterns, readings).unwrap()
    }

    fn found(index: &UrlIndex, url: &str) -> Vec<usize> {
        index.matching(&UrlSubject::parse(url).unwrap())
    }

    #[test]
    fn all_that_match_are_found_in_their_order() {
        let patterns = [
            "https://*.example.com/**",
            "https://a.example.com/x",
            "https://a.example.com:*/x",
            "https://a.*.com",
            "https://*.*.*",
            "https://a.example.com/*",
            "http://a.example.com",
            "https://a.example.com:8443",
            "https://example.com",
        ];
        let index = index(&patterns, UrlReadings::Every);
        assert_eq!(found(&index, "https://a.example.com/x"), [0, 1, 2, 3, 4, 5]);
        assert_eq!(found(&index, "https://a.example.com:8443/x"), [2, 7]);
        assert_eq!(found(&index, "https://b.example.com/x"), [0, 4]);
        assert_eq!(found(&index, "https://example.com/x"), [8]);
        assert_eq!(found(&index, "https://a.b.c.d/"), [0_usize; 0]);
        assert_eq!(found(&index, "wss://a.example.com/x"), [0_usize; 0]);
    }

    #[test]
    fn what_denies_sees_every_reading_and_what_allows_needs_all() {
        let patterns = [
            "https://x/admin/**",
            "https://x/public/*",
            "https://x/a%2Fb",
        ];
        let (every, any) = (
            index(&patterns, UrlReadings::Every),
            index(&patterns, UrlReadings::Any),
        );
        for (url, allowed, denied) in [
            ("https://x/admin/a", &[0][..], &[0][..]),
            ("https://x/ADMIN/a", &[], &[0]),
            ("https://x/admin%2fa", &[], &[0]),
            ("https://x/admin%252fa", &[], &[0]),
            ("https://x//admin/a", &[], &[0]),
            ("https://x/%61dmin/a", &[0], &[0]),
            ("https://x/%2561dmin/a", &[], &[0]),
            ("https://x/admin%5ca", &[], &[0]),
            ("https://x/public/a", &[1], &[1]),
            ("https://x/public/a%2fb", &[], &[1]),
            ("https://x/a%2fb", &[2], &[2]),
            ("https://x/a/b", &[], &[2]),
        ] {
            assert_eq!(found(&every, url), allowed, "{url}");
            assert_eq!(found(&any, url), denied, "{url}");
        }
    }

    #[test]
    fn nothing_matches_nothing() {
        let index = index(&[], UrlReadings::Any);
        assert!(index.is_empty());
        assert_eq!(found(&index, "https://a.b/"), [0_usize; 0]);
    }

    #[test]
    fn a_hundred_thousand_patterns_are_as_quick_as_one() {
        let texts: Vec<String> = (0..100_000)
            .map(|number| match number % 4 {
                0 => format!("https://h{number}.example.com/api/*"),
                1 => format!("https://*.d{number}.example/**"),
                2 => format!("https://one.example/p{number}/x"),
                _ => format!("http://h{number}.*.example.com:*"),
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let index = index(&texts, UrlReadings::Every);
        let urls = [
            ("https://h4000.example.com/api/x", 4_000),
            ("https://a.d4001.example/x/y", 4_001),
            ("https://one.example/p4002/x", 4_002),
            ("http://h4003.eu.example.com:1/", 4_003),
        ];
        let urls = urls.map(|(url, at)| (UrlSubject::parse(url).unwrap(), at));
        let begun = std::time::Instant::now();
        for _ in 0..1_000 {
            for (url, at) in &urls {
                assert_eq!(index.matching(url), [*at]);
            }
        }
        let each = begun.elapsed() / 4_000;
        // A walk over the patterns would take milliseconds, also in a build without optimisation.
        assert!(each.as_micros() < 200, "{each:?}");
        println!("{each:?}");
    }
}
