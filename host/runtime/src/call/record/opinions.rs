//! Records the answers of reviewers and hooks, and the policy's answers to a running call.

use super::CallRecord;
use super::lines::HookLine;
use crate::call::rejection::Rejection;
use crate::hooks::{HookStage, Hooked};
use crate::text::cut;
use portcullis_definitions::manifest::Verdict as Review;

impl CallRecord {
    /// Records the reviewer's answer, unless it is clear.
    pub(in crate::call) async fn reviewed(&self, review: &Review) -> Result<(), Rejection> {
        let (answer, text) = match review {
            Review::Clear => return Ok(()),
            Review::Ask(request) => ("ask", &request.reason),
            Review::Refuse(text) => ("refuse", text),
        };
        self.shared.entry.answer("the plugin's review".to_owned(), answer, Some(cut(text, 1024))).await
    }

    /// Records the policy's answer to a running call. If this fails, the answer has no effect.
    pub(in crate::call) async fn answered(
        &self,
        subject: String,
        answer: &str,
        note: Option<&str>,
    ) -> Result<(), Rejection> {
        self.shared.entry.answer(subject, answer, note).await
    }

    /// Records a hook's answer, unless it only passes the call. If this fails, the answer has no effect.
    pub(in crate::call) async fn hooked(&self, hook: u32, stage: HookStage, hooked: &Hooked) -> Result<(), Rejection> {
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
