//! What else than the policy says of a call, and what the policy answers a running one.

use super::CallRecord;
use super::lines::HookLine;
use crate::call::rejection::Rejection;
use crate::hooks::{Hooked, Stage};
use crate::text::cut;
use portcullis_sandbox::Verdict as Review;

impl CallRecord {
    /// Records a plugin's own opinion, where it has one.
    pub(in crate::call) async fn reviewed(&self, review: &Review) -> Result<(), Rejection> {
        let (answer, text) = match review {
            Review::Clear => return Ok(()),
            Review::Ask(request) => ("ask", &request.reason),
            Review::Refuse(text) => ("refuse", text),
        };
        self.shared.entry.answer("the plugin's review".to_owned(), answer, Some(cut(text, 1024))).await
    }

    /// Records what the policy answers a running call. Unless this succeeds, it has no effect.
    pub(in crate::call) async fn answered(
        &self,
        subject: String,
        answer: &str,
        note: Option<&str>,
    ) -> Result<(), Rejection> {
        self.shared.entry.answer(subject, answer, note).await
    }

    /// Records what a hook said, where it said anything. Unless this succeeds, it has no effect.
    pub(in crate::call) async fn hooked(&self, hook: u32, stage: Stage, hooked: &Hooked) -> Result<(), Rejection> {
        if *hooked == Hooked::pass() || self.is_rehearsal() {
            return Ok(());
        }
        let line = HookLine {
            call: self.id(),
            stage: stage.as_str(),
            hook,
            answer: hooked.answer(),
            reason: hooked.reason(),
            notes: hooked.notes(),
            notes_dropped: Some(hooked.notes_dropped()).filter(|dropped| *dropped > 0),
        };
        self.shared.entry.hook(&line).await
    }
}
