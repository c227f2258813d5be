//! Entries in JSON with comments and trailing commas, as editors and agents read it.

use super::entry::EntryValue;
use super::found_entry::{FoundEntry, Members, MergeError, SERVER_NAME};
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

/// Returns the only member of this name.
fn only(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, MergeError> {
    let is_named = |member: &CstObjectProp| member.decoded_name().is_some_and(|found| found == name);
    let mut found = object.properties().into_iter().filter(is_named);
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
    let value = value(members);
    match only(&servers, SERVER_NAME)? {
        Some(entry) => entry.set_value(value),
        None => drop(servers.append(SERVER_NAME, value)),
    }
    let mut merged = config.text();
    // A new file ends with a line break. An existing one keeps its own end.
    if was_empty && !merged.ends_with('\n') {
        merged.push('\n');
    }
    Ok(merged)
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
        // A value that is not understood becomes `null`, which `ClientServer::of` refuses.
        entries.push((name, member.value().and_then(|node| json_of(&node)).unwrap_or(Value::Null)));
    }
    Ok(entries)
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
    let mut words = Vec::new();
    for name in ["command", "args"] {
        words.extend(only(&object, name)?.iter().flat_map(texts));
    }
    // A member that exists twice is not as expected.
    let is_as = |(name, value): &(&str, EntryValue)| {
        only(&object, name).ok().flatten().is_some_and(|member| read(&member).as_ref() == Some(value))
    };
    Ok(Some(FoundEntry { words, is_expected: expected.iter().all(is_as) }))
}

fn value(members: &Members) -> CstInputValue {
    let text = |text: &String| CstInputValue::String(text.clone());
    let value = |value: &EntryValue| match value {
        EntryValue::Text(value) => text(value),
        EntryValue::List(values) => CstInputValue::Array(values.iter().map(text).collect()),
        EntryValue::Flag(value) => CstInputValue::Bool(*value),
    };
    CstInputValue::Object(members.iter().map(|(name, member)| ((*name).to_owned(), value(member))).collect())
}

fn read(member: &CstObjectProp) -> Option<EntryValue> {
    let value = member.value()?;
    if let Some(flag) = value.as_boolean_lit() {
        return Some(EntryValue::Flag(flag.value()));
    }
    if let Some(text) = value.as_string_lit() {
        return Some(EntryValue::Text(text.decoded_value().ok()?));
    }
    let elements = value.as_array()?.elements();
    let texts = elements.iter().map(|element| element.as_string_lit()?.decoded_value().ok());
    Some(EntryValue::List(texts.collect::<Option<_>>()?))
}

fn texts(member: &CstObjectProp) -> Vec<String> {
    match read(member) {
        Some(EntryValue::Text(text)) => vec![text],
        Some(EntryValue::List(texts)) => texts,
        Some(EntryValue::Flag(_)) | None => Vec::new(),
    }
}
