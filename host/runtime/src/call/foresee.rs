//! Explains a call: takes its steps up to where it would ask an approver or run. Nothing is recorded, counted or spent,
//! and no approver is asked. The plugin's reviewer runs in its sandbox. The hooks run too, and see that the call is
//! only explained.

use super::disapproval::disapproved;
use super::grant::{self, GrantedCall};
use super::parse::ParsedCall;
use super::record::CallRecord;
use super::rejection::{Rejection, unkept};
use super::unwanted;
use super::validate::PortableNames;
use crate::approvals::{ApprovalCase, ApprovalError, Foreseen};
use crate::inner::HostState;
use crate::ledger::blocking;
use crate::outlook::Outlook;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::{Answer, Output, Success};
use portcullis_sandbox::{LimitKind, Stop, Usage};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Takes the steps of a call without running it, and returns what would happen.
///
/// # Errors
/// The call would be rejected before the policy decides it.
pub(crate) async fn explain(host: &Arc<HostState>, request: &Request) -> Result<(Arc<ValidCall>, Outlook), Rejection> {
    let call = begin(host, request).await?;
    let outlook = call.outlook(host, request).await;
    Ok((call, outlook))
}

/// What the host would do with a call that it does not refuse.
pub(super) enum Foresight {
    Runs {
        /// The ids of the approvals that it would use.
        approvals: Vec<String>,
    },
    Asks {
        case: Box<ApprovalCase>,
        /// The open request that it would join.
        open: Option<String>,
    },
}

/// Takes the steps of a call without running it, and returns the approval request that it would make.
///
/// # Errors
/// The call would be refused.
pub(super) async fn foresight(
    host: &Arc<HostState>,
    request: &Request,
) -> Result<(Arc<ValidCall>, Foresight), Rejection> {
    let call = begin(host, request).await?;
    let foresight = call.foresight(host, request).await?;
    Ok((call, foresight))
}

async fn begin(host: &Arc<HostState>, request: &Request) -> Result<Arc<ValidCall>, Rejection> {
    unwanted::refused(request)?;
    let mut arguments = request.arguments.clone();
    ParsedCall::parse(&request.tool, &mut arguments, host.arguments_bytes_max)?.validate(host, request).await
}

impl ValidCall {
    async fn outlook(self: &Arc<Self>, host: &Arc<HostState>, request: &Request) -> Outlook {
        match self.foresee(host, request).await {
            Ok(outlook) => outlook,
            Err(rejection) => refusal(rejection),
        }
    }

    async fn foresee(self: &Arc<Self>, host: &Arc<HostState>, request: &Request) -> Result<Outlook, Rejection> {
        Ok(match self.foresight(host, request).await? {
            Foresight::Runs { approvals } => Outlook::Run { approvals },
            Foresight::Asks { case, open } => Outlook::Ask { reason: case.question.reason, request: open },
        })
    }

    async fn foresight(self: &Arc<Self>, host: &Arc<HostState>, request: &Request) -> Result<Foresight, Rejection> {
        let record = CallRecord::rehearsal(host, request);
        let (verdict, observed) = self.weigh(host, request, &record).await?;
        let Some(reasons) = self.reasons(&verdict, &observed) else { return self.would_run(host, Vec::new()).await };
        grant::check_answerable(self)?;
        let case = self.case(request, record.id(), &observed, reasons)?;
        let (approvals, channel) = (host.approvals.clone(), host.channel_of(request, &self.policy.policy));
        let foreseen = blocking(move || Ok::<_, ApprovalError>((approvals.foresee(&channel, &case)?, case))).await;
        let (foreseen, case) = foreseen.map_err(|error| unkept(&error))?;
        match foreseen {
            Foreseen::Answered(approvals) => self.would_run(host, approvals).await,
            Foreseen::Asked(open) => Ok(Foresight::Asks { case: Box::new(case), open }),
            Foreseen::Refused { note } => Err(disapproved(self, note.as_deref())),
        }
    }

    /// Checks what an approved call still needs: its handles and its code.
    async fn would_run(&self, host: &HostState, approvals: Vec<String>) -> Result<Foresight, Rejection> {
        grant::check(self)?;
        if self.plugin.is_component() {
            host.code(&self.plugin).await?;
        }
        Ok(Foresight::Runs { approvals })
    }
}

fn refusal(Rejection { code, message, .. }: Rejection) -> Outlook {
    Outlook::Refuse { code, message }
}

/// Runs `tools.explain`. It tells a caller what its own call would return, and nothing else.
pub(super) async fn run(
    host: &Arc<HostState>,
    request: &Request,
    granted: &GrantedCall,
) -> (Result<Answer, Stop>, Usage) {
    let began = Instant::now();
    let result = tokio::select! {
        biased;
        success = explaining(host, request, granted) => Ok(Ok(success)),
        () = request.cancellation.cancelled() => Err(Stop::Cancelled),
        () = tokio::time::sleep(granted.limits.time) => Err(Stop::Limit(LimitKind::Time)),
    };
    let wall = began.elapsed();
    (result, Usage { wall, cpu: wall, memory_bytes: 0 })
}

async fn explaining(host: &Arc<HostState>, request: &Request, granted: &GrantedCall) -> Success {
    let arguments = &granted.call.arguments;
    let named = arguments.get("tool").and_then(Value::as_str).unwrap_or_default();
    // Otherwise, a limit of one call in progress would refuse every call but this one.
    request.admission.pause_count();
    let tool = PortableNames::of(&host.catalog()).find(named).unwrap_or(named).to_owned();
    let asked = arguments.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
    let (code, text, would) = match explain(host, &request.of_the_same_caller(tool, asked)).await {
        Ok((_, Outlook::Run { .. })) => (None, "The call would run now.".to_owned(), "run"),
        Ok((_, Outlook::Ask { .. })) => {
            let text = "The call would need a person's approval before it runs. No approval was requested yet.";
            (None, text.to_owned(), "ask")
        }
        Ok((_, Outlook::Refuse { code, message })) => (Some(code), message, "refuse"),
        Err(Rejection { code, message, .. }) => (Some(code), message, "refuse"),
    };
    let text = match code {
        Some(code) => format!("The call would be refused ({code}). {text}"),
        None => text,
    };
    let metadata = json!({ "would": would, "code": code.map(|code| code.as_str()) });
    Success { title: None, output: Output::Text(text), metadata: Some(metadata.to_string()) }
}
