//! The tables `store.KEY`.

use super::super::node::{Misplaced, TomlNode};
use super::value::set_amount;
use crate::binding::{BindingLimit, Limited, StoreBinding, StoreLimit, StoreScope};

pub(super) fn read(node: &TomlNode<'_>) -> Result<StoreBinding, Misplaced> {
    let table = node.table(&["scope", "keys", "value-bytes", "bytes"])?;
    let mut store = StoreBinding::default();
    if let Some(node) = table.get("scope") {
        store.scope = node.word(&StoreScope::ALL, StoreScope::as_str)?;
    }
    for &limit in StoreLimit::ALL {
        if let Some(node) = table.get(limit.key()) {
            set_amount(node, limit.unit(), |amount| store.set(limit, amount))?;
        }
    }
    Ok(store)
}
