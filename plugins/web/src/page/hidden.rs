//! Finds elements that a browser would not show, as far as the page itself tells. A page can use hidden text to give a
//! model instructions that a person does not see.
//!
//! External style sheets and scripts are not considered.

use std::collections::HashSet;
use std::rc::Rc;

use markup5ever_rcdom::Node;

use super::element::{attribute, is, text_of};
use super::style;

/// Elements without readable text: metadata, embedded content and controls.
const WITHOUT_TEXT: [&str; 38] = [
    "applet", "area", "audio", "base", "button", "canvas", "col", "colgroup", "datalist", "dialog", "embed", "frame",
    "frameset", "head", "iframe", "input", "link", "map", "meta", "meter", "noembed", "noframes", "noscript", "object",
    "optgroup", "option", "param", "progress", "script", "select", "source", "style", "svg", "template", "textarea",
    "title", "track", "video",
];

/// Classes that hide text in all widely used style sheets.
const OUT_OF_SIGHT: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screenreader-text", "d-none"];

/// The classes and ids that a page's own `style` elements hide.
#[derive(Default)]
pub(crate) struct Hidden {
    classes: HashSet<String>,
    ids: HashSet<String>,
}

impl Hidden {
    /// Collects the hiding rules of a page's `style` elements.
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
        // If another rule shows the name again, a script switches between them, as in the panes of tabs.
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

    /// Returns whether an element and all its descendants are hidden.
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
