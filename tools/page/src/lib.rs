//! HTML as a tree, and the few questions that the tools for the web ask of it.
//!
//! Guarantees work that grows with the size of a page, not with its shape: without that, a page of nothing but opening tags
//! would take hours. Nothing here recurses. Never contains anything about URLs or Markdown.
#![forbid(unsafe_code)]

use std::rc::Rc;

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::RcDom;

pub use html5ever::Attribute;
pub use markup5ever_rcdom::{Node, NodeData};

/// Elements inside of one another at which the rest of a page is left out: the parser's work grows with the depth at every
/// tag, and no page for people comes near.
const MAX_OPEN: usize = 256;
/// Tags at which the rest of a page is left out: a tree of more would not fit into a call's memory.
const MAX_TAGS: usize = 200_000;
/// Bytes between two looks at the depth and the tags.
const STEP: usize = 4_096;

/// Elements that hold nothing to read.
pub const UNREAD: [&str; 17] = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas",
    "audio", "video", "head", "select", "textarea", "input", "button", "dialog",
];

/// A page.
#[derive(Debug)]
pub struct Parsed {
    /// Its document node.
    pub document: Rc<Node>,
    /// The rest was left out, because the page has too many elements, or too many inside of one another.
    pub cut: bool,
}

/// Reads a page. Whatever the text is, it is a page.
#[must_use]
pub fn parse(html: &str) -> Parsed {
    let dom = RcDom::default();
    let document = Rc::clone(&dom.document);
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts {
            scripting_enabled: true,
            ..TreeBuilderOpts::default()
        },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(dom, options);
    let mut rest = html;
    let mut tags = 0;
    while !rest.is_empty() {
        let (step, later) = rest.split_at(rest.floor_char_boundary(STEP));
        parser.process(StrTendril::from_slice(step));
        tags += step.bytes().filter(|byte| *byte == b'<').count();
        rest = later;
        if !rest.is_empty() && (tags > MAX_TAGS || depth(&document) > MAX_OPEN) {
            break;
        }
    }
    parser.finish();
    Parsed {
        document,
        cut: !rest.is_empty(),
    }
}

/// How deep the node is that was added last.
fn depth(document: &Rc<Node>) -> usize {
    let mut depth = 0;
    let mut at = Rc::clone(document);
    loop {
        let last = at.children.borrow().last().cloned();
        match last {
            Some(last) => at = last,
            None => return depth,
        }
        depth += 1;
    }
}

/// The nodes below a node and itself, in the order of the page.
#[derive(Debug)]
pub struct Nodes {
    todo: Vec<Rc<Node>>,
}

/// The nodes below a node and itself, in the order of the page.
#[must_use]
pub fn nodes(node: &Rc<Node>) -> Nodes {
    Nodes {
        todo: vec![Rc::clone(node)],
    }
}

impl Iterator for Nodes {
    type Item = Rc<Node>;

    fn next(&mut self) -> Option<Rc<Node>> {
        let node = self.todo.pop()?;
        // The inside of a picture or a script is no part of the page.
        if name(&node).is_none_or(|name| name == "head" || !UNREAD.contains(&name)) {
            self.todo
                .extend(node.children.borrow().iter().rev().cloned());
        }
        Some(node)
    }
}

/// The name of an element, in lower case.
#[must_use]
pub fn name(node: &Rc<Node>) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&*name.local),
        _ => None,
    }
}

/// The first element of a name, in the order of the page.
#[must_use]
pub fn find(node: &Rc<Node>, wanted: &str) -> Option<Rc<Node>> {
    nodes(node).find(|node| name(node) == Some(wanted))
}

/// An attribute of an element.
#[must_use]
pub fn attribute(node: &Rc<Node>, wanted: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else {
        return None;
    };
    let attributes = attrs.borrow();
    let found = attributes
        .iter()
        .find(|attribute| &*attribute.name.local == wanted);
    found.map(|attribute| attribute.value.to_string())
}

/// Whether an element is of a class.
#[must_use]
pub fn has_class(node: &Rc<Node>, class: &str) -> bool {
    let classes = attribute(node, "class").unwrap_or_default();
    classes.split_ascii_whitespace().any(|known| known == class)
}

/// All text below a node.
#[must_use]
pub fn text_of(node: &Rc<Node>) -> String {
    let mut text = String::new();
    for node in nodes(node) {
        if let NodeData::Text { contents } = &node.data {
            text.push_str(&contents.borrow());
        }
    }
    text
}

/// The words of a text, on one line, at most so many characters of them.
#[must_use]
pub fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace().take(max) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    toolgate_reply::cut(&line, max).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_asked() {
        let page = parse(
            "<title>T</title><svg><title>no</title></svg><p class='a b'>one <b>two</b><script>no</script>",
        );
        assert!(!page.cut);
        assert_eq!(
            find(&page.document, "title")
                .map(|title| text_of(&title))
                .as_deref(),
            Some("T")
        );
        let paragraph = find(&page.document, "p").unwrap();
        assert!(has_class(&paragraph, "b") && !has_class(&paragraph, "a b"));
        assert_eq!(text_of(&paragraph), "one two");
        assert_eq!(one_line(" a\n b\u{a0}c ", 4), "a b …");
    }

    #[test]
    fn depth_ends_the_reading() {
        let deep = parse(&"<div>".repeat(400_000));
        assert!(deep.cut);
        assert!(nodes(&deep.document).count() < 5_000);
        assert!(!parse(&"<p>é".repeat(50_000)).cut);
        assert!(parse(&"<p>é".repeat(250_000)).cut);
    }
}
