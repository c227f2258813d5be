//! The metadata of a result, for programs: the id of the call, its outcome, and its usage.

use portcullis::Reply;
use rmcp::model::{JsonObject, MetaObject};
use serde_json::{Value, json};

/// Returns the metadata of a reply, each value under a `portcullis/` key.
pub(super) fn of(reply: &Reply) -> MetaObject {
    let mut meta = JsonObject::new();
    let mut put = |name: &str, value: Value| meta.insert(format!("portcullis/{name}"), value);
    put("call", json!(reply.id));
    put("code", json!(reply.code.as_str()));
    put("outcome", json!(reply.outcome().as_str()));
    put("usage", json!(reply.usage));
    if let Some(request) = &reply.approval_request {
        put("approval-request", json!(request));
    }
    if let Some(after) = reply.retry_after {
        put("retry-after", json!(after.as_secs()));
    }
    if let Some(title) = &reply.title {
        put("title", json!(title));
    }
    if let Some(metadata) = &reply.metadata {
        put("metadata", metadata.clone());
    }
    if let Some(reference) = &reply.reference {
        put("reference", json!(reference));
    }
    MetaObject(meta)
}
