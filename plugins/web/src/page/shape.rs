//! Rebuilds the tree with the constructs that Markdown has. Leaves out what is hidden or not content, and replaces
//! every construct that Markdown lacks. The new tree holds only the elements of [`BLOCKS`] and the inline elements that
//! `htmd` knows.

mod code;
mod list;
mod table;

use std::rc::Rc;

use markup5ever_rcdom::{Node, NodeData};
use portcullis_sdk::http::Url;

use super::element::{
    any, attribute, element, is, is_called, one_line, tag, take_children, text, text_of, text_of_all,
};
use super::furniture::{self, Scope};
use super::hidden::Hidden;
use super::link::{self, Link};
use super::tree::DEPTH_MAX;
use crate::characters::visible;

/// The block elements of the rebuilt tree.
const BLOCKS: [&str; 14] =
    ["p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "table", "blockquote", "hr"];

const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// Elements that are boxes around other content.
const BOXES: [&str; 23] = [
    "address",
    "article",
    "aside",
    "body",
    "center",
    "details",
    "div",
    "fieldset",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "html",
    "legend",
    "main",
    "nav",
    "p",
    "search",
    "section",
    "summary",
    "figcaption",
    "caption",
];

/// Maximum length of an image's alternative text to keep.
const ALTERNATIVE_CHARACTERS_MAX: usize = 200;

/// Maximum length of an exponent or a footnote mark.
const SUPERSCRIPT_BYTES_MAX: usize = 6;

/// Rebuilds one page.
pub(crate) struct Shaper<'a> {
    pub(crate) hidden: &'a Hidden,
    /// The base URL.
    pub(crate) base: &'a Url,
    /// The URL of the page itself.
    pub(crate) page: &'a Url,
}

/// The position of a node in the new tree.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    depth: usize,
    scope: Scope,
    /// Inside a heading, a cell or a link, where blocks are not allowed.
    line: bool,
    strong: bool,
    emphasis: bool,
}

impl Place {
    /// Returns the position of the root, with its scope.
    pub(crate) fn within(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    fn line(self) -> Self {
        Self { line: true, ..self }
    }
}

impl Shaper<'_> {
    /// Rebuilds the children of a node.
    pub(crate) fn children(&self, node: &Rc<Node>, place: Place) -> Vec<Rc<Node>> {
        let place = Place { depth: place.depth + 1, ..place };
        let mut shaped = Vec::new();
        // The parser's repairs of invalid nesting can make a tree deeper than it counted.
        if place.depth <= DEPTH_MAX + 8 {
            for child in take_children(node) {
                self.node(&child, place, &mut shaped);
            }
        }
        shaped
    }

    fn node(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        match &node.data {
            NodeData::Text { contents } => shaped.push(text(&words(&contents.borrow()))),
            NodeData::Element { .. } if self.is_left_out(node, place) => {}
            NodeData::Element { name, .. } => self.element(&name.local, node, place, shaped),
            _ => {}
        }
    }

    fn is_left_out(&self, node: &Node, place: Place) -> bool {
        self.hidden.covers(node) || furniture::is_furniture(node, place.scope)
    }

    fn element(&self, name: &str, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        match name {
            "pre" | "listing" | "xmp" | "plaintext" => self.code_block(node, place, shaped),
            "code" | "kbd" | "samp" | "tt" => self.code(node, shaped),
            "a" => self.link(node, place, shaped),
            "img" => image(node, shaped),
            "br" if place.line => shaped.push(text(" ")),
            "br" => shaped.push(element("br", &[], Vec::new())),
            "hr" if place.line => {}
            "hr" => shaped.push(element("hr", &[], Vec::new())),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(name, node, place, shaped),
            "ul" | "ol" | "menu" | "dir" => self.list(node, place, shaped),
            "dl" => self.definitions(node, place, shaped),
            "li" | "dt" | "dd" => self.boxed("div", node, place, shaped),
            "table" => self.table(node, place, shaped),
            "blockquote" => self.boxed("blockquote", node, place, shaped),
            "strong" | "b" => self.emphasis("strong", node, place, shaped),
            "em" | "i" | "var" => self.emphasis("em", node, place, shaped),
            "sup" => self.superscript(node, place, shaped),
            "q" => {
                shaped.push(text("“"));
                shaped.extend(self.children(node, place));
                shaped.push(text("”"));
            }
            "math" => math(node, shaped),
            _ if BOXES.contains(&name) => self.boxed("div", node, place, shaped),
            _ => shaped.extend(self.children(node, place)),
        }
    }

    /// Rebuilds a box as a block, or as separate words inside a line.
    fn boxed(&self, name: &str, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let is_title = is(node, &["summary", "legend", "figcaption", "caption"])
            || is_called(node, |name| matches!(name, "admonition-title" | "rubric"));
        let has_heading = any(node, |node| is(node, &HEADINGS));
        if is_title && !has_heading && !place.line {
            return self.title(node, place, shaped);
        }
        let children = self.children(node, place);
        if place.line {
            shaped.push(text(" "));
            shaped.extend(children);
            shaped.push(text(" "));
        } else {
            shaped.extend(block(name, children));
        }
    }

    /// Rebuilds a caption or legend as a bold line.
    fn title(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let children = self.children(node, Place { strong: true, ..place.line() });
        if !is_blank(&children) {
            shaped.push(element("p", &[], vec![element("strong", &[], children)]));
        }
    }

    fn heading(&self, name: &str, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        // A heading is bold by itself, so emphasis within it must add no marks.
        let mut children = self.children(node, Place { strong: true, ..place.line() });
        if is_blank(&children) {
            return;
        }
        // rustdoc gives this class to the declaration of an item.
        if is_called(node, |name| name == "code-header") {
            children = vec![element("code", &[], vec![text(&one_line(&text_of_all(&children)))])];
        }
        if place.line {
            shaped.push(text(" "));
            shaped.extend(children);
            shaped.push(text(" "));
        } else {
            shaped.push(element(name, &[], children));
        }
    }

    fn emphasis(&self, name: &str, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let has_it = if name == "strong" { place.strong } else { place.emphasis };
        let within = match name {
            "strong" => Place { strong: true, ..place },
            _ => Place { emphasis: true, ..place },
        };
        let children = self.children(node, within);
        if has_it || is_blank(&children) || children.iter().any(|child| any(child, is_block)) {
            shaped.extend(children);
        } else {
            shaped.push(element(name, &[], children));
        }
    }

    fn link(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let label = one_line(&words(&text_of(node)));
        // A link without a text counts as an anchor mark, so a link around an image needs one.
        let is_image = label.is_empty() && any(node, |node| is(node, &["img", "math"]));
        let label = if is_image { "image" } else { &label };
        let address = attribute(node, "href");
        match link::judge(address.as_deref(), label, self.base, self.page) {
            Link::Mark => {}
            Link::Words => shaped.extend(self.children(node, place)),
            Link::To(address) => {
                let has_blocks = any(node, |node| is(node, &BLOCKS));
                let children = self.children(node, place.line());
                if is_blank(&children) {
                    return;
                }
                let link = element("a", &[("href", &address)], children);
                // A linked card becomes its own paragraph.
                shaped.push(if has_blocks && !place.line { element("p", &[], vec![link]) } else { link });
            }
        }
    }

    /// Rebuilds an exponent or a footnote mark. Any other superscript becomes plain text.
    fn superscript(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let is_mark = any(node, |node| is(node, &["a"]));
        let children = self.children(node, place.line());
        let words = one_line(&text_of_all(&children));
        let is_number = words.trim_start_matches(['-', '−', '+']).starts_with(|first: char| first.is_ascii_digit());
        let follows = shaped.last().is_some_and(|last| !text_of(last).ends_with(char::is_whitespace));
        if words.is_empty() || words.len() > SUPERSCRIPT_BYTES_MAX {
            shaped.extend(children);
        } else if is_mark && !words.starts_with(['[', '(']) {
            shaped.push(text(&format!("[{words}]")));
        } else if !is_mark && is_number && follows {
            shaped.push(text(&format!("^{words}")));
        } else {
            shaped.extend(children);
        }
    }
}

/// Removes invisible characters, and turns no-break spaces into spaces.
fn words(text: &str) -> String {
    visible(text).replace('\u{a0}', " ")
}

/// Wraps children in a block. Wraps nothing if they are blank, and adds no `div` around blocks.
fn block(name: &str, children: Vec<Rc<Node>>) -> Vec<Rc<Node>> {
    let children = without_gaps(children);
    if is_blank(&children) && !children.iter().any(|child| is(child, &["hr"])) {
        Vec::new()
    } else if name == "div" && children.iter().all(|child| is_block(child)) {
        children
    } else {
        vec![element(name, &[], children)]
    }
}

/// Removes the white space between blocks.
fn without_gaps(children: Vec<Rc<Node>>) -> Vec<Rc<Node>> {
    let is_edge = |node: Option<&Rc<Node>>| node.is_none_or(|node| is_block(node));
    let mut kept: Vec<Rc<Node>> = Vec::with_capacity(children.len());
    let mut children = children.into_iter().peekable();
    while let Some(child) = children.next() {
        let is_gap = is_white(&child) && (is_edge(kept.last()) || is_edge(children.peek()));
        if !is_gap {
            kept.push(child);
        }
    }
    kept
}

fn is_block(node: &Node) -> bool {
    is(node, &BLOCKS)
}

fn is_white(node: &Node) -> bool {
    matches!(&node.data, NodeData::Text { contents } if contents.borrow().trim().is_empty())
}

/// Returns whether nodes have no visible text.
fn is_blank(nodes: &[Rc<Node>]) -> bool {
    text_of_all(nodes).trim().is_empty()
}

/// Replaces an image by its alternative text. Leaves out its address, because a program that shows the text would
/// fetch it.
fn image(node: &Node, shaped: &mut Vec<Rc<Node>>) {
    let label = one_line(&words(&attribute(node, "alt").unwrap_or_default()));
    if label.is_empty() || label.chars().count() > ALTERNATIVE_CHARACTERS_MAX {
        return;
    }
    if is_called(node, |name| name.contains("math")) {
        shaped.push(element("code", &[], vec![text(&label)]));
    } else {
        shaped.push(text(&format!("(image: {label})")));
    }
}

/// Replaces a formula by its TeX if the page has it, or else by its text.
fn math(node: &Rc<Node>, shaped: &mut Vec<Rc<Node>>) {
    let is_tex = |node: &Rc<Node>| attribute(node, "encoding").is_some_and(|encoding| encoding.contains("tex"));
    let mut annotations = Vec::new();
    let mut open = vec![node.clone()];
    while let Some(node) = open.pop() {
        if tag(&node) == Some("annotation") {
            annotations.push(node);
        } else {
            open.extend(node.children.borrow().iter().cloned());
        }
    }
    let tex = attribute(node, "alttext").map(|tex| tex.to_string());
    let tex = tex.or_else(|| annotations.iter().find(|node| is_tex(node)).map(text_of));
    match tex.map(|tex| one_line(&words(&tex))).filter(|tex| !tex.is_empty()) {
        Some(tex) => shaped.push(element("code", &[], vec![text(&tex)])),
        None => shaped.push(text(&one_line(&words(&text_of(node))))),
    }
}
