//! The tables `service.KEY`.

use super::super::faults::Misplaced;
use super::super::limits::read_amount;
use super::super::node::TomlNode;
use super::value::{part, parts};
use crate::amount::Unit;
use crate::binding::{self, CALLS_CEILING, ServiceBinding};

pub(super) fn read(node: &TomlNode<'_>) -> Result<ServiceBinding, Misplaced> {
    let table = node.table(&["name", "methods", "calls"])?;
    let mut service = ServiceBinding::new(part(table.require("name")?, binding::read_service_name)?);
    if let Some(node) = table.get("methods") {
        service.methods = parts(node, binding::read_service_name)?;
    }
    if let Some(node) = table.get("calls") {
        let admitted = Unit::Count.admit(read_amount(node, Unit::Count)?, CALLS_CEILING);
        let calls = admitted.map_err(|fault| node.fail(fault))?;
        service.calls = u32::try_from(calls).unwrap_or(u32::MAX);
    }
    Ok(service)
}
