//! The table `secret` of an HTTP client.
//!
//! Errors repeat no value of the table, because the user may have written the secret itself there.

use toml::de::DeValue;

use super::super::faults::Misplaced;
use super::super::node::{TomlNode, TomlTable};
use super::super::words::read_words;
use super::value::part;
use crate::binding::{self, BindingError, HttpBinding, SecretBinding, SecretSlot, SecretSource};
use crate::host_pattern::HostPattern;

/// Parses the secret of `client`, whose other keys are parsed already.
pub(in crate::file) fn read(node: &TomlNode<'_>, client: &HttpBinding) -> Result<SecretBinding, Misplaced> {
    let table = node.closed_table(&["host", "header", "value", "basic", "query", "from"])?;
    let secret = SecretBinding {
        host: read_host(node, &table, client)?,
        slot: read_slot(node, &table)?,
        from: read_from(table.require("from")?)?,
    };
    secret.check(client).map_err(|fault| node.fail(fault))?;
    Ok(secret)
}

/// Parses the host that the secret is for. It may be omitted if the client reaches exactly one exact host.
fn read_host(node: &TomlNode<'_>, table: &TomlTable<'_, '_>, client: &HttpBinding) -> Result<HostPattern, Misplaced> {
    match (table.get("host"), &client.hosts[..]) {
        (Some(host), _) => HostPattern::new(host.text()?).map_err(|fault| host.fail(fault)),
        (None, [only @ HostPattern::Exact(_)]) => Ok(only.clone()),
        (None, _) => Err(node.fail(BindingError::SecretHostMissing)),
    }
}

/// Parses the place of the secret in a request. There must be exactly one.
fn read_slot(node: &TomlNode<'_>, table: &TomlTable<'_, '_>) -> Result<SecretSlot, Misplaced> {
    let keys = ["header", "value", "basic", "query"].map(|key| table.get(key));
    match keys {
        [Some(header), Some(value), None, None] => Ok(SecretSlot::Header {
            name: part(header, binding::read_header)?,
            value: part(value, binding::read_template)?,
        }),
        [None, None, Some(user), None] => Ok(SecretSlot::Basic { user: part(user, binding::read_user)? }),
        [None, None, None, Some(name)] => Ok(SecretSlot::Query { name: part(name, binding::read_query_name)? }),
        _none_or_several => Err(node.fail(BindingError::SecretSlot)),
    }
}

/// Parses the source: a string, or a table with a command.
fn read_from(node: &TomlNode<'_>) -> Result<SecretSource, Misplaced> {
    if !matches!(node.value(), DeValue::Table(_)) {
        return part(node, binding::read_source);
    }
    let table = node.closed_table(&["command"])?;
    read_words(table.require("command")?).map(SecretSource::Command)
}
