//! Inline code and code blocks.

use std::rc::Rc;

use markup5ever_rcdom::{Node, NodeData};

use super::{Place, Shaper, words};
use crate::page::element::{attribute, element, is, one_line, text};
use crate::page::furniture::Scope;

/// Prefixes of classes that name a language.
const LANGUAGE_PREFIXES: [&str; 5] = ["language-", "lang-", "highlight-source-", "highlight-", "sourceCode-"];

/// Names of languages that tools write as a class without a prefix.
const LANGUAGES: [&str; 24] = [
    "bash",
    "c",
    "console",
    "cpp",
    "css",
    "diff",
    "go",
    "html",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "php",
    "python",
    "ruby",
    "rust",
    "sh",
    "shell",
    "sql",
    "toml",
    "typescript",
    "xml",
    "yaml",
];

/// Names that tools write if they do not know the language.
const NO_LANGUAGE: [&str; 7] = ["default", "none", "text", "plain", "plaintext", "notranslate", "source"];

/// Maximum length of a language's name.
const LANGUAGE_BYTES_MAX: usize = 20;

/// Maximum number of ancestors of a code block to search for its language.
const LANGUAGE_STEPS_MAX: usize = 3;

impl Shaper<'_> {
    /// Rebuilds inline code.
    pub(super) fn code(&self, node: &Rc<Node>, shaped: &mut Vec<Rc<Node>>) {
        let line = one_line(&self.lines(node));
        if !line.is_empty() {
            shaped.push(element("code", &[], vec![text(&line)]));
        }
    }

    /// Rebuilds a code block, with its language if the page names it.
    pub(super) fn code_block(&self, node: &Rc<Node>, place: Place, shaped: &mut Vec<Rc<Node>>) {
        if place.line {
            shaped.push(text(" "));
            self.code(node, shaped);
            return shaped.push(text(" "));
        }
        let lines = self.lines(node);
        let lines = lines.trim_start_matches('\n').trim_end();
        if lines.trim().is_empty() {
            return;
        }
        let class = language(node).map(|language| format!("language-{language}"));
        let class = class.as_deref().map(|class| ("class", class));
        let code = element("code", class.as_slice(), vec![text(lines)]);
        shaped.push(element("pre", &[], vec![code]));
    }

    /// Returns the text of code, without the line numbers and buttons that tools add.
    fn lines(&self, node: &Rc<Node>) -> String {
        enum Step {
            In(Rc<Node>),
            EndOfLine,
        }
        let mut lines = String::new();
        let mut open: Vec<Step> = node.children.borrow().iter().rev().cloned().map(Step::In).collect();
        while let Some(step) = open.pop() {
            let node = match step {
                Step::In(node) => node,
                Step::EndOfLine => {
                    if !lines.ends_with('\n') {
                        lines.push('\n');
                    }
                    continue;
                }
            };
            match &node.data {
                NodeData::Text { contents } => lines.push_str(&words(&contents.borrow())),
                NodeData::Element { .. } if is(&node, &["br"]) => lines.push('\n'),
                NodeData::Element { .. } if self.is_left_out(&node, Place::within(Scope::Content)) => {}
                _ => {
                    if is(&node, &["div", "p", "li", "tr"]) {
                        open.push(Step::EndOfLine);
                    }
                    open.extend(node.children.borrow().iter().rev().cloned().map(Step::In));
                }
            }
        }
        lines
    }
}

/// Returns the language of a code block: from its `code` child, from itself, or from its ancestors.
fn language(node: &Rc<Node>) -> Option<String> {
    let within = node.children.borrow().iter().find(|child| is(child, &["code"])).cloned();
    let around = std::iter::successors(Some(node.clone()), |node| {
        // A `Cell` gives its content only by value, so put it back afterwards.
        let parent = node.parent.take();
        let above = parent.as_ref().and_then(std::rc::Weak::upgrade);
        node.parent.set(parent);
        above
    });
    within.into_iter().chain(around.take(LANGUAGE_STEPS_MAX)).find_map(|node| written(&node))
}

fn written(node: &Node) -> Option<String> {
    let is_name = |name: &str| {
        name.len() <= LANGUAGE_BYTES_MAX
            && name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+#-_.".contains(&byte))
            && !NO_LANGUAGE.contains(&name)
    };
    for name in ["data-lang", "data-language"] {
        if let Some(language) = attribute(node, name).filter(|language| is_name(language)) {
            return Some(language.to_ascii_lowercase());
        }
    }
    let class = attribute(node, "class")?;
    let mut names = class.split_ascii_whitespace();
    let language = names.find_map(|name| {
        let prefixed = LANGUAGE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
        let known = LANGUAGES.contains(&name) && is(node, &["pre", "code"]);
        prefixed.or(known.then_some(name)).filter(|name| is_name(name))
    })?;
    Some(match language {
        "python3" | "ipython3" | "ipython" => "python".to_owned(),
        language => language.to_ascii_lowercase(),
    })
}
