//! What a server asks its user during a call: only a person decides, for this time only.

use super::caller::GuestLink;
use super::question::AskedResource;
use crate::servers::AskUser;
use crate::text::cut;
use portcullis_policy::{Permission, RESOURCE_BYTES};
use std::pin::Pin;

/// The permission that rules see if a tool of the server has none.
const QUESTION_PERMISSION: Permission = Permission::Network;

impl AskUser for GuestLink {
    fn ask(&self, what: String) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let permission = self.call.tool.permissions().iter().next().unwrap_or(QUESTION_PERMISSION);
        let reason = "the server asks its user".to_owned();
        let asked = AskedResource { permission, resource: what, reason, patterns: Vec::new(), by_person: true };
        Box::pin(async move { self.decide_resource(asked).await.is_ok() })
    }

    fn decline(&self, what: String, why: &'static str) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            // If the log cannot be written, the end of the call says so.
            let _ = self.note_answer(cut(&what, RESOURCE_BYTES).to_owned(), "no", Some(why)).await;
        })
    }
}
