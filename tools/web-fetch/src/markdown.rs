//! HTML to Markdown.

use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, Options};
use htmd::{Element, HtmlToMarkdown};
use toolgate_page::{Node, one_line};
use url::Url;

use crate::html;

/// The most characters of one table cell.
const MAX_CELL: usize = 2_000;

/// A converted page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Its title.
    pub title: Option<String>,
    /// Its text as Markdown.
    pub text: String,
    /// The rest was left out, see `toolgate_page::Parsed`.
    pub cut: bool,
}

/// Converts a page that stands at a URL. Its links become absolute; scripts, styles, forms and what is hidden go.
#[must_use]
pub fn convert(html: &str, at: &Url) -> Converted {
    let page = html::read(html, at);
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder()
        .options(options)
        .add_handler(vec!["table"], table)
        .add_handler(vec!["a"], link)
        .build();
    Converted {
        title: page.title,
        text: converter.tree_to_markdown(&page.document),
        cut: page.cut,
    }
}

/// A link to nowhere is its text.
fn link(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let goes = element
        .attrs
        .iter()
        .any(|attribute| &*attribute.name.local == "href");
    match goes {
        true => handlers.fallback(element),
        false => Some(handlers.walk_children(element.node)),
    }
}

/// A table without padding, which is a waste of a model's context and, with one wide cell, without bound. A table that has no
/// header lays out a page: its cells are read one after the other.
fn table(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let rows = rows(element.node);
    let has_header = rows
        .iter()
        .any(|row| cells(row).any(|cell| is(&cell, "th")));
    if !has_header || is_in_cell(element.node) {
        return Some(handlers.walk_children(element.node));
    }
    let mut text = String::from("\n\n");
    let mut width = 0;
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::from("|");
        let mut count = 0;
        for cell in cells(row) {
            let content = handlers.handle(&cell).map(|result| result.content);
            let content = one_line(&content.unwrap_or_default(), MAX_CELL);
            line.push(' ');
            line.push_str(&content.replace('|', "\\|"));
            line.push_str(" |");
            count += 1;
        }
        if count == 0 {
            continue;
        }
        text.push_str(&line);
        text.push('\n');
        if number == 0 || width == 0 {
            width = count;
            text.push_str(&"|---".repeat(width));
            text.push_str("|\n");
        }
    }
    text.push('\n');
    Some(text.into())
}

fn is(node: &Rc<Node>, wanted: &str) -> bool {
    toolgate_page::name(node) == Some(wanted)
}

/// The rows of a table, not of those inside of it.
fn rows(table: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut rows = Vec::new();
    for child in table.children.borrow().iter() {
        if is(child, "tr") {
            rows.push(Rc::clone(child));
        } else if ["thead", "tbody", "tfoot"]
            .iter()
            .any(|part| is(child, part))
        {
            let inner = child.children.borrow();
            rows.extend(inner.iter().filter(|row| is(row, "tr")).cloned());
        }
    }
    rows
}

fn cells(row: &Rc<Node>) -> impl Iterator<Item = Rc<Node>> {
    let children = row.children.borrow();
    let cells: Vec<Rc<Node>> = children
        .iter()
        .filter(|cell| is(cell, "td") || is(cell, "th"))
        .cloned()
        .collect();
    cells.into_iter()
}

fn is_in_cell(node: &Rc<Node>) -> bool {
    let mut at = parent(node);
    while let Some(node) = at {
        if is(&node, "td") || is(&node, "th") {
            return true;
        }
        at = parent(&node);
    }
    false
}

fn parent(node: &Rc<Node>) -> Option<Rc<Node>> {
    let parent = node.parent.take();
    node.parent.set(parent.clone());
    parent?.upgrade()
}

#[cfg(test)]
mod tests;
