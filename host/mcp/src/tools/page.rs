//! One page of the tool list, and the cursor to the next.

use super::ToolListing;
use crate::cursor;
use portcullis::OfferedTools;
use portcullis::policy::ToolName;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};

/// Tools on one page. Some clients never request a second page, and a model cannot choose among more tools.
const PAGE_TOOLS: usize = 200;

/// Time that a client may cache a list, in milliseconds. It is zero, because a client without a subscription is not
/// notified of changes.
const FRESH_MS: u64 = 0;

/// Returns one page of tools, after the given cursor.
///
/// # Errors
/// The cursor is not from this server.
pub(crate) fn list(
    listing: &ToolListing,
    offered: &OfferedTools,
    after: Option<&str>,
    legacy: bool,
) -> Result<ListToolsResult, ErrorData> {
    if let Some(short) = listing.short_for(offered) {
        return short_page((listing, offered), &short, after, legacy);
    }
    let start = match after {
        None => 0,
        Some(after) => {
            let after: ToolName = cursor::open(after)?.parse().map_err(|_| cursor::unknown())?;
            // The tool itself may have been removed, so the page begins with the first name after it.
            listing.tools.partition_point(|listed| *listed.tool.name() <= after)
        }
    };
    let rest: Vec<_> = listing.tools.iter().skip(start).filter(|listed| listed.is_shown_in(offered)).collect();
    let page = rest.get(..PAGE_TOOLS).unwrap_or(&rest);
    let definitions = page.iter().map(|listed| listed.definition_in(offered, legacy)).collect();
    let mut result = page_of(definitions);
    if page.len() < rest.len() {
        result.next_cursor = page.last().map(|listed| cursor::seal(&listed.tool.name().to_string()));
    }
    Ok(result)
}

/// Returns the only page of a short list: the two tools that find and call the others, and the host's own tools.
fn short_page(
    (listing, offered): (&ToolListing, &OfferedTools),
    short: &[Tool],
    after: Option<&str>,
    legacy: bool,
) -> Result<ListToolsResult, ErrorData> {
    if after.is_some() {
        return Err(cursor::unknown());
    }
    let own = listing.tools.iter().filter(|listed| listed.shown && listed.plugin.is_standard());
    let own = own.map(|listed| listed.definition_in(offered, legacy));
    Ok(page_of(short.iter().cloned().chain(own).collect()))
}

fn page_of(definitions: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(definitions).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private)
}
