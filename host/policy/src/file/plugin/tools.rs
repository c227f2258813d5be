//! The tables `tools.KEY`.

use super::super::faults::Misplaced;
use super::super::node::TomlNode;
use super::value::set_amount;
use crate::binding::{BindingError, BindingLimit, Limited, TOOL_PATTERNS, ToolsBinding, ToolsLimit};
use crate::rule::ToolPattern;

pub(super) fn read(node: &TomlNode<'_>) -> Result<ToolsBinding, Misplaced> {
    let table = node.table(&["tools", "calls", "depth"])?;
    let mut tools = ToolsBinding::new(table.need("tools", read_patterns).unwrap_or_default());
    for &limit in ToolsLimit::ALL {
        table.read(limit.key(), |node| set_amount(node, limit.unit(), |amount| tools.set(limit, amount)));
    }
    Ok(tools)
}

fn read_patterns(node: &TomlNode<'_>) -> Result<Vec<ToolPattern>, Misplaced> {
    let elements = node.list()?;
    if elements.len() > TOOL_PATTERNS {
        return Err(node.fail(BindingError::ToolPatterns));
    }
    Ok(node.each(&elements, |element| ToolPattern::new(element.text()?).map_err(|fault| element.fail(fault))))
}
