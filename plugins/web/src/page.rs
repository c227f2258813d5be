//! A page of HTML as text to read. One file for each step: `tree` parses, `hidden` and `style` tell what is out of
//! sight, `furniture` what is no content, `shape` rebuilds the rest with `link`, and `markdown` writes it.

mod element;
mod furniture;
mod hidden;
mod link;
mod markdown;
mod shape;
mod style;
mod tree;

use std::rc::Rc;

use markup5ever_rcdom::Node;
use portcullis_sdk::http::Url;

use self::element::{attribute, is, one_line, text_of};
use self::furniture::Scope;
use self::hidden::Hidden;
use self::shape::{Place, Shaper};
use crate::characters::visible;

pub(crate) use self::tree::{DEPTH_MAX, TooDeep};

/// A longer title is cut: it goes to people as well, in one line.
const TITLE_CHARACTERS_MAX: usize = 200;

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// In one line; empty where the page has none.
    pub(crate) title: String,
    pub(crate) markdown: String,
    /// False: the page is larger than what was read of it.
    pub(crate) whole: bool,
}

/// Reads a page that was fetched from an address.
pub(crate) fn read(html: &str, address: &Url) -> Result<Page, TooDeep> {
    let page = convert(html, address, Scope::Page)?;
    // A page of nothing but navigation is about that.
    match page.markdown.is_empty() {
        true => convert(html, address, Scope::Everything),
        false => Ok(page),
    }
}

fn convert(html: &str, address: &Url, scope: Scope) -> Result<Page, TooDeep> {
    let tree = tree::parse(html)?;
    let hidden = Hidden::of(&tree.document);
    let title = title(&tree.document);
    let base = base(&tree.document, address);
    let content = match scope {
        Scope::Page => furniture::content(&tree.document, &hidden),
        Scope::Content | Scope::Everything => None,
    };
    // The document is kept to the end: a node that is dropped takes all beneath it along, whoever else holds it.
    let (root, scope) = content.map_or_else(|| (tree.document.clone(), scope), |content| (content, Scope::Content));
    let shaped = Shaper { hidden: &hidden, base: &base, page: address }.children(&root, Place::within(scope));
    Ok(Page { title, markdown: markdown::write(shaped), whole: tree.whole })
}

/// The first element of a name, in the order of the page.
fn first(document: &Rc<Node>, name: &str) -> Option<Rc<Node>> {
    let mut open = vec![document.clone()];
    while let Some(node) = open.pop() {
        if is(&node, &[name]) {
            return Some(node);
        }
        if !is(&node, &["svg", "template"]) {
            open.extend(node.children.borrow().iter().rev().cloned());
        }
    }
    None
}

fn title(document: &Rc<Node>) -> String {
    let title = first(document, "title").map(|title| one_line(&visible(&text_of(&title)))).unwrap_or_default();
    title.chars().take(TITLE_CHARACTERS_MAX).collect()
}

/// What addresses in the page are relative to.
fn base(document: &Rc<Node>, address: &Url) -> Url {
    let written = first(document, "base").and_then(|base| attribute(&base, "href"));
    written.and_then(|base| Url::parse(&address.join(&base)).ok()).unwrap_or_else(|| address.clone())
}
