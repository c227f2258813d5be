//! One page of the tools, and the cursor to the next.

use super::Listing;
use crate::cursor;
use portcullis::policy::ToolName;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};

/// Tools of one page. Some clients never ask for a second one, and a model cannot choose from so many.
const PAGE_TOOLS: usize = 200;

/// How long a list may be taken for fresh, in milliseconds: not at all, for who does not listen hears of no change.
const FRESH_MS: u64 = 0;

/// One page, from where a cursor points to.
///
/// # Errors
/// The cursor is none that this server gave out.
pub(crate) fn list(listing: &Listing, after: Option<&str>, legacy: bool) -> Result<ListToolsResult, ErrorData> {
    if let Some(short) = &listing.short {
        return short_page(listing, short, after, legacy);
    }
    let start = match after {
        None => 0,
        Some(after) => {
            let after: ToolName = cursor::open(after)?.parse().map_err(|_| cursor::unknown())?;
            // The tool itself may be gone by now: what follows is what comes after its name.
            listing.tools.partition_point(|listed| *listed.tool.name() <= after)
        }
    };
    let rest: Vec<_> = listing.tools.iter().skip(start).filter(|listed| listed.shown).collect();
    let page = rest.get(..PAGE_TOOLS).unwrap_or(&rest);
    let definitions = page.iter().map(|listed| listed.definition(legacy).clone()).collect();
    let mut result = page_of(definitions);
    if page.len() < rest.len() {
        result.next_cursor = page.last().map(|listed| cursor::seal(&listed.tool.name().to_string()));
    }
    Ok(result)
}

/// The one page of a short list: the two tools that stand for the others, and the host's own.
fn short_page(
    listing: &Listing,
    short: &[Tool],
    after: Option<&str>,
    legacy: bool,
) -> Result<ListToolsResult, ErrorData> {
    if after.is_some() {
        return Err(cursor::unknown());
    }
    let own = listing.tools.iter().filter(|listed| listed.shown && listed.plugin.is_standard());
    Ok(page_of(short.iter().chain(own.map(|listed| listed.definition(legacy))).cloned().collect()))
}

fn page_of(definitions: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(definitions).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private)
}
