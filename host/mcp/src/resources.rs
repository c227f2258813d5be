//! The resources that a client can read: the state of the plugins, and kept outputs. Kept outputs were too large for
//! their results, and the caller reads them in pages.

mod address;
mod page;
mod plugins;

use crate::caller::McpCaller;
use crate::cursor;
use crate::offered;
use crate::server::Server;
use address::Address;
use page::contents;
use portcullis::outputs::{KeptOutput, OutputError, Reference};
use portcullis::text::OneLine;
use rmcp::model::{
    CacheScope, JsonObject, ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Resource,
    ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;

/// Outputs on one page of the list.
const PAGE_OUTPUTS: usize = 100;

/// Time that a client may cache an output, in milliseconds. An output never changes, but it can be removed.
const FRESH_MS: u64 = 60_000;

/// Returns a link to a kept output.
pub(crate) fn link(reference: &Reference, tool: &str) -> Resource {
    let name = format!("output {}", reference.id);
    let description = format!("The full output of {tool}: {} bytes. Read it in pages.", reference.bytes);
    Resource::new(Address::first(&reference.id).to_string(), name)
        .with_description(description)
        .with_mime_type(reference.media_type.clone())
        .with_size(reference.bytes)
}

/// Lists the resources that the caller may read: a page of outputs, the newest first, and on the first page also the
/// state of the plugins.
///
/// # Errors
/// The cursor is not from this server, or the ledger cannot be read.
pub(crate) async fn list(
    server: &Server,
    caller: McpCaller,
    after: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let after = after.map(cursor::open).transpose()?;
    let kept = server.inner().host.outputs().list(caller.reader()).await.map_err(|error| unreadable(&error))?;
    let is_first = after.is_none();
    let start = match after {
        None => 0,
        Some(after) => {
            let last = kept.iter().position(|output| output.reference.id == after).ok_or_else(cursor::unknown)?;
            last + 1
        }
    };
    let rest = kept.get(start..).unwrap_or_default();
    let page = rest.get(..PAGE_OUTPUTS).unwrap_or(rest);
    let resources = page.iter().map(listed).chain(is_first.then(plugins::resource));
    let mut result =
        ListResourcesResult::with_all_items(resources.collect()).with_ttl_ms(0).with_cache_scope(CacheScope::Private);
    if page.len() < rest.len() {
        result.next_cursor = page.last().map(|output| cursor::seal(&output.reference.id));
    }
    Ok(result)
}

fn listed(output: &KeptOutput) -> Resource {
    let resource = link(&output.reference, &output.tool);
    match &output.name {
        Some(name) => resource.with_title(OneLine(name).to_string()),
        None => resource,
    }
}

/// Returns the URI template of the pages of an output.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(address::TEMPLATE, "output")
        .with_title("A page of a kept output")
        .with_description("`offset` and `limit` are in bytes. Without them, the URI returns the first page.");
    ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(FRESH_MS)
        .with_cache_scope(CacheScope::Public)
}

/// Reads the state of the plugins, or one page of an output.
///
/// # Errors
/// There is no such output for this caller, or it cannot be read.
pub(crate) async fn read(
    server: &Server,
    cx: &RequestContext<RoleServer>,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    if uri == plugins::URI {
        return Ok(plugins::read(server, &offered::of(server, cx).await));
    }
    let Some(address) = Address::parse(uri) else { return Err(unknown(uri)) };
    let caller = McpCaller::of(server, cx);
    let (outputs, reader) = (server.inner().host.outputs(), caller.reader());
    let read = async {
        let kept = outputs.get(reader, &address.id).await?;
        // Read a few bytes more, so that a character that begins on the page is complete.
        let bytes_max = address.limit + page::CHARACTER_BYTES_MAX;
        let bytes = outputs.read(reader, &address.id, address.offset, bytes_max).await?;
        Ok((kept, bytes))
    };
    let (kept, bytes) = match read.await {
        Err(OutputError::Unknown(_)) => return Err(unknown(uri)),
        read => read.map_err(|error| unreadable(&error))?,
    };
    let page = page::cut(&kept.reference, bytes, address.limit);
    let next = address.offset + page.len() as u64;
    let mut meta = JsonObject::new();
    meta.insert("portcullis/offset".to_owned(), json!(address.offset));
    meta.insert("portcullis/bytes".to_owned(), json!(kept.reference.bytes));
    if let Some(name) = &kept.name {
        meta.insert("portcullis/name".to_owned(), json!(name));
    }
    if next < kept.reference.bytes {
        let next = Address { offset: next, ..address };
        meta.insert("portcullis/next".to_owned(), json!(next.to_string()));
    }
    let contents = contents(&kept.reference, &page, uri).with_meta(MetaObject(meta));
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))
}

/// Returns the error for an output that cannot be read. It hides the details of a system error, because clients should
/// not learn about the operator's disk.
fn unreadable(error: &OutputError) -> ErrorData {
    match error {
        OutputError::Missing(_) | OutputError::Changed(_) => ErrorData::internal_error(error.to_string(), None),
        OutputError::Unknown(_) | OutputError::Ledger(_) | OutputError::Place { .. } | OutputError::Io(_) => {
            ErrorData::internal_error("the output cannot be read", None)
        }
    }
}
