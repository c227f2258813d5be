//! Converts a page of HTML to text. One file for each step: `tree` parses, `hidden` and `style` find hidden elements,
//! `furniture` finds what is not content, `shape` rebuilds the rest with `link`, and `markdown` writes it.

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

use self::element::{attribute, is, text_of};
use self::furniture::Scope;
use self::hidden::Hidden;
use self::shape::{Place, Shaper};
use crate::characters::visible;

pub(crate) use self::element::one_line;
pub(crate) use self::tree::{DEPTH_MAX, TooDeep};

/// Maximum length of a title. People see it too, in one line.
const TITLE_CHARACTERS_MAX: usize = 200;

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The title in one line; empty if the page has none.
    pub(crate) title: String,
    pub(crate) markdown: String,
    /// Whether all of the page was read.
    pub(crate) whole: bool,
}

/// Converts a page that was fetched from an address.
pub(crate) fn read(html: &str, address: &Url) -> Result<Page, TooDeep> {
    let page = convert(html, address, Scope::Page)?;
    // If a page has only navigation, then the navigation is its content.
    match page.markdown.is_empty() {
        true => convert(html, address, Scope::Everything),
        false => Ok(page),
    }
}

/// Returns the text of a piece of HTML, without its elements. Returns nothing for a piece that is nested too deep.
pub(crate) fn text(html: &str) -> String {
    tree::parse(html).map(|tree| text_of(&tree.document)).unwrap_or_default()
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
    // Keep the document alive to the end: dropping a node empties all nodes below it, even those held elsewhere.
    let (root, scope) = content.map_or_else(|| (tree.document.clone(), scope), |content| (content, Scope::Content));
    let shaped = Shaper { hidden: &hidden, base: &base, page: address }.children(&root, Place::within(scope));
    Ok(Page { title, markdown: markdown::write(shaped), whole: tree.whole })
}

/// Returns the first element with a name, in document order.
fn first(document: &Rc<Node>, name: &str) -> Option<Rc<Node>> {
    let mut open = vec![document.clone()];
    while let Some(node) = open.pop() {
        if is(&node, &[name]) {
            return Some(node);
        }
        // An `svg` element can have a title of its own, which is not that of the page.
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

/// Returns the base URL of the page.
fn base(document: &Rc<Node>, address: &Url) -> Url {
    // `Url::parse` accepts only addresses of the web, so a base such as `data:` changes no link.
    let written = first(document, "base").and_then(|base| attribute(&base, "href"));
    written.and_then(|base| Url::parse(&address.join(&base)).ok()).unwrap_or_else(|| address.clone())
}
