//! Entries in JSON with comments and trailing commas, as editors and agents read it.

use super::entry::EntryValue;
use super::found_entry::{FoundEntry, Members, MergeError, SERVER_NAME};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};

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
            None => Some(root.object_value_or_set()),
        };
        let object = object.ok_or_else(|| MergeError::Syntax("it is not an object".to_owned()))?;
        Ok(Self { mark, root, object })
    }

    /// Returns the object that holds the servers, if it exists.
    fn servers(&self, member: &str) -> Result<Option<CstObject>, MergeError> {
        let Some(found) = only(&self.object, member)? else { return Ok(None) };
        let object = found.object_value();
        object.map(Some).ok_or_else(|| MergeError::Shape(member.to_owned()))
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

pub(super) fn with_entry(text: &str, member: &str, members: &Members) -> Result<String, MergeError> {
    let config = JsonConfig::parse(text)?;
    let was_empty = text.trim().is_empty();
    let servers = match config.servers(member)? {
        Some(servers) => servers,
        None => config.object.append(member, CstInputValue::Object(Vec::new())).object_value_or_set(),
    };
    let value = value(members);
    match only(&servers, SERVER_NAME)? {
        Some(entry) => entry.set_value(value),
        None => drop(servers.append(SERVER_NAME, value)),
    }
    let mut merged = config.text();
    if was_empty && !merged.ends_with('\n') {
        merged.push('\n');
    }
    Ok(merged)
}

pub(super) fn without_entry(text: &str, member: &str) -> Result<Option<String>, MergeError> {
    let config = JsonConfig::parse(text)?;
    let Some(servers) = config.servers(member)? else { return Ok(None) };
    let Some(entry) = only(&servers, SERVER_NAME)? else { return Ok(None) };
    entry.remove();
    Ok(Some(config.text()))
}

pub(super) fn entry(text: &str, member: &str, expected: &Members) -> Result<Option<FoundEntry>, MergeError> {
    let config = JsonConfig::parse(text)?;
    let Some(servers) = config.servers(member)? else { return Ok(None) };
    let Some(entry) = only(&servers, SERVER_NAME)? else { return Ok(None) };
    let Some(object) = entry.object_value() else { return Err(MergeError::Shape(SERVER_NAME.to_owned())) };
    let mut words = Vec::new();
    for name in ["command", "args"] {
        words.extend(only(&object, name)?.iter().flat_map(texts));
    }
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
