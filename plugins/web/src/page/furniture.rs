//! Separates the content of a page from what every page of a site repeats.

use std::rc::Rc;

use markup5ever_rcdom::{Node, NodeData};

use super::element::{any, attribute, is, is_called};
use super::hidden::Hidden;

/// Minimum bytes of a marked part for it to count as the content. A page with little text needs less.
const CONTENT_BYTES_MIN: usize = 200;

/// A marked part counts as the content if it has at least one in this many bytes of the page's text.
const CONTENT_SHARE: usize = 5;

/// Classes and ids that documentation tools and frameworks give to the content.
const CONTENT_NAMES: [&str; 8] = [
    "main",
    "main-content",
    "maincontent",
    "content",
    "docs-body",
    "mw-content-text",
    "markdown-body",
    "documentwrapper",
];

/// Classes and ids that are never content: controls, editor marks, and navigation within the page.
const FURNITURE_NAMES: [&str; 38] = [
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookie-consent",
    "copy-button",
    "copybtn",
    "edit-this-page",
    "hash-link",
    "headerlink",
    "hideme",
    "jump-link",
    "lineno",
    "linenodiv",
    "linenos",
    "localtoc",
    "mw-editsection",
    "mw-jump-link",
    "navbox",
    "navigation",
    "noprint",
    "pagination",
    "prev-next-area",
    "related",
    "rightside",
    "rst-footer-buttons",
    "rustdoc-toolbar",
    "skip-link",
    "skip-to-content",
    "sphinxsidebar",
    "src",
    "table-of-contents",
    "table_of_contents",
    "toc",
    "toc-tree",
    "viewcode-back",
    "viewcode-link",
    "wy-breadcrumbs",
    "wy-nav-side",
];

/// Classes and ids that mark a part outside the content. Within the content they mean something else.
const BESIDE_NAMES: [&str; 10] =
    ["banner", "footer", "header", "masthead", "menu", "nav", "navbar", "sidebar", "side-bar", "site-header"];

/// ARIA roles that are not content.
const FURNITURE_ROLES: [&str; 9] =
    ["navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar", "dialog", "doc-toc"];

/// What to keep of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// All but furniture, in the part that the page marks as its content.
    Content,
    /// All but furniture, in a page that does not mark its content.
    Page,
    /// Everything that is visible.
    #[default]
    Everything,
}

/// Returns the part of a page that the page marks as its content, if any.
pub(crate) fn content(document: &Rc<Node>, hidden: &Hidden) -> Option<Rc<Node>> {
    let whole = text_bytes(document, hidden);
    let enough = |node: &Rc<Node>| {
        let bytes = text_bytes(node, hidden);
        bytes >= CONTENT_BYTES_MIN.min(whole / 2 + 1) && bytes * CONTENT_SHARE >= whole
    };
    let marks: [fn(&Node) -> bool; 3] = [
        |node| is(node, &["main"]) || attribute(node, "role").is_some_and(|role| &*role == "main"),
        |node| is(node, &["article"]),
        |node| is(node, &["div", "section", "td"]) && is_called(node, |name| CONTENT_NAMES.contains(&name)),
    ];
    marks.iter().find_map(|is_marked| {
        let found = outermost(document, hidden, *is_marked);
        // Two or more of a kind are each only a part of the content, for example in a list of articles.
        match found.as_slice() {
            [only] if enough(only) => Some(only.clone()),
            _ => None,
        }
    })
}

/// Returns whether an element is outside the content, such as navigation or a sidebar.
pub(crate) fn is_furniture(node: &Node, scope: Scope) -> bool {
    // These elements hold the content, whatever their class or id is.
    if scope == Scope::Everything || is(node, &["html", "body", "main", "article"]) {
        return false;
    }
    let is_beside = scope == Scope::Page
        && (is(node, &["footer", "aside", "header"]) || is_called(node, |name| BESIDE_NAMES.contains(&name)));
    is(node, &["nav"])
        || attribute(node, "role").is_some_and(|role| FURNITURE_ROLES.contains(&&*role))
        || ((is_beside || is_called(node, |name| FURNITURE_NAMES.contains(&name))) && !has_heading(node))
}

/// Returns whether a node contains an `h1`. Then it is at least the beginning of the content.
fn has_heading(node: &Node) -> bool {
    node.children.borrow().iter().any(|child| any(child, |node| is(node, &["h1"])))
}

/// Returns the elements that pass a test and are not inside another such element.
fn outermost(document: &Rc<Node>, hidden: &Hidden, test: fn(&Node) -> bool) -> Vec<Rc<Node>> {
    let mut found = Vec::new();
    let mut open = vec![document.clone()];
    while let Some(node) = open.pop() {
        if test(&node) && !hidden.covers(&node) {
            found.push(node);
        } else {
            open.extend(node.children.borrow().iter().cloned());
        }
    }
    found
}

/// Counts the bytes of visible text in a part, without white space.
fn text_bytes(node: &Rc<Node>, hidden: &Hidden) -> usize {
    let mut bytes = 0;
    let mut open = vec![node.clone()];
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => bytes += contents.borrow().split_whitespace().map(str::len).sum::<usize>(),
            _ if hidden.covers(&node) => {}
            _ => open.extend(node.children.borrow().iter().cloned()),
        }
    }
    bytes
}
