//! How often a schema can make the validator look at a document.
//!
//! A schema of 2 KB whose references double at each level costs 2^n per validation. So the evaluations are counted
//! before the schema is compiled: for each depth of a document, the most that can reach one of its places. A schema
//! that describes a recursive document honestly needs few; one that was made to explode needs more than any number at
//! a small depth, and is refused. In between, a document is refused that is too deep for its schema.

use super::SchemaError;
use super::gate::refuse;
use super::parts::{Step, children, pointer_of};
use crate::json::JSON_DEPTH_MAX;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Evaluations that one validation may cost. At some 30 ns each this is a tenth of a second.
const STEPS_MAX: u64 = 4_000_000;

/// A schema has to be cheap at least for documents as deep as this.
const HONEST_DEPTH: usize = 4;

/// Evaluations that may reach one place of a document that is no deeper.
const HONEST_VISITS_MAX: u64 = 10_000;

/// Nodes times property names of a schema: what this analysis costs.
const CELLS_MAX: usize = 250_000;

/// The most evaluations that can reach one place of a document, by the document's depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    visits: Vec<u64>,
}

impl Cost {
    /// Analyses a schema.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let mut graph = Graph { root: schema, indices: HashMap::new(), nodes: Vec::new() };
        graph.add(schema)?;
        let order = graph.order()?;
        let visits = graph.visits(&order)?;
        if visits[HONEST_DEPTH] > HONEST_VISITS_MAX {
            return refuse(
                "checking one value could take too many steps: its references or alternatives multiply".into(),
            );
        }
        Ok(Self { visits })
    }

    /// Whether a document with this many values, nested this deep, can be checked.
    pub(super) fn allows(&self, values: usize, depth: usize) -> bool {
        let visits = self.visits[depth.min(JSON_DEPTH_MAX)];
        visits.saturating_mul(values as u64) <= STEPS_MAX
    }
}

/// What a step down in a document is called. Exactly one label fits each step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label<'a> {
    Item,
    Property(&'a str),
    OtherProperty,
}

/// A subschema: what it applies to its own place, and what to the places below.
#[derive(Default)]
struct Node<'a> {
    same: Vec<usize>,
    items: Vec<usize>,
    properties: BTreeMap<&'a str, usize>,
    /// For properties that `properties` does not name.
    additional: Option<usize>,
    /// For any property.
    every: Vec<usize>,
}

impl Node<'_> {
    fn below(&self, label: Label<'_>, lower: &[u64]) -> u64 {
        let sum = |nodes: &[usize]| nodes.iter().fold(0_u64, |sum, node| sum.saturating_add(lower[*node]));
        let named = |name| self.properties.get(name).or(self.additional.as_ref());
        let one = match label {
            Label::Item => return sum(&self.items),
            Label::Property(name) => named(name),
            Label::OtherProperty => self.additional.as_ref(),
        };
        one.map_or(0, |node| lower[*node]).saturating_add(sum(&self.every))
    }
}

struct Graph<'a> {
    root: &'a Value,
    indices: HashMap<*const Value, usize>,
    nodes: Vec<Node<'a>>,
}

impl<'a> Graph<'a> {
    fn add(&mut self, schema: &'a Value) -> Result<usize, SchemaError> {
        if let Some(index) = self.indices.get(&std::ptr::from_ref(schema)) {
            return Ok(*index);
        }
        let index = self.nodes.len();
        self.indices.insert(schema, index);
        self.nodes.push(Node::default());
        if let Value::Object(members) = schema {
            self.nodes[index] = self.node(members)?;
        }
        Ok(index)
    }

    fn node(&mut self, members: &'a Map<String, Value>) -> Result<Node<'a>, SchemaError> {
        let mut node = Node::default();
        if let Some(reference) = members.get("$ref") {
            let target = self.resolve(reference.as_str().unwrap_or_default())?;
            node.same.push(self.add(target)?);
        }
        for (keyword, step, child) in children(members) {
            let child = self.add(child)?;
            match keyword {
                "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas" => {
                    node.same.push(child);
                }
                "items" | "prefixItems" | "contains" | "unevaluatedItems" => node.items.push(child),
                "properties" => {
                    if let Step::Name(name) = step {
                        node.properties.insert(name, child);
                    }
                }
                "additionalProperties" => node.additional = Some(child),
                "patternProperties" | "propertyNames" | "unevaluatedProperties" => node.every.push(child),
                // Definitions are visited where they are referred to; the content of strings is not looked into.
                _ => {}
            }
        }
        Ok(node)
    }

    fn resolve(&self, reference: &str) -> Result<&'a Value, SchemaError> {
        let shown: String = reference.escape_debug().take(80).collect();
        if !reference.starts_with('#') {
            return refuse(format!("it refers to {shown}, which lies outside of it: only references into itself work"));
        }
        let target = pointer_of(self.root, reference).and_then(|pointer| self.root.pointer(&pointer));
        target.map_or_else(|| refuse(format!("it refers to {shown}, which is not there")), Ok)
    }

    /// The nodes, each after everything it applies to its own place; there is no such order where references lead
    /// back to themselves without a step down in the document.
    fn order(&self) -> Result<Vec<usize>, SchemaError> {
        let mut waiting: Vec<usize> = self.nodes.iter().map(|node| node.same.len()).collect();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            node.same.iter().for_each(|child| users[*child].push(index));
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(|index| waiting[*index] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for user in &users[order[at]] {
                waiting[*user] -= 1;
                if waiting[*user] == 0 {
                    order.push(*user);
                }
            }
            at += 1;
        }
        match order.len() == self.nodes.len() {
            true => Ok(order),
            false => refuse("its references lead back to themselves at one place of the document".to_owned()),
        }
    }

    fn labels(&self) -> Result<BTreeSet<Label<'a>>, SchemaError> {
        let names = self.nodes.iter().flat_map(|node| node.properties.keys().map(|name| Label::Property(name)));
        let labels: BTreeSet<Label<'a>> = names.chain([Label::Item, Label::OtherProperty]).collect();
        if labels.len().saturating_mul(self.nodes.len()) > CELLS_MAX {
            return refuse("it has too many properties and subschemas".to_owned());
        }
        Ok(labels)
    }

    /// The most evaluations of the root and all it applies, on the way to one place, by depth.
    fn visits(&self, order: &[usize]) -> Result<Vec<u64>, SchemaError> {
        let labels = self.labels()?;
        let mut lower = vec![0_u64; self.nodes.len()];
        let mut visits = Vec::with_capacity(JSON_DEPTH_MAX + 1);
        for _ in 0..=JSON_DEPTH_MAX {
            let mut most = vec![0_u64; self.nodes.len()];
            let mut current = vec![0_u64; self.nodes.len()];
            for label in &labels {
                for &index in order {
                    let node = &self.nodes[index];
                    let same = node.same.iter().fold(1_u64, |sum, child| sum.saturating_add(current[*child]));
                    current[index] = same.saturating_add(node.below(*label, &lower));
                    most[index] = most[index].max(current[index]);
                }
            }
            visits.push(most[0]);
            lower = most;
        }
        Ok(visits)
    }
}
