//! Results as services give them, and what of them is kept.

use toolgate_guest::Value;
use toolgate_page::one_line;
use url::Url;

/// The most results of one reply.
pub const MAX_RESULTS: usize = 10;
/// The longest title and the longest text, characters.
const MAX_TITLE: usize = 200;
const MAX_TEXT: usize = 400;

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its title.
    pub title: String,
    /// Where it is: `http` or `https`.
    pub url: Url,
    /// What the service says of it.
    pub text: String,
}

impl Found {
    /// A result with what the service calls its parts. None: its URL is none that can be fetched.
    #[must_use]
    pub fn new(title: &str, url: &str, text: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        Some(Self {
            title: plain(title, MAX_TITLE),
            text: plain(text, MAX_TEXT),
            url,
        })
    }
}

/// Services mark the words of a question with tags.
fn plain(text: &str, max: usize) -> String {
    match text.contains(['<', '&']) {
        true => one_line(
            &toolgate_page::text_of(&toolgate_page::parse(text).document),
            max,
        ),
        false => one_line(text, max),
    }
}

/// The results in a list of objects, by the names that a service has for their parts.
///
/// # Errors
/// There is no such list.
pub fn in_json(
    body: &[u8],
    place: &str,
    [title, url, text]: [&str; 3],
) -> Result<Vec<Found>, String> {
    let answer: Value = toolgate_guest::parse_json(body).ok_or("what it answered is no JSON")?;
    let list = answer
        .pointer(place)
        .and_then(Value::as_array)
        .ok_or_else(|| format!("its answer has no list at '{place}'"))?;
    let part = |result: &Value, name: &str| {
        let part = result.get(name).and_then(Value::as_str);
        part.unwrap_or_default().to_owned()
    };
    let found = list.iter().filter_map(|result| {
        Found::new(
            &part(result, title),
            &part(result, url),
            &part(result, text),
        )
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_plain_text_with_a_url_that_can_be_fetched() {
        let found = Found::new(
            " A &amp; <strong>B</strong>\n",
            "https://a.test/x",
            "<b>x</b> y <script>z</script>",
        );
        let found = found.unwrap();
        assert_eq!(
            (found.title.as_str(), found.text.as_str()),
            ("A & B", "x y")
        );
        for url in [
            "javascript:1",
            "/x",
            "ftp://a.test/",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(Found::new("t", url, "x"), None, "{url}");
        }
        let long =
            Found::new(&"t".repeat(10_000), "https://a.test/", &"x ".repeat(10_000)).unwrap();
        assert!(
            long.title.chars().count() <= MAX_TITLE + 1
                && long.text.chars().count() <= MAX_TEXT + 1
        );
    }

    #[test]
    fn what_is_no_answer_is_said() {
        let names = ["title", "url", "content"];
        for (body, why) in [
            ("", "no JSON"),
            ("<html>", "no JSON"),
            ("{}", "no list at '/results'"),
            (r#"{"results":{}}"#, "no list"),
        ] {
            let said = in_json(body.as_bytes(), "/results", names).unwrap_err();
            assert!(said.contains(why), "{body}: {said}");
        }
        let strange = br#"{"results":[1,null,{"url":5},{"title":"t","url":"https://a.test/"}]}"#;
        assert_eq!(in_json(strange, "/results", names).unwrap().len(), 1);
    }
}
