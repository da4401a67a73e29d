//! A page with what a reader sees and nothing else, small enough to be walked.
//!
//! Guarantees a depth of at most [`MAX_DEPTH`], absolute links, and neighbours that nobody joins one by one.

use std::cell::RefCell;
use std::rc::Rc;

use html5ever::tendril::StrTendril;
use toolgate_page::{Attribute, Node, NodeData, UNREAD, attribute, find, name, one_line, text_of};
use url::Url;

/// The most elements inside of one another; what is deeper stays as text of the last of them.
const MAX_DEPTH: usize = 96;
/// Children from which on equal neighbours are kept apart: joining them is work for each of those that follow.
const MANY_CHILDREN: usize = 1_000;
/// The longest link and the longest caption, characters.
const MAX_LINK: usize = 2_000;
const MAX_CAPTION: usize = 300;

/// A page.
pub(crate) struct Page {
    pub(crate) document: Rc<Node>,
    pub(crate) title: Option<String>,
    /// The rest was left out, see `toolgate_page::Parsed`.
    pub(crate) cut: bool,
}

/// Reads a page that stands at a URL.
pub(crate) fn read(html: &str, at: &Url) -> Page {
    let toolgate_page::Parsed { document, cut } = toolgate_page::parse(html);
    let title = find(&document, "title").map(|title| one_line(&text_of(&title), MAX_CAPTION));
    let base = find(&document, "base").and_then(|base| attribute(&base, "href"));
    let base = base.and_then(|href| at.join(&href).ok());
    prune(&document, base.as_ref().unwrap_or(at));
    Page {
        document,
        title: title.filter(|title| !title.is_empty()),
        cut,
    }
}

/// Leaves what a reader sees: links absolute, captions short, nothing deeper than [`MAX_DEPTH`].
fn prune(document: &Rc<Node>, base: &Url) {
    let mut todo = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = todo.pop() {
        let children = node.children.take();
        let crowded = children.len() > MANY_CHILDREN;
        let mut kept: Vec<Rc<Node>> = Vec::with_capacity(children.len());
        for child in children {
            match &child.data {
                NodeData::Text { .. } => kept.push(child),
                NodeData::Element { attrs, .. } => {
                    let element = name(&child).unwrap_or_default();
                    if UNREAD.contains(&element) || is_hidden(&attrs.borrow()) {
                        continue;
                    }
                    if depth >= MAX_DEPTH {
                        kept.push(text(&text_of(&child)));
                        continue;
                    }
                    tidy(element, &mut attrs.borrow_mut(), base);
                    if crowded {
                        kept.push(comment());
                    }
                    todo.push((Rc::clone(&child), depth + 1));
                    kept.push(child);
                }
                NodeData::Document
                | NodeData::Doctype { .. }
                | NodeData::Comment { .. }
                | NodeData::ProcessingInstruction { .. } => {}
            }
        }
        node.children.replace(kept);
    }
}

/// What a browser does not show is not for the model either.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| match &*attribute.name.local {
            "hidden" => true,
            "aria-hidden" => attribute.value.eq_ignore_ascii_case("true"),
            "style" => {
                let style: String = attribute
                    .value
                    .chars()
                    .filter(|c| !c.is_whitespace())
                    .map(|c| c.to_ascii_lowercase())
                    .take(MAX_LINK)
                    .collect();
                style.contains("display:none") || style.contains("visibility:hidden")
            }
            _ => false,
        })
}

/// Only attributes that become Markdown, in a form that is good for something.
fn tidy(element: &str, attributes: &mut Vec<Attribute>, base: &Url) {
    attributes.retain_mut(|attribute| {
        let name = &*attribute.name.local;
        match (element, name) {
            ("a", "href") | ("img", "src") => match absolute(&attribute.value, base) {
                Some(link) => {
                    attribute.value = link.into();
                    true
                }
                None => false,
            },
            ("a" | "img", "title") | ("img", "alt") => {
                attribute.value = one_line(&attribute.value, MAX_CAPTION).into();
                true
            }
            ("ol", "start") => attribute.value.parse::<u16>().is_ok(),
            ("code" | "pre", "class") => attribute.value.len() <= MAX_CAPTION,
            _ => false,
        }
    });
}

/// A link that can be fetched or followed by itself.
fn absolute(link: &str, base: &Url) -> Option<String> {
    let joined = base.join(link.trim()).ok()?;
    let usable = matches!(joined.scheme(), "http" | "https" | "mailto" | "tel");
    let link = String::from(joined);
    (usable && link.chars().count() <= MAX_LINK).then_some(link)
}

fn text(contents: &str) -> Rc<Node> {
    Node::new(NodeData::Text {
        contents: RefCell::new(StrTendril::from_slice(contents)),
    })
}

fn comment() -> Rc<Node> {
    Node::new(NodeData::Comment {
        contents: StrTendril::new(),
    })
}
