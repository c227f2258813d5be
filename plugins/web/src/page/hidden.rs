//! What a reader of the page in a browser would not see, as far as the page itself says so. Text for nobody's eyes is
//! how a page speaks to a model behind a person's back.
//!
//! Rules in files of their own, and what a script does, are beyond this.

use std::collections::HashSet;
use std::rc::Rc;

use markup5ever_rcdom::Node;

use super::element::{attribute, is, text_of};
use super::style;

/// Elements that hold no text for a reader, or controls to press rather than text to read.
const WITHOUT_TEXT: [&str; 38] = [
    "applet", "area", "audio", "base", "button", "canvas", "col", "colgroup", "datalist", "dialog", "embed", "frame",
    "frameset", "head", "iframe", "input", "link", "map", "meta", "meter", "noembed", "noframes", "noscript", "object",
    "optgroup", "option", "param", "progress", "script", "select", "source", "style", "svg", "template", "textarea",
    "title", "track", "video",
];

/// Classes with which every large style sheet takes text out of sight.
const OUT_OF_SIGHT: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screenreader-text", "d-none"];

/// The rules of a page's own `style` elements that hide something.
#[derive(Default)]
pub(crate) struct Hidden {
    classes: HashSet<String>,
    ids: HashSet<String>,
}

impl Hidden {
    /// Reads the style elements of a page.
    pub(crate) fn of(document: &Rc<Node>) -> Self {
        let mut hidden = Self::default();
        let mut shown = HashSet::new();
        let mut open = vec![document.clone()];
        while let Some(node) = open.pop() {
            if is(&node, &["style"]) {
                for rule in style::rules(&text_of(&node)) {
                    hidden.learn(&rule, &mut shown);
                }
            }
            open.extend(node.children.borrow().iter().cloned());
        }
        // What another rule shows again is shown by a script: the panes of tabs, for one.
        hidden.classes.retain(|name| !shown.contains(name));
        hidden.ids.retain(|name| !shown.contains(name));
        hidden
    }

    fn learn(&mut self, rule: &style::Rule, shown: &mut HashSet<String>) {
        for selector in &rule.selectors {
            if !style::hides(&rule.declarations) {
                if style::shows(&rule.declarations) {
                    shown.extend(style::names(selector));
                }
            } else if let Some(class) = selector.strip_prefix('.').filter(|name| style::is_name(name)) {
                self.classes.insert(class.to_owned());
            } else if let Some(id) = selector.strip_prefix('#').filter(|name| style::is_name(name)) {
                self.ids.insert(id.to_owned());
            }
        }
    }

    /// Whether an element, and so all beneath it, is out of a reader's sight.
    pub(crate) fn covers(&self, node: &Node) -> bool {
        is(node, &WITHOUT_TEXT)
            || attribute(node, "hidden").is_some()
            || attribute(node, "aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || attribute(node, "style").is_some_and(|value| style::hides(&style::declarations(&value)))
            || attribute(node, "id").is_some_and(|id| self.ids.contains(&*id))
            || attribute(node, "class").is_some_and(|class| {
                let mut names = class.split_ascii_whitespace();
                names.any(|name| self.classes.contains(name) || OUT_OF_SIGHT.contains(&name))
            })
    }
}
