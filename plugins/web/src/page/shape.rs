//! Rebuilds the tree as what Markdown can say: what is hidden or no content is left out, and every construct that
//! Markdown lacks becomes one that it has. What it makes of a page holds no element but the few of [`BLOCKS`] and the
//! inline ones that `htmd` knows.

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

/// The blocks that are left when a page is rebuilt.
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

/// A longer description of an image is a text of its own.
const ALTERNATIVE_CHARACTERS_MAX: usize = 200;

/// A longer superscript is no exponent and no mark of a footnote.
const SUPERSCRIPT_BYTES_MAX: usize = 6;

/// What a page is rebuilt by.
pub(crate) struct Shaper<'a> {
    pub(crate) hidden: &'a Hidden,
    /// What addresses are relative to.
    pub(crate) base: &'a Url,
    /// The page itself.
    pub(crate) page: &'a Url,
}

/// Where in the new tree a node stands.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    depth: usize,
    scope: Scope,
    /// Within a heading, a cell or a link: there are no blocks.
    line: bool,
    strong: bool,
    emphasis: bool,
}

impl Place {
    /// Where a page begins, or the part of it that is kept.
    pub(crate) fn within(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    fn line(self) -> Self {
        Self { line: true, ..self }
    }
}

impl Shaper<'_> {
    /// What becomes of the children of a node.
    pub(crate) fn children(&self, node: &Rc<Node>, place: Place) -> Vec<Rc<Node>> {
        let place = Place { depth: place.depth + 1, ..place };
        let mut shaped = Vec::new();
        // Repairs of wrong nesting can make a tree deeper than the parser has counted.
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

    /// A box is a block of its own; in a line it is a word of its own.
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

    /// A line that stands over what it belongs to.
    fn title(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let children = self.children(node, Place { strong: true, ..place.line() });
        if !is_blank(&children) {
            shaped.push(element("p", &[], vec![element("strong", &[], children)]));
        }
    }

    fn heading(&self, name: &str, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let mut children = self.children(node, Place { strong: true, ..place.line() });
        if is_blank(&children) {
            return;
        }
        // What rustdoc calls the declaration of an item.
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
                // A card that leads elsewhere is a paragraph of its own.
                shaped.push(if has_blocks && !place.line { element("p", &[], vec![link]) } else { link });
            }
        }
    }

    /// An exponent, or the mark of a footnote; in other places a superscript is a matter of looks.
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

/// A text as it is read: without what cannot be seen, and with spaces for what looks like them.
fn words(text: &str) -> String {
    visible(text).replace('\u{a0}', " ")
}

/// A block around children; none around nothing, and no second one around blocks.
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

/// Children without the white space that stands between blocks.
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

/// Whether nodes show nothing.
fn is_blank(nodes: &[Rc<Node>]) -> bool {
    text_of_all(nodes).trim().is_empty()
}

/// An image is what is written about it. Its address is left out: whoever shows the text would fetch it.
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

/// A formula is its TeX, where the page has it.
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
