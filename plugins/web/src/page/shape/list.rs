//! Lists and definition lists. Markdown has no definition lists, so each term becomes an item.

use std::rc::Rc;

use markup5ever_rcdom::{Node, NodeData};

use super::{Place, Shaper, block, is_blank, is_block, without_gaps};
use crate::page::element::{any, attribute, element, is, is_called, one_line, tag, take_children, text, text_of_all};

impl Shaper<'_> {
    /// Rebuilds a list. Content outside an item joins the previous item, or becomes an item.
    pub(super) fn list(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let mut items: Vec<Vec<Rc<Node>>> = Vec::new();
        let mut first = attribute(node, "start");
        for child in self.unboxed(node, place) {
            if is(&child, &["li"]) {
                if items.is_empty() {
                    first = attribute(&child, "value").or(first);
                }
                items.push(self.children(&child, place));
                continue;
            }
            let mut content = Vec::new();
            self.node(&child, place, &mut content);
            match items.last_mut() {
                _ if is_blank(&content) => {}
                Some(item) if is(&child, &["ul", "ol"]) => item.extend(content),
                _ => items.push(content),
            }
        }
        let start = first.filter(|start| start.parse::<u16>().is_ok());
        let name = if is(node, &["ol"]) { "ol" } else { "ul" };
        let attributes = start.as_deref().map(|start| ("start", start));
        put(name, attributes.as_slice(), items, place, shaped);
    }

    /// Rebuilds a definition list.
    pub(super) fn definitions(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        let mut items: Vec<Vec<Rc<Node>>> = Vec::new();
        // The terms whose definition has not been seen yet.
        let mut terms: Vec<Rc<Node>> = Vec::new();
        for child in self.unboxed(node, place) {
            if tag(&child) == Some("dt") {
                let term = self.term(&child, place);
                if !terms.is_empty() && !term.is_empty() {
                    terms.push(text(", "));
                }
                terms.extend(term);
                continue;
            }
            let meaning = match tag(&child) {
                Some("dd") => self.children(&child, place),
                _ => {
                    let mut content = Vec::new();
                    self.node(&child, place, &mut content);
                    content
                }
            };
            if is_blank(&meaning) {
                continue;
            }
            match (terms.is_empty(), items.last_mut()) {
                (true, Some(item)) => item.extend(block("div", meaning)),
                _ => items.push(joined(std::mem::take(&mut terms), meaning)),
            }
        }
        if !terms.is_empty() {
            items.push(terms);
        }
        put("ul", &[], items, place, shaped);
    }

    /// Rebuilds a term in bold, or as code if it is a signature.
    fn term(&self, node: &Rc<Node>, place: Place) -> Vec<Rc<Node>> {
        let is_signature = is_called(node, |name| name == "sig" || name == "sig-object");
        let has_code = any(node, |node| is(node, &["code", "tt", "kbd", "samp"]));
        let children = trimmed(self.children(node, Place { strong: true, ..place.line() }));
        let words = one_line(&text_of_all(&children));
        if words.is_empty() {
            Vec::new()
        } else if is_signature {
            vec![element("code", &[], vec![text(&words)])]
        } else if has_code {
            children
        } else {
            vec![element("strong", &[], children)]
        }
    }

    /// Returns the children of a list, taken out of elements that only group them.
    fn unboxed(&self, node: &Rc<Node>, place: Place) -> Vec<Rc<Node>> {
        let mut children = Vec::new();
        for child in take_children(node) {
            let is_group = is(&child, &["div", "span", "form"])
                && child.children.borrow().iter().any(|child| is(child, &["li", "dt", "dd"]));
            if self.is_left_out(&child, place) {
                continue;
            } else if is_group {
                children.extend(take_children(&child).into_iter().filter(|child| !self.is_left_out(child, place)));
            } else {
                children.push(child);
            }
        }
        children
    }
}

/// Removes trailing white space from nodes.
fn trimmed(mut nodes: Vec<Rc<Node>>) -> Vec<Rc<Node>> {
    while let Some(last) = nodes.pop() {
        let content = match &last.data {
            NodeData::Text { contents } => contents.borrow().trim_end().to_owned(),
            _ => {
                nodes.push(last);
                break;
            }
        };
        if !content.is_empty() {
            nodes.push(text(&content));
            break;
        }
    }
    nodes
}

/// Joins a term and its definition, in one line if the definition has no blocks.
fn joined(mut term: Vec<Rc<Node>>, meaning: Vec<Rc<Node>>) -> Vec<Rc<Node>> {
    let meaning = tight(without_gaps(meaning));
    if term.is_empty() {
        return meaning;
    }
    if meaning.iter().any(|node| is_block(node)) {
        let mut item = vec![element("p", &[], term)];
        item.extend(meaning);
        return item;
    }
    let ends = one_line(&text_of_all(&term)).ends_with([':', '.', '?', '!']);
    term.push(text(if ends { " " } else { ": " }));
    term.extend(meaning);
    term
}

/// Unwraps a paragraph that is the only content, or the only content before lists.
fn tight(children: Vec<Rc<Node>>) -> Vec<Rc<Node>> {
    let is_paragraph = |node: &Rc<Node>| is(node, &["p", "div"]);
    match children.as_slice() {
        [only] if is_paragraph(only) => take_children(only),
        [first, rest @ ..] if is_paragraph(first) && rest.iter().all(|node| is(node, &["ul", "ol"])) => {
            let mut tight = take_children(first);
            tight.extend(rest.iter().cloned());
            tight
        }
        _ => children,
    }
}

/// Adds a list of items. Inside a line, adds the items separated by semicolons.
fn put(name: &str, attributes: &[(&str, &str)], items: Vec<Vec<Rc<Node>>>, place: Place, shaped: &mut Vec<Rc<Node>>) {
    let items = items.into_iter().map(|item| tight(without_gaps(item))).filter(|item| !is_blank(item));
    if place.line {
        for (number, item) in items.enumerate() {
            shaped.push(text(if number == 0 { " " } else { "; " }));
            shaped.extend(item);
        }
        return shaped.push(text(" "));
    }
    let items: Vec<_> = items.map(|item| element("li", &[], item)).collect();
    if !items.is_empty() {
        shaped.push(element(name, attributes, items));
    }
}
