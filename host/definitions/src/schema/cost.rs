//! Computes how many evaluations a schema can cause in the validator.
//!
//! A schema of 2 KB whose references double at each level costs 2^n evaluations. So the maximum number of evaluations
//! that can reach one place is computed before the schema is compiled, for each depth of a document. An honest
//! recursive schema needs few evaluations. A schema that was made to explode exceeds the limit at a small depth and is
//! refused. In between, a document that is too deep for its schema is refused.

use super::error::SchemaError;
use super::gate::refuse;
use super::parts::{Step, children, pointer_of};
use portcullis_policy::json::JSON_DEPTH_MAX;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum evaluations of one validation. At about 30 ns each, they take a tenth of a second.
const STEPS_MAX: u64 = 4_000_000;

/// The depth of documents for which every schema has to be cheap.
const HONEST_DEPTH: usize = 4;

/// Maximum evaluations that may reach one place of a document of that depth.
const HONEST_VISITS_MAX: u64 = 10_000;

/// Maximum memory of the errors of one document, in bytes. The validator makes all of them before the first can be
/// read. Some 5000 values with a mistake in each fit, and no caller corrects more.
const ERRORS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Memory of one error, in bytes, without its path in the document and without what it copies; rounded up.
const ERROR_BYTES: usize = 512;

/// Memory of a name that an error lists, in bytes, besides its text: a string in a list that may be half empty.
const NAME_BYTES: usize = 64;

/// Length of a step into an array in a path, in bytes: a slash and the digits of the index.
const INDEX_BYTES: usize = 8;

/// Memory of an item's JSON text in relation to that of the item. An escaped character takes six bytes in place of one,
/// and the buffer may be half empty.
const ITEM_TEXT_FACTOR: usize = 12;

/// Memory of an object that is not empty, in bytes: the first node of its tree, which has room for eleven members.
const OBJECT_BYTES: usize = 640;

/// Memory of a member of an object past the first node, in bytes. In the worst case, nodes are half full.
const MEMBER_BYTES: usize = 128;

/// Keywords that cause no errors themselves, because they do not restrict the value or only apply subschemas.
const WITHOUT_ERRORS: [&str; 20] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "allOf",
    "default",
    "definitions",
    "deprecated",
    "description",
    "else",
    "examples",
    "if",
    "items",
    "properties",
    "readOnly",
    "then",
    "title",
    "writeOnly",
];

/// Maximum of nodes times property names of a schema, which is the cost of this analysis.
const CELLS_MAX: usize = 250_000;

/// The maximum evaluations that can reach one place of a document, by the document's depth, and their errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EvaluationCost {
    visits: Vec<u64>,
    errors: ErrorCost,
}

/// Maximum errors of one subschema at one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ErrorCost {
    count: usize,
    /// Memory of these errors, in bytes, including copies of parts of the schema.
    bytes: usize,
    /// Whether an error copies the value too, as errors of a union's alternatives do.
    copies: bool,
    /// Whether an error has the text of each item, as that of `unevaluatedItems` does.
    lists_items: bool,
    /// Whether an error has another one in it, with a path of its own, as those of `propertyNames` do.
    wraps: bool,
}

impl ErrorCost {
    fn of(members: &Map<String, Value>) -> Self {
        let texts = |list: &Value| -> (usize, usize) {
            let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            texts.fold((0, 0), |(count, bytes), text| (count + 1, bytes + text.len()))
        };
        let dependent = members.get("dependentRequired").and_then(Value::as_object);
        let lists = members.get("required").into_iter().chain(dependent.into_iter().flat_map(Map::values));
        let (names, name_bytes) = lists.map(texts).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        // An error has a copy of these two values. Those of `enum` and `const` are shared.
        let copied = ["pattern", "not"].iter().filter_map(|keyword| members.get(*keyword));
        let copied: usize = copied.map(|value| copies_memory(value, 0)).sum();
        let count = members.keys().filter(|keyword| !WITHOUT_ERRORS.contains(&keyword.as_str())).count() + names;
        let has = |keyword| members.contains_key(keyword);
        Self {
            count,
            bytes: count * ERROR_BYTES + name_bytes + copied,
            copies: has("anyOf") || has("oneOf"),
            lists_items: has("unevaluatedItems"),
            wraps: has("propertyNames"),
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            count: self.count.max(other.count),
            bytes: self.bytes.max(other.bytes),
            copies: self.copies || other.copies,
            lists_items: self.lists_items || other.lists_items,
            wraps: self.wraps || other.wraps,
        }
    }
}

impl EvaluationCost {
    /// Analyses a schema.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaError> {
        // The schema `false` makes an error, and has no keyword to count.
        let errors = ErrorCost { count: 1, bytes: ERROR_BYTES, ..ErrorCost::default() };
        let mut graph = Graph { root: schema, indices: HashMap::new(), nodes: Vec::new(), errors };
        graph.add(schema)?;
        let order = graph.order()?;
        let visits = graph.visits(&order)?;
        if visits[HONEST_DEPTH] > HONEST_VISITS_MAX {
            return refuse(
                "checking one value could take too many steps: its references or alternatives multiply".into(),
            );
        }
        Ok(Self { visits, errors: graph.errors })
    }

    /// Returns whether a document with this many values and this depth can be checked.
    pub(super) fn allows(&self, values: usize, depth: usize) -> bool {
        let visits = self.visits[depth.min(JSON_DEPTH_MAX)];
        visits.saturating_mul(values as u64) <= STEPS_MAX
    }

    /// Returns whether all errors of a document that does not match fit in memory.
    pub(super) fn allows_errors(&self, document: &Value, values: usize, depth: usize) -> bool {
        self.errors_memory(document, values, depth) <= ERRORS_BYTES_MAX
    }

    /// Returns the maximum memory of all errors of a document, in bytes.
    fn errors_memory(&self, document: &Value, values: usize, depth: usize) -> usize {
        let ErrorCost { count, bytes, copies, lists_items, wraps } = self.errors;
        let visits = usize::try_from(self.visits[depth.min(JSON_DEPTH_MAX)]).unwrap_or(usize::MAX);
        let copied = if copies || lists_items { copies_memory(document, 0) } else { 0 };
        // A subschema makes one error for the items of an array. The others each have a path, and may have a copy.
        let [of_each, of_items] = [(copies, count), (lists_items, ITEM_TEXT_FACTOR)]
            .map(|(applies, times)| if applies { times.saturating_mul(copied) } else { 0 });
        let texts = count.saturating_mul(texts_memory(document, 0));
        let one = [of_each, of_items, texts].into_iter().fold(values.saturating_mul(bytes), usize::saturating_add);
        visits.saturating_mul(one).saturating_mul(if wraps { 2 } else { 1 })
    }
}

/// Returns the memory of the texts that the errors have if there is one at each value, in bytes: the path to the value,
/// and the names of its members, which `additionalProperties`, `unevaluatedProperties` and `propertyNames` copy. `path`
/// is the length of the path to this value.
fn texts_memory(value: &Value, path: usize) -> usize {
    match value {
        Value::Array(items) => {
            let below = path + INDEX_BYTES;
            items.iter().map(|item| below + texts_memory(item, below)).sum()
        }
        Value::Object(members) => {
            let of = |(name, member): (&String, &Value)| {
                // Each `~` and each slash of a name takes two bytes in a path.
                let below = path + 2 * name.len() + 1;
                below + name.len() + NAME_BYTES + texts_memory(member, below)
            };
            members.iter().map(of).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Returns the memory of one copy of a value and of each value in it, in bytes. A value below others is part of their
/// copies too: `around` says how many they are.
fn copies_memory(value: &Value, around: usize) -> usize {
    let (own, below): (usize, usize) = match value {
        Value::String(text) => (text.len(), 0),
        Value::Array(items) => (0, items.iter().map(|item| copies_memory(item, around + 1)).sum()),
        Value::Object(members) => {
            let names: usize = members.keys().map(|name| name.len() + MEMBER_BYTES).sum();
            (OBJECT_BYTES + names, members.values().map(|member| copies_memory(member, around + 1)).sum())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => (0, 0),
    };
    (size_of::<Value>() + own) * (around + 1) + below
}

/// The label of a step down in a document. Exactly one label fits each step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label<'a> {
    Item,
    Property(&'a str),
    OtherProperty,
}

/// A subschema with the nodes that it applies to its own place and to the places below.
#[derive(Default)]
struct SubschemaNode<'a> {
    same: Vec<usize>,
    items: Vec<usize>,
    properties: BTreeMap<&'a str, usize>,
    /// For properties that `properties` does not name.
    additional: Option<usize>,
    /// For any property.
    every: Vec<usize>,
}

impl SubschemaNode<'_> {
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
    // By address: the document is borrowed, so no subschema moves.
    indices: HashMap<*const Value, usize>,
    nodes: Vec<SubschemaNode<'a>>,
    /// The maximum over all nodes.
    errors: ErrorCost,
}

impl<'a> Graph<'a> {
    fn add(&mut self, schema: &'a Value) -> Result<usize, SchemaError> {
        if let Some(index) = self.indices.get(&std::ptr::from_ref(schema)) {
            return Ok(*index);
        }
        let index = self.nodes.len();
        // Enter the node before its children, so that a recursive reference finds it.
        self.indices.insert(schema, index);
        self.nodes.push(SubschemaNode::default());
        if let Value::Object(members) = schema {
            self.nodes[index] = self.node(members)?;
        }
        Ok(index)
    }

    fn node(&mut self, members: &'a Map<String, Value>) -> Result<SubschemaNode<'a>, SchemaError> {
        let mut node = SubschemaNode::default();
        self.errors = self.errors.max(ErrorCost::of(members));
        if let Some(reference) = members.get("$ref") {
            let target = self.resolve(reference.as_str().unwrap_or_default())?;
            node.same.push(self.add(target)?);
        }
        for (keyword, step, child) in children(members) {
            let child = self.add(child)?;
            match keyword {
                // The maximum counts each of them, whichever the validator evaluates.
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
                // Definitions are visited through references. The content of strings is not examined.
                _ => {}
            }
        }
        Ok(node)
    }

    fn resolve(&self, reference: &str) -> Result<&'a Value, SchemaError> {
        let shown: String = reference.escape_debug().take(80).collect();
        if !reference.starts_with('#') {
            return refuse(format!("it refers to {shown}, which is outside of it: refer only to parts of it"));
        }
        let target = pointer_of(self.root, reference).and_then(|pointer| self.root.pointer(&pointer));
        target.map_or_else(|| refuse(format!("it refers to {shown}, which does not exist")), Ok)
    }

    /// Returns the nodes, each after all nodes that it applies to its own place. Fails if references form a cycle
    /// without a step down in the document.
    fn order(&self) -> Result<Vec<usize>, SchemaError> {
        // This is Kahn's algorithm. Nodes that still wait in the end are in a cycle, or need one that is.
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
            false => refuse("its references form a cycle at one place of the document".to_owned()),
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

    /// Returns the maximum evaluations of the root and everything it applies, on the way to one place, by depth.
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
                    // A hostile schema exceeds 64 bits. The maximum is refused like any other number that is too large.
                    let same = node.same.iter().fold(1_u64, |sum, child| sum.saturating_add(current[*child]));
                    current[index] = same.saturating_add(node.below(*label, &lower));
                    most[index] = most[index].max(current[index]);
                }
            }
            visits.push(most[0]);
            if most == lower {
                // Greater depths add nothing, unless the schema is recursive.
                visits.resize(JSON_DEPTH_MAX + 1, most[0]);
                break;
            }
            lower = most;
        }
        Ok(visits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::json::extent;
    use serde_json::json;

    fn errors_memory(schema: &Value, document: &Value) -> usize {
        let (values, depth) = extent(document);
        EvaluationCost::of(schema).unwrap().errors_memory(document, values, depth)
    }

    #[test]
    fn a_schema_that_only_forbids_makes_errors() {
        for schema in [json!(false), json!({ "items": false }), json!({ "properties": { "a": false } })] {
            assert!(errors_memory(&schema, &json!([1])) >= ERROR_BYTES, "{schema}");
        }
    }

    /// Each error has a copy of the name.
    #[test]
    fn names_count_for_every_error_that_lists_them() {
        const MIB: usize = 1 << 20;
        let document = json!({ "n".repeat(MIB): 1 });
        for closed in [
            json!({ "properties": {}, "additionalProperties": false }),
            json!({ "unevaluatedProperties": false }),
            json!({ "propertyNames": { "maxLength": 1 } }),
        ] {
            let memory = errors_memory(&json!({ "allOf": vec![&closed; 900] }), &document);
            assert!(memory >= 900 * MIB, "{closed}: {memory}");
        }
    }
}
