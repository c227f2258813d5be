//! The host's side of a running call: takes its progress, and answers what it asks in its middle, through the same
//! policy and the same approver as the call itself.

use super::Rejection;
use super::authorize::{ask, question, verdict_text};
use super::record::CallRecord;
use super::validate::ValidCall;
use crate::approver::{Answer, Subject};
use crate::host::Inner;
use crate::request::{Origin, Request};
use crate::text::{OneLine, cut};
use portcullis_policy::{Decision, Permission};
use portcullis_sandbox::{Ask, CallHost, Cancellation, Progress};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The host's side of a running call.
pub(super) struct Caller {
    host: Arc<Inner>,
    record: CallRecord,
    origin: Origin,
    cancellation: Cancellation,
    call: Arc<ValidCall>,
}

impl CallHost for Caller {
    fn report(&self, progress: Progress) {
        self.host.progress.report(self.record.id(), &progress);
    }

    fn ask(&self, asked: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(self.decide(asked))
    }
}

impl Caller {
    pub(super) fn new(host: Arc<Inner>, record: CallRecord, request: &Request, call: Arc<ValidCall>) -> Self {
        Self { host, record, origin: request.origin.clone(), cancellation: request.cancellation.clone(), call }
    }

    async fn decide(&self, asked: Ask) -> Result<(), String> {
        let tool = &self.call.tool;
        let permission = asked.permission.parse::<Permission>().ok();
        let Some(permission) = permission.filter(|permission| tool.permissions().contains(*permission)) else {
            return Err(format!("{} does not declare this permission", tool.name));
        };
        let subject = Subject::Resource {
            permission: permission.as_str().to_owned(),
            resource: asked.resource.clone(),
            reason: asked.reason,
        };
        let verdict = self.host.policy.decide_resource(&tool.name, permission, &asked.resource);
        let record = &self.record;
        let refused = |rejection: Rejection| rejection.message;
        let decided = |answer| record.answered(&subject, &answer).map_err(refused);
        match verdict.decision {
            Decision::Allow => decided(Answer::Yes),
            Decision::Deny => {
                decided(Answer::No { note: Some(verdict.reason.to_string()) })?;
                Err(format!("the policy denies it: {}", verdict.reason))
            }
            Decision::Ask => {
                let limits = self.host.policy.limits(&self.call.plugin.name);
                let reason = verdict_text(&verdict);
                let question = question(&self.host, &self.origin, &self.call, record.id(), subject.clone(), reason);
                let asking = ask(&self.host, &question, limits.approval_time, &self.cancellation, record);
                match asking.await.map_err(refused)? {
                    Answer::Yes => Ok(()),
                    Answer::No { note: Some(note) } => Err(format!("not approved: {}", OneLine(cut(&note, 1024)))),
                    Answer::No { note: None } => Err("not approved".to_owned()),
                }
            }
        }
    }
}
