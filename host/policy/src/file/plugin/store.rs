//! The tables `store.KEY`.

use super::super::faults::Misplaced;
use super::super::node::TomlNode;
use super::value::set_amount;
use crate::binding::{BindingLimit, Limited, StoreBinding, StoreLimit, StoreScope};

pub(super) fn read(node: &TomlNode<'_>) -> Result<StoreBinding, Misplaced> {
    let table = node.table(&["scope", "keys", "value-bytes", "bytes"])?;
    let mut store = StoreBinding::default();
    store.scope = table.read("scope", |node| node.word(&StoreScope::ALL, StoreScope::as_str)).unwrap_or(store.scope);
    for &limit in StoreLimit::ALL {
        table.read(limit.key(), |node| set_amount(node, limit.unit(), |amount| store.set(limit, amount)));
    }
    Ok(store)
}
