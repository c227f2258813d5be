//! Bounds what the protocol library remembers of the tools of a server.
//!
//! The library keeps the schema of every tool that a server ever listed, because it sends some arguments in headers. A
//! server that lists other tools each time would fill the memory.

use rmcp::model::Tool;
use std::collections::HashMap;

/// The tools that a server has listed, with the size of each.
#[derive(Default)]
pub(super) struct SeenTools {
    sizes: HashMap<String, usize>,
    bytes: usize,
}

impl SeenTools {
    /// Records a list of tools. Returns whether all tools together are within the limit.
    pub(super) fn note(&mut self, tools: &[Tool], bytes_max: usize) -> bool {
        for tool in tools {
            // What cannot be measured is never accepted.
            let size = serde_json::to_vec(&*tool.input_schema).map_or(bytes_max, |schema| schema.len());
            let size = size.saturating_add(tool.name.len());
            let before = self.sizes.insert(tool.name.to_string(), size).unwrap_or(0);
            self.bytes = self.bytes.saturating_sub(before).saturating_add(size);
            if self.bytes > bytes_max {
                return false;
            }
        }
        true
    }
}
