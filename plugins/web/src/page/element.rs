//! Reading and making nodes.

use std::rc::Rc;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};
use markup5ever_rcdom::{Node, NodeData};

/// The name of an element, in lower case as HTML has it.
pub(crate) fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// Whether a node is an element of one of these names.
pub(crate) fn is(node: &Node, tags: &[&str]) -> bool {
    tag(node).is_some_and(|tag| tags.contains(&tag))
}

/// The value of an attribute.
pub(crate) fn attribute(node: &Node, name: &str) -> Option<StrTendril> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.clone())
}

/// Whether a word of `class`, or the `id`, passes a test.
pub(crate) fn is_called(node: &Node, mut test: impl FnMut(&str) -> bool) -> bool {
    attribute(node, "id").is_some_and(|id| test(&id))
        || attribute(node, "class").is_some_and(|class| class.split_ascii_whitespace().any(test))
}

/// The children, to look at.
pub(crate) fn children(node: &Node) -> Vec<Rc<Node>> {
    node.children.borrow().clone()
}

/// The children, taken out: what is rebuilt is freed on the way.
pub(crate) fn take_children(node: &Node) -> Vec<Rc<Node>> {
    node.children.take()
}

/// A new element around children.
pub(crate) fn element(tag: &str, attributes: &[(&str, &str)], children: Vec<Rc<Node>>) -> Rc<Node> {
    let name = |local: &str, space| QualName::new(None, space, LocalName::from(local));
    let attribute =
        |(key, value): &(&str, &str)| Attribute { name: name(key, ns!()), value: StrTendril::from_slice(value) };
    let node = Node::new(NodeData::Element {
        name: name(tag, ns!(html)),
        attrs: attributes.iter().map(attribute).collect::<Vec<_>>().into(),
        template_contents: None.into(),
        mathml_annotation_xml_integration_point: false,
    });
    for child in &children {
        child.parent.set(Some(Rc::downgrade(&node)));
    }
    node.children.replace(children);
    node
}

/// A new text.
pub(crate) fn text(content: &str) -> Rc<Node> {
    Node::new(NodeData::Text { contents: StrTendril::from_slice(content).into() })
}

/// The text of a node and all beneath it, as it is written; `br` counts as a line feed.
pub(crate) fn text_of(node: &Rc<Node>) -> String {
    text_of_all(std::slice::from_ref(node))
}

/// The text of several nodes.
pub(crate) fn text_of_all(nodes: &[Rc<Node>]) -> String {
    let mut text = String::new();
    let mut open: Vec<Rc<Node>> = nodes.iter().rev().cloned().collect();
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => text.push_str(&contents.borrow()),
            NodeData::Element { name, .. } if &*name.local == "br" => text.push('\n'),
            _ => open.extend(node.children.borrow().iter().rev().cloned()),
        }
    }
    text
}

/// Whether a node or one beneath it passes a test.
pub(crate) fn any(node: &Rc<Node>, test: impl Fn(&Node) -> bool) -> bool {
    let mut open = vec![node.clone()];
    while let Some(node) = open.pop() {
        if test(&node) {
            return true;
        }
        open.extend(node.children.borrow().iter().cloned());
    }
    false
}

/// A text in one line: every run of white space is one space, and there is none at the ends.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
