//! Entries in TOML, each a table of its own.

use super::entry::EntryValue;
use super::found_entry::{FoundEntry, Members, MergeError, SERVER_NAME, changes_start};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

fn parse(text: &str) -> Result<DocumentMut, MergeError> {
    text.parse::<DocumentMut>().map_err(|error| MergeError::Syntax(error.message().to_owned()))
}

/// Returns the table that holds the servers, if it exists.
fn servers<'d>(document: &'d DocumentMut, member: &str) -> Result<Option<&'d dyn TableLike>, MergeError> {
    let Some(found) = document.get(member) else { return Ok(None) };
    found.as_table_like().map(Some).ok_or_else(|| MergeError::Shape(member.to_owned()))
}

pub(super) fn with_entry(text: &str, member: &str, members: &Members) -> Result<String, MergeError> {
    let mut document = parse(text)?;
    servers(&document, member)?;
    let has_servers = document.contains_key(member);
    let servers = document.entry(member).or_insert_with(|| {
        let mut table = Table::new();
        // Only the header of the server's own table is written.
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| MergeError::Shape(member.to_owned()))?;
    let mut entry = Table::new();
    members.iter().for_each(|(name, value)| drop(entry.insert(name, Item::Value(of_value(value)))));
    // One blank line before the table, unless it is the first thing in the file.
    let is_first = text.trim().is_empty() && !has_servers;
    entry.decor_mut().set_prefix(if is_first { "" } else { "\n" });
    match servers.get_mut(SERVER_NAME) {
        Some(item) => match item.as_table_like_mut() {
            Some(existing) => set_members(existing, members),
            None => return Err(MergeError::Shape(SERVER_NAME.to_owned())),
        },
        None => drop(servers.insert(SERVER_NAME, Item::Table(entry))),
    }
    Ok(document.to_string())
}

/// Sets the members of an entry, and removes every other one that changes what is started. The rest stays.
fn set_members(existing: &mut dyn TableLike, members: &Members) {
    for (name, value) in members {
        // A value that is as expected keeps its comment.
        if existing.get(name).map(json_of_item) != Some(value.to_json()) {
            existing.insert(name, Item::Value(of_value(value)));
        }
    }
    let is_removed = |(name, item): &(&str, &Item)| changes_start(name, &json_of_item(item), members);
    let removed: Vec<String> = existing.iter().filter(is_removed).map(|(name, _)| name.to_owned()).collect();
    removed.iter().for_each(|name| drop(existing.remove(name)));
}

pub(super) fn without_entry(text: &str, member: &str, name: &str) -> Result<Option<String>, MergeError> {
    let mut document = parse(text)?;
    // For its error: a member that is no table would otherwise count as one without the entry.
    servers(&document, member)?;
    let Some(servers) = document.get_mut(member).and_then(Item::as_table_like_mut) else { return Ok(None) };
    if servers.remove(name).is_none() {
        return Ok(None);
    }
    Ok(Some(document.to_string()))
}

/// Returns the names of all servers, each with its entry.
pub(super) fn entries(text: &str, member: &str) -> Result<Vec<(String, serde_json::Value)>, MergeError> {
    let document = parse(text)?;
    let Some(servers) = servers(&document, member)? else { return Ok(Vec::new()) };
    Ok(servers.iter().map(|(name, item)| (name.to_owned(), json_of_item(item))).collect())
}

/// Returns a value of the text. The parser has limited its depth.
fn json_of_item(item: &Item) -> serde_json::Value {
    match item {
        Item::Value(value) => json_of(value),
        Item::Table(table) => table.iter().map(|(name, item)| (name.to_owned(), json_of_item(item))).collect(),
        Item::ArrayOfTables(_) | Item::None => serde_json::Value::Null,
    }
}

fn json_of(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.value().as_str().into(),
        Value::Boolean(flag) => (*flag.value()).into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Array(array) => array.iter().map(json_of).collect(),
        Value::InlineTable(table) => table.iter().map(|(name, value)| (name.to_owned(), json_of(value))).collect(),
        Value::Float(_) | Value::Datetime(_) => serde_json::Value::Null,
    }
}

pub(super) fn entry(text: &str, member: &str, expected: &Members) -> Result<Option<FoundEntry>, MergeError> {
    let document = parse(text)?;
    let Some(found) = servers(&document, member)?.and_then(|servers| servers.get(SERVER_NAME)) else { return Ok(None) };
    let Some(table) = found.as_table_like() else { return Err(MergeError::Shape(SERVER_NAME.to_owned())) };
    let members: Vec<_> = table.iter().map(|(name, item)| (name.to_owned(), json_of_item(item))).collect();
    Ok(Some(FoundEntry::of(&members, expected)))
}

fn of_value(value: &EntryValue) -> Value {
    match value {
        EntryValue::Text(text) => Value::from(text.as_str()),
        EntryValue::List(texts) => Value::Array(texts.iter().map(String::as_str).collect::<Array>()),
        EntryValue::Flag(flag) => Value::from(*flag),
    }
}
