//! Reports that a request was answered or an approval revoked.

use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use serde_json::json;

/// Reports success.
pub(super) fn done(id: &str, what: &str, context: &Context) -> anyhow::Result<Exit> {
    if context.json {
        context.terminal.print(&json::document(DocumentKind::ApprovalChange, &json!({ "id": id, "status": what }))?)?;
    } else {
        context.terminal.note(what);
    }
    Ok(Exit::Completed)
}
