//! The sections `[limits]` and `[plugin.NAME.limits]`.
//!
//! This file must not know what any limit means.

use toml::de::DeValue;

use super::faults::Misplaced;
use super::node::TomlNode;
use crate::amount::Unit;
use crate::limit::{Limit, LimitSettings};

/// Parses the section.
pub(super) fn read(section: &TomlNode<'_>) -> Result<LimitSettings, Misplaced> {
    let mut settings = LimitSettings::default();
    let section = section.table(&Limit::ALL.map(Limit::key))?;
    for limit in Limit::ALL {
        section.read(limit.key(), |node| {
            let amount = read_amount(node, limit.unit())?;
            settings.add(limit, amount).map_err(|fault| node.fail(fault))
        });
    }
    Ok(settings)
}

/// Parses an amount of this unit.
pub(super) fn read_amount(node: &TomlNode<'_>, unit: Unit) -> Result<u64, Misplaced> {
    let amount = match node.value() {
        DeValue::String(text) => unit.read_text(text),
        // TOML also has hexadecimal, octal and binary integers.
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(amount) => unit.read_integer(amount),
            Err(_) => Err(unit.misspelt()),
        },
        DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(unit.misspelt())
        }
    };
    amount.map_err(|fault| node.fail(fault))
}
