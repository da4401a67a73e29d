//! Services by the answers that they give.

use super::*;

const BRAVE: &str = include_str!("../samples/brave.json");
const TAVILY: &str = include_str!("../samples/tavily.json");
const SEARXNG: &str = include_str!("../samples/searxng.json");
const DUCKDUCKGO: &str = include_str!("../samples/duckduckgo.html");
const CHALLENGE: &str = include_str!("../samples/duckduckgo-challenge.html");

fn service(name: &'static str) -> Service {
    let setting = move |setting: &str| match setting {
        "service" => Some(name.to_owned()),
        "url" => Some("https://search.test/api".to_owned()),
        _ => None,
    };
    Service::configured(&setting).unwrap()
}

fn read(name: &'static str, status: u16, body: &str) -> Result<Vec<Found>, String> {
    let body = Body {
        data: body.as_bytes().to_vec(),
        truncated: false,
    };
    service(name).read(status, &body)
}

#[test]
fn each_service_is_asked_in_its_own_way() {
    let domains = Domains::new(&["a.test".to_owned()], &[]).unwrap();
    for (name, url) in [
        (
            "brave",
            "https://search.test/api?q=x+y%26z+site%3Aa.test&count=20&result_filter=web",
        ),
        (
            "searxng",
            "https://search.test/api?q=x+y%26z+site%3Aa.test&format=json",
        ),
        (
            "duckduckgo",
            "https://search.test/api?q=x+y%26z+site%3Aa.test",
        ),
    ] {
        let asked = service(name).ask("x y&z", &domains);
        assert_eq!(
            (asked.method, asked.url.as_str(), asked.body),
            ("GET", url, None)
        );
    }
    let asked = service("tavily").ask("x y&z", &domains);
    assert_eq!(
        (asked.method, asked.url.as_str()),
        ("POST", "https://search.test/api")
    );
    let body = asked.body.unwrap();
    for part in [
        r#""query":"x y&z""#,
        r#""include_domains":["a.test"]"#,
        r#""exclude_domains":[]"#,
    ] {
        assert!(body.contains(part), "{body}");
    }
}

#[test]
fn the_answers_of_each_service_are_read() {
    for (name, answer, count, first, text) in [
        (
            "brave",
            BRAVE,
            3,
            "https://doc.rust-lang.org/book/",
            "affectionately nicknamed",
        ),
        (
            "tavily",
            TAVILY,
            2,
            "https://doc.rust-lang.org/book/",
            "The Rust Programming Language",
        ),
        (
            "searxng",
            SEARXNG,
            2,
            "https://doc.rust-lang.org/book/",
            "by Steve Klabnik",
        ),
        (
            "duckduckgo",
            DUCKDUCKGO,
            2,
            "https://doc.rust-lang.org/book/",
            "by Steve Klabnik",
        ),
    ] {
        let found = read(name, 200, answer).unwrap();
        assert_eq!(found.len(), count, "{name}: {found:?}");
        assert_eq!(found[0].url.as_str(), first, "{name}");
        assert!(
            found[0].title.contains("Rust Programming Language"),
            "{name}"
        );
        assert!(found[0].text.contains(text), "{name}: {}", found[0].text);
        assert!(!found[0].text.contains('<'), "{name}");
    }
    assert_eq!(
        read("brave", 200, r#"{"type":"search","query":{}}"#),
        Ok(Vec::new())
    );
    let none = r#"<div id="links"><div class="no-results">No results.</div></div>"#;
    assert_eq!(read("duckduckgo", 200, none), Ok(Vec::new()));
}

#[test]
fn what_is_no_answer_says_why() {
    for (name, status, body, why) in [
        ("brave", 401, "", "does not accept the key"),
        ("brave", 429, "", "asked too often"),
        ("brave", 200, "{}", "no list"),
        ("tavily", 432, "", "used up"),
        ("tavily", 200, "<html>", "no JSON"),
        ("searxng", 403, "", "'search.formats'"),
        ("searxng", 502, "", "error of its own"),
        ("searxng", 302, "", "status 302"),
        ("duckduckgo", 202, "", "asked too often"),
        ("duckduckgo", 200, CHALLENGE, "whether a human asks"),
        (
            "duckduckgo",
            200,
            "<html><p>hello",
            "a form that is not known",
        ),
    ] {
        let said = read(name, status, body).unwrap_err();
        assert!(said.contains(why), "{name} {status}: {said}");
        assert!(said.starts_with(service(name).name()), "{said}");
    }
    let cut = Body {
        data: Vec::new(),
        truncated: true,
    };
    assert!(
        service("brave")
            .read(200, &cut)
            .unwrap_err()
            .contains("larger than 2 MiB")
    );
}

#[test]
fn a_wrong_setting_is_named() {
    let with = |service: Option<&'static str>, url: Option<&'static str>| {
        let setting = move |name: &str| match name {
            "service" => service.map(str::to_owned),
            _ => url.map(str::to_owned),
        };
        Service::configured(&setting).unwrap_err()
    };
    assert!(with(None, Some("https://a.test/")).contains("'service'"));
    assert!(with(Some("bing"), Some("https://a.test/")).contains("'service'"));
    assert!(with(Some("brave"), None).contains("'url'"));
    assert!(with(Some("brave"), Some("x")).contains("'url'"));
}
