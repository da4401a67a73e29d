//! Results as the reply of a call.

use toolgate_guest::{Output, json};
use toolgate_reply::{Reply, counted};

use crate::domains::Domains;
use crate::results::{Found, MAX_RESULTS};

/// The reply: the results of the domains that are wanted, in the service's order.
#[must_use]
pub fn found(results: &[Found], query: &str, domains: &Domains) -> Output {
    let wanted: Vec<&Found> = results
        .iter()
        .filter(|found| domains.admit(&found.url))
        .collect();
    let elsewhere = results.len() - wanted.len();
    let shown = wanted.get(..MAX_RESULTS).unwrap_or(&wanted);
    let mut reply = Reply::new();
    for (number, found) in shown.iter().enumerate() {
        let mut entry = format!("{}. {}\n   {}", number + 1, found.title, found.url);
        if !found.text.is_empty() {
            entry.push_str(&format!("\n   {}", found.text));
        }
        reply.push(&entry);
    }
    let mut notes = Vec::new();
    if shown.is_empty() {
        notes.push(format!("[No results for: {query}]"));
    }
    if elsewhere > 0 {
        let left_out = counted(elsewhere as u64, "result", "results");
        notes.push(format!("[{left_out} of other domains left out.]"));
    }
    let results: Vec<_> = shown
        .iter()
        .map(|found| json!({"title": found.title, "url": found.url.as_str(), "text": found.text}))
        .collect();
    Output::text(reply.finish(&notes)).with_structured(json!({ "results": results }))
}

#[cfg(test)]
mod tests {
    use toolgate_guest::Content;

    use super::*;

    fn text(results: &[Found], domains: &Domains) -> String {
        match found(results, "q", domains).content() {
            [Content::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn results_are_numbered_and_others_left_out() {
        let results: Vec<Found> = ["https://a.test/1", "https://b.test/2", "https://x.a.test/3"]
            .iter()
            .filter_map(|url| Found::new("T", url, "said"))
            .collect();
        let allowed = Domains::new(&["a.test".to_owned()], &[]).unwrap();
        assert_eq!(
            text(&results, &allowed),
            "1. T\n   https://a.test/1\n   said\n2. T\n   https://x.a.test/3\n   said\n[1 result of other domains left out.]"
        );
        assert_eq!(text(&[], &Domains::default()), "[No results for: q]");
        let many: Vec<Found> = (0..50)
            .filter_map(|n| Found::new("T", &format!("https://a.test/{n}"), ""))
            .collect();
        assert_eq!(text(&many, &Domains::default()).lines().count(), 20);
    }
}
