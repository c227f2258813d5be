//! `tools/list`: all tools in a stable order, in pages, or a short list whose tools find and call the rest.

pub(crate) mod listing;
pub(crate) mod loading;
mod page;
mod route;
mod short;

pub(crate) use listing::ToolListing;
pub(crate) use page::list;
pub(crate) use route::{Route, ShortName, short_name};
pub use short::{ShortTool, short_list};

use portcullis::plugins::Tool;

/// Returns whether a tool has this full name, without writing its name.
pub(crate) fn is_named(tool: &Tool, full: &str) -> bool {
    full.split_once('.') == Some((tool.name().plugin.as_str(), tool.name().tool.as_str()))
}
