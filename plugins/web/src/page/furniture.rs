//! What of a page is its content, and what stands around it on every page of a site.

use std::rc::Rc;

use markup5ever_rcdom::{Node, NodeData};

use super::element::{any, attribute, is, is_called};
use super::hidden::Hidden;

/// Content in bytes below which a marked part is taken for no more than a part: a page with little text shows little
/// around it as well.
const CONTENT_BYTES_MIN: usize = 200;

/// A marked part holds the content if it has at least one in this many bytes of the page's text.
const CONTENT_SHARE: usize = 5;

/// Names by which documentation tools and frameworks call the part with the content.
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

/// Names of what is no text on any page: controls, marks for editors, and ways round the page itself.
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

/// Names that a part beside the content goes by, and that say something else within it.
const BESIDE_NAMES: [&str; 10] =
    ["banner", "footer", "header", "masthead", "menu", "nav", "navbar", "sidebar", "side-bar", "site-header"];

/// Roles of what is no content.
const FURNITURE_ROLES: [&str; 9] =
    ["navigation", "search", "banner", "contentinfo", "menu", "menubar", "toolbar", "dialog", "doc-toc"];

/// What of a page is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// All but furniture, in a part of which the page says that it is its content.
    Content,
    /// All but furniture, in a page that does not say where its content is.
    Page,
    /// Whatever is in sight.
    #[default]
    Everything,
}

/// The part of a page that holds its content, where the page says which.
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
        // Two of a kind are parts of the content: of a list of articles, for one.
        match found.as_slice() {
            [only] if enough(only) => Some(only.clone()),
            _ => None,
        }
    })
}

/// Whether an element stands around the content or beside it.
pub(crate) fn is_furniture(node: &Node, scope: Scope) -> bool {
    // What holds the content is called as it may.
    if scope == Scope::Everything || is(node, &["html", "body", "main", "article"]) {
        return false;
    }
    let is_beside = scope == Scope::Page
        && (is(node, &["footer", "aside", "header"]) || is_called(node, |name| BESIDE_NAMES.contains(&name)));
    is(node, &["nav"])
        || attribute(node, "role").is_some_and(|role| FURNITURE_ROLES.contains(&&*role))
        || ((is_beside || is_called(node, |name| FURNITURE_NAMES.contains(&name))) && !has_heading(node))
}

/// What has the page's own heading in it is the beginning of its content, or all of it.
fn has_heading(node: &Node) -> bool {
    node.children.borrow().iter().any(|child| any(child, |node| is(node, &["h1"])))
}

/// The elements that pass a test and stand in no other such element.
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

/// How much text a part shows, white space left out.
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
