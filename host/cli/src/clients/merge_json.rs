//! Entries in JSON with comments and trailing commas, as editors and agents read it.

use super::entry::EntryValue;
use super::found_entry::{FoundEntry, Members, MergeError, SERVER_NAME, changes_start};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// A mark that some editors put at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What agents accept: comments and trailing commas. Everything else that is not JSON is an error, and the file is left
/// alone.
const ACCEPTED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed configuration. A byte order mark is kept apart.
struct JsonConfig {
    mark: &'static str,
    root: CstRootNode,
    object: CstObject,
}

impl JsonConfig {
    fn parse(text: &str) -> Result<Self, MergeError> {
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let root = CstRootNode::parse(text, &ACCEPTED).map_err(|error| MergeError::Syntax(error.to_string()))?;
        let object = match root.value() {
            Some(CstNode::Container(container)) => container.as_object(),
            Some(CstNode::Leaf(_)) => None,
            // A file without a value becomes an empty object.
            None => Some(root.object_value_or_set()),
        };
        let object = object.ok_or_else(|| MergeError::Syntax("it is not an object".to_owned()))?;
        Ok(Self { mark, root, object })
    }

    /// Returns the object that holds the servers, which is below these members, if it exists.
    fn servers(&self, path: &[&str]) -> Result<Option<CstObject>, MergeError> {
        let mut object = self.object.clone();
        for member in path {
            let Some(found) = only(&object, member)? else { return Ok(None) };
            object = found.object_value().ok_or_else(|| MergeError::Shape((*member).to_owned()))?;
        }
        Ok(Some(object))
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }
}

/// Returns the members of this name.
fn named(object: &CstObject, name: &str) -> impl Iterator<Item = CstObjectProp> {
    let is_named = move |member: &CstObjectProp| member.decoded_name().is_some_and(|found| found == name);
    object.properties().into_iter().filter(is_named)
}

/// Returns the only member of this name.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, MergeError> {
    let mut found = named(object, name);
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(MergeError::Twice(name.to_owned())),
    }
}

pub(super) fn with_entry(text: &str, path: &[&str], members: &Members) -> Result<String, MergeError> {
    let config = JsonConfig::parse(text)?;
    let was_empty = text.trim().is_empty();
    let servers = match (config.servers(path)?, path) {
        (Some(servers), _) => servers,
        (None, [member]) => config.object.append(member, CstInputValue::Object(Vec::new())).object_value_or_set(),
        (None, _) => return Err(MergeError::Shape(path.join("."))),
    };
    match only(&servers, SERVER_NAME)? {
        Some(entry) => match entry.object_value() {
            Some(existing) => set_members(&existing, members),
            None => entry.set_value(of_members(members)),
        },
        None => drop(servers.append(SERVER_NAME, of_members(members))),
    }
    let mut merged = config.text();
    // A new file ends with a line break. An existing one keeps its own end.
    if was_empty && !merged.ends_with('\n') {
        merged.push('\n');
    }
    Ok(merged)
}

/// Sets the members of an entry, and removes every other one that changes what is started. The rest stays.
fn set_members(existing: &CstObject, members: &Members) {
    for (name, value) in members {
        let mut found = named(existing, name);
        match found.next() {
            Some(member) if json_of_member(&member) == value.to_json() => {}
            Some(member) => member.set_value(of_value(value)),
            None => drop(existing.append(name, of_value(value))),
        }
        // Agents differ in which of two members they use.
        found.for_each(CstObjectProp::remove);
    }
    for member in existing.properties() {
        if member.decoded_name().is_some_and(|name| changes_start(&name, &json_of_member(&member), members)) {
            member.remove();
        }
    }
}

pub(super) fn without_entry(text: &str, path: &[&str], name: &str) -> Result<Option<String>, MergeError> {
    let config = JsonConfig::parse(text)?;
    let Some(servers) = config.servers(path)? else { return Ok(None) };
    let Some(entry) = only(&servers, name)? else { return Ok(None) };
    entry.remove();
    Ok(Some(config.text()))
}

/// Returns the names of all servers, each with its entry.
pub(super) fn entries(text: &str, path: &[&str]) -> Result<Vec<(String, Value)>, MergeError> {
    let config = JsonConfig::parse(text)?;
    let Some(servers) = config.servers(path)? else { return Ok(Vec::new()) };
    let mut entries = Vec::new();
    for member in servers.properties() {
        let Some(name) = member.decoded_name() else { continue };
        // Agents differ in which of two members they use.
        only(&servers, &name)?;
        // `ClientServer::of` refuses `null`.
        entries.push((name, json_of_member(&member)));
    }
    Ok(entries)
}

/// Returns the value of a member. One that is not understood becomes `null`.
fn json_of_member(member: &CstObjectProp) -> Value {
    member.value().and_then(|node| json_of(&node)).unwrap_or(Value::Null)
}

/// Returns a value of the text. The parser has limited its depth.
fn json_of(node: &CstNode) -> Option<Value> {
    if let Some(object) = node.as_object() {
        let member = |member: &CstObjectProp| Some((member.decoded_name()?, json_of(&member.value()?)?));
        return object.properties().iter().map(member).collect::<Option<Map<_, _>>>().map(Value::Object);
    }
    if let Some(array) = node.as_array() {
        return array.elements().iter().map(json_of).collect::<Option<_>>().map(Value::Array);
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(Value::String);
    }
    if let Some(flag) = node.as_boolean_lit() {
        return Some(Value::Bool(flag.value()));
    }
    match node.as_number_lit() {
        Some(number) => serde_json::from_str(&number.to_string()).ok(),
        None => Some(Value::Null),
    }
}

pub(super) fn entry(text: &str, path: &[&str], expected: &Members) -> Result<Option<FoundEntry>, MergeError> {
    let config = JsonConfig::parse(text)?;
    let Some(servers) = config.servers(path)? else { return Ok(None) };
    let Some(entry) = only(&servers, SERVER_NAME)? else { return Ok(None) };
    let Some(object) = entry.object_value() else { return Err(MergeError::Shape(SERVER_NAME.to_owned())) };
    for name in ["command", "args"] {
        only(&object, name)?;
    }
    let members = object.properties();
    let members = members.iter().filter_map(|member| Some((member.decoded_name()?, json_of_member(member))));
    Ok(Some(FoundEntry::of(&members.collect::<Vec<_>>(), expected)))
}

fn of_members(members: &Members) -> CstInputValue {
    CstInputValue::Object(members.iter().map(|(name, value)| ((*name).to_owned(), of_value(value))).collect())
}

fn of_value(value: &EntryValue) -> CstInputValue {
    let text = |text: &String| CstInputValue::String(text.clone());
    match value {
        EntryValue::Text(value) => text(value),
        EntryValue::List(values) => CstInputValue::Array(values.iter().map(text).collect()),
        EntryValue::Flag(value) => CstInputValue::Bool(*value),
    }
}
