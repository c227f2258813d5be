//! The table `config`: settings that the plugin can read.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::super::faults::Misplaced;
use super::super::node::TomlNode;
use super::value::PlacedValue;
use crate::binding::BindingError;

/// Maximum settings of one plugin. An operator would not review more.
const ENTRIES: usize = 100;
/// Maximum bytes of a key.
const KEY_BYTES: usize = 128;
/// Maximum bytes of a value. A longer one belongs in a file.
const VALUE_BYTES: usize = 4096;

pub(super) fn read(node: &TomlNode<'_>) -> Result<BTreeMap<String, PlacedValue<String>>, Misplaced> {
    let entries = node.entries()?;
    if entries.len() > ENTRIES {
        return Err(node.fail(BindingError::ConfigEntries));
    }
    let read = |(key, entry): &(&str, TomlNode<'_>)| {
        let name = node.keep(read_key(key, entry));
        let value = node.keep(read_value(entry)).map(|value| PlacedValue::new(value, entry));
        name.zip(value)
    };
    Ok(entries.iter().filter_map(read).collect())
}

fn read_key(key: &str, node: &TomlNode<'_>) -> Result<String, Misplaced> {
    let sound = (1..=KEY_BYTES).contains(&key.len()) && !key.chars().any(char::is_control);
    if sound { Ok(key.to_owned()) } else { Err(node.fail(BindingError::ConfigKey)) }
}

fn read_value(node: &TomlNode<'_>) -> Result<String, Misplaced> {
    let DeValue::String(text) = node.value() else { return Err(node.fail(BindingError::ConfigType)) };
    let sound = text.len() <= VALUE_BYTES && !text.contains('\0');
    if sound { Ok(text.clone().into_owned()) } else { Err(node.fail(BindingError::ConfigValue)) }
}
