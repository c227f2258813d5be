//! Functions to read and create nodes.

use std::rc::Rc;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, ns};
use markup5ever_rcdom::{Node, NodeData};

/// Returns the name of an element, in lower case as the parser gives it.
pub(crate) fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// Returns whether a node is an element with one of these names.
pub(crate) fn is(node: &Node, tags: &[&str]) -> bool {
    tag(node).is_some_and(|tag| tags.contains(&tag))
}

/// Returns the value of an attribute.
pub(crate) fn attribute(node: &Node, name: &str) -> Option<StrTendril> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.clone())
}

/// Returns whether a word of `class`, or the `id`, passes a test.
pub(crate) fn is_called(node: &Node, mut test: impl FnMut(&str) -> bool) -> bool {
    attribute(node, "id").is_some_and(|id| test(&id))
        || attribute(node, "class").is_some_and(|class| class.split_ascii_whitespace().any(test))
}

/// Returns the children of a node, and leaves them in it.
pub(crate) fn children(node: &Node) -> Vec<Rc<Node>> {
    node.children.borrow().clone()
}

/// Takes the children out of a node, so that the old tree is freed while the new one is built.
pub(crate) fn take_children(node: &Node) -> Vec<Rc<Node>> {
    node.children.take()
}

/// Creates an element with these children.
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

/// Creates a text node.
pub(crate) fn text(content: &str) -> Rc<Node> {
    Node::new(NodeData::Text { contents: StrTendril::from_slice(content).into() })
}

/// Returns the text of a node and its descendants, unchanged; `br` counts as a line feed.
pub(crate) fn text_of(node: &Rc<Node>) -> String {
    text_of_all(std::slice::from_ref(node))
}

/// Returns the text of several nodes.
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

/// Returns whether a node or one of its descendants passes a test.
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

/// Puts a text in one line: collapses white space to single spaces, and removes it at the ends.
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
