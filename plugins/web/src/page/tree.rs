//! Parses HTML to a tree with Servo's parser. Its run time grows with the depth of the tree and its memory with the
//! number of nodes, so both are bounded while it parses.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use html5ever::interface::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};
use markup5ever_rcdom::{Node, RcDom};

/// Maximum nesting depth of elements. Real pages stay below 60. Later steps are recursive, so each level costs them
/// part of the guest's stack.
pub(crate) const DEPTH_MAX: usize = 256;

/// Maximum number of nodes. With their text they fit into half of the 64 MiB that a call has by default.
pub(crate) const NODES_MAX: usize = 100_000;

/// Number of bytes to parse between two checks of the bounds.
const CHUNK_BYTES: usize = 4 * 1024;

/// A parsed page.
pub(crate) struct Tree {
    pub(crate) document: Rc<Node>,
    /// Whether all of the page was parsed.
    pub(crate) whole: bool,
}

/// The error for a page that is nested deeper than [`DEPTH_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// Parses a page. Any text is valid input.
pub(crate) fn parse(html: &str) -> Result<Tree, TooDeep> {
    let sink = Bounded { dom: RcDom::default(), nodes: Cell::new(0), too_deep: Cell::new(false) };
    // With scripting, the parser takes `noscript` for text, which a person with a usual browser does not see.
    let tree_builder = TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(sink, ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES.min(rest.len())));
        parser.process(StrTendril::from_slice(chunk));
        rest = after;
        let sink = &parser.tokenizer.sink.sink;
        if sink.too_deep.get() {
            return Err(TooDeep);
        }
        if sink.nodes.get() > NODES_MAX {
            break;
        }
    }
    let too_deep = parser.tokenizer.sink.sink.too_deep.get();
    match too_deep {
        true => Err(TooDeep),
        false => Ok(Tree { document: parser.finish().document, whole: rest.is_empty() }),
    }
}

/// The tree under construction, with its node count. It still attaches nodes past the bounds, because the parser relies
/// on the nodes that it attached.
struct Bounded {
    dom: RcDom,
    nodes: Cell<usize>,
    too_deep: Cell<bool>,
}

impl Bounded {
    fn count(&self) {
        self.nodes.set(self.nodes.get() + 1);
    }

    fn look_at(&self, parent: &Rc<Node>) {
        if !self.too_deep.get() && depth(parent) >= DEPTH_MAX {
            self.too_deep.set(true);
        }
    }
}

/// Counts the ancestors of a node, up to the bound.
fn depth(node: &Rc<Node>) -> usize {
    let above = |node: &Rc<Node>| {
        // A `Cell` gives its content only by value, so put it back afterwards.
        let parent = node.parent.take();
        let above = parent.as_ref().and_then(std::rc::Weak::upgrade);
        node.parent.set(parent);
        above
    };
    std::iter::successors(above(node), above).take(DEPTH_MAX).count()
}

impl TreeSink for Bounded {
    type Handle = Rc<Node>;
    type Output = RcDom;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> RcDom {
        self.dom
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        self.count();
        self.dom.create_element(name, attributes, flags)
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.count();
        // No comment is ever shown, so its text needs no memory.
        self.dom.create_comment(StrTendril::new())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.look_at(parent);
        self.dom.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, previous: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.look_at(element);
        self.dom.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.dom.append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        self.dom.get_template_contents(target)
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.look_at(sibling);
        self.dom.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &Rc<Node>, attributes: Vec<Attribute>) {
        self.dom.add_attrs_if_missing(target, attributes);
    }

    fn remove_from_parent(&self, target: &Rc<Node>) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Rc<Node>, parent: &Rc<Node>) {
        self.look_at(parent);
        self.dom.reparent_children(node, parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Rc<Node>) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(target)
    }
}
