//! DuckDuckGo's page without scripts. It is made for people, so that what is not understood is said and not guessed.

use std::rc::Rc;

use toolgate_page::{Node, attribute, has_class, name, nodes, parse, text_of};
use url::Url;

use crate::results::Found;

/// The results of a page.
///
/// # Errors
/// The page is none with results: it asks whether we are human, or has another form than it had.
pub(crate) fn results(body: &[u8]) -> Result<Vec<Found>, String> {
    let page = parse(&String::from_utf8_lossy(body)).document;
    let mut found = Vec::new();
    let mut known = false;
    for node in nodes(&page) {
        if has_class(&node, "anomaly-modal")
            || attribute(&node, "id").as_deref() == Some("challenge-form")
        {
            return Err("it asks whether a human asks, which it does when it is asked often: wait, or let the operator \
                        choose another service"
                .to_owned());
        }
        known |=
            has_class(&node, "no-results") || attribute(&node, "id").as_deref() == Some("links");
        if has_class(&node, "result__body") && !is_advertisement(&node) {
            known = true;
            found.extend(result(&node));
        }
    }
    match known {
        true => Ok(found),
        false => Err("its page has a form that is not known here".to_owned()),
    }
}

fn result(body: &Rc<Node>) -> Option<Found> {
    let part =
        |class: &str| nodes(body).find(|node| name(node) == Some("a") && has_class(node, class));
    let title = part("result__a")?;
    let text = part("result__snippet").map(|snippet| text_of(&snippet));
    let url = target(&attribute(&title, "href")?)?;
    Found::new(&text_of(&title), &url, &text.unwrap_or_default())
}

/// Results lead over a page of the service, whose parameter is the URL.
fn target(href: &str) -> Option<String> {
    let service = Url::parse("https://html.duckduckgo.com/html/").ok()?;
    let link = service.join(href).ok()?;
    let leads_on = link
        .host_str()
        .is_some_and(|host| host.ends_with("duckduckgo.com"))
        && link.path() == "/l/";
    match leads_on {
        false => Some(link.into()),
        true => link
            .query_pairs()
            .find(|(name, _)| name == "uddg")
            .map(|(_, url)| url.into_owned()),
    }
}

fn is_advertisement(body: &Rc<Node>) -> bool {
    nodes(body).any(|node| {
        let leads_to_ad =
            attribute(&node, "href").is_some_and(|href| href.contains("duckduckgo.com/y.js"));
        has_class(&node, "result--ad") || has_class(&node, "badge--ad") || leads_to_ad
    })
}
