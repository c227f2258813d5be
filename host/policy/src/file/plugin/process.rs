//! The tables `process.KEY`.

use std::collections::BTreeMap;

use super::super::faults::Misplaced;
use super::super::node::{TomlNode, TomlTable};
use super::reference::KeyReference;
use super::value::{PlacedValue, part, set_amount};
use crate::binding::{
    self, BindingError, BindingLimit, ConfinementTier, DependencyKind, ENVIRONMENT_ENTRIES, Escalation, Limited,
    PROGRAM_DIRECTORIES, ProcessBinding, ProcessLimit, ProcessLimits, ProcessNetwork,
};
use crate::error::PolicyFault;
use crate::name::DependencyKey;

/// The keys of a program.
const KEYS: [&str; 16] = [
    "program",
    "directories",
    "network",
    "http",
    "environment",
    "require",
    "escalate",
    "time",
    "cpu-time",
    "processes",
    "memory",
    "open-files",
    "file-bytes",
    "temporary-bytes",
    "output-bytes",
    "runs",
];

/// Parses the table, and adds the keys that it names to `references`.
pub(super) fn read(
    node: &TomlNode<'_>,
    references: &mut Vec<PlacedValue<KeyReference>>,
) -> Result<ProcessBinding, Misplaced> {
    let table = node.table(&KEYS)?;
    let program = table.need("program", |node| part(node, binding::read_program));
    Ok(ProcessBinding {
        directories: table.read("directories", |node| read_directories(node, references)).unwrap_or_default(),
        network: node.keep(read_network(&table, references)).unwrap_or_default(),
        environment: table.read("environment", read_environment).unwrap_or_default(),
        require: table.read("require", |node| node.word(&ConfinementTier::ALL, ConfinementTier::as_str)),
        escalate: table.read("escalate", |node| node.word(&Escalation::ALL, Escalation::as_str)).unwrap_or_default(),
        limits: read_limits(&table),
        server: None,
        // Without a program, the fault was noted and the policy is refused.
        program: program.unwrap_or_default(),
    })
}

fn read_directories(
    node: &TomlNode<'_>,
    references: &mut Vec<PlacedValue<KeyReference>>,
) -> Result<Vec<DependencyKey>, Misplaced> {
    let elements = node.list()?;
    if elements.len() > PROGRAM_DIRECTORIES {
        return Err(node.fail(BindingError::ProgramDirectories));
    }
    let mut keys: Vec<DependencyKey> = Vec::new();
    for element in &elements {
        let Some(key) = node.keep(read_key(element)) else { continue };
        if keys.contains(&key) {
            node.keep::<()>(Err(element.fail(BindingError::SameDirectory)));
            continue;
        }
        references.push(KeyReference::new(key.clone(), DependencyKind::Directory, element));
        keys.push(key);
    }
    Ok(keys)
}

fn read_key(node: &TomlNode<'_>) -> Result<DependencyKey, Misplaced> {
    DependencyKey::new(node.text()?).map_err(|fault| node.fail(fault))
}

/// Parses `network` and `http`. There can be only one of them, so that the policy never contradicts itself.
fn read_network(
    table: &TomlTable<'_, '_>,
    references: &mut Vec<PlacedValue<KeyReference>>,
) -> Result<ProcessNetwork, Misplaced> {
    match (table.get("network"), table.get("http")) {
        (None, None) => Ok(ProcessNetwork::None),
        (Some(node), None) => node.word(&[ProcessNetwork::NONE], |word| word).map(|_| ProcessNetwork::None),
        (None, Some(node)) => {
            let key = read_key(node)?;
            references.push(KeyReference::new(key.clone(), DependencyKind::Http, node));
            Ok(ProcessNetwork::Http(key))
        }
        (Some(_), Some(node)) => Err(node.fail(BindingError::ProgramNetworks)),
    }
}

fn read_environment(node: &TomlNode<'_>) -> Result<BTreeMap<String, String>, Misplaced> {
    let variables = read_variables(node, |value| part(value, binding::read_environment_value))?;
    Ok(variables.into_iter().collect())
}

/// Parses environment variables: their names, and each value as `read` does.
pub(in crate::file) fn read_variables<'t, T>(
    node: &TomlNode<'t>,
    read: impl Fn(&TomlNode<'t>) -> Result<T, Misplaced>,
) -> Result<Vec<(String, T)>, Misplaced> {
    read_named(node, BindingError::EnvironmentEntries, binding::read_environment_name, read)
}

/// Parses names with values, of which a policy may have as many as of environment variables. More of them are the fault
/// `too_many`.
pub(in crate::file) fn read_named<'t, T>(
    node: &TomlNode<'t>,
    too_many: impl Into<PolicyFault>,
    read_name: impl Fn(&str) -> Result<String, BindingError>,
    read_value: impl Fn(&TomlNode<'t>) -> Result<T, Misplaced>,
) -> Result<Vec<(String, T)>, Misplaced> {
    let entries = node.entries()?;
    if entries.len() > ENVIRONMENT_ENTRIES {
        return Err(node.fail(too_many));
    }
    let named = |(name, entry): &(&str, TomlNode<'t>)| {
        let name = node.keep(read_name(name).map_err(|fault| entry.fail(fault)));
        name.zip(node.keep(read_value(entry)))
    };
    Ok(entries.iter().filter_map(named).collect())
}

fn read_limits(table: &TomlTable<'_, '_>) -> ProcessLimits {
    let mut limits = ProcessLimits::default();
    for &limit in ProcessLimit::ALL {
        table.read(limit.key(), |node| set_amount(node, limit.unit(), |amount| limits.set(limit, amount)));
    }
    limits
}
