//! A call that runs within its request. A client that supports elicitation is asked during that request.

use super::announce::QuestionAnnouncer;
use super::spoken::Spoken;
use super::stage::{CallPhase, CallStage};
use super::unattended::{denies_unattended, unattended};
use super::{answer, form};
use portcullis::{Answer, Question, Reply, Request};
use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;

/// The handling of an approval request while the call waits.
type Asking<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Calls a tool. The client is asked in the task of its own request, because the protocol ties an elicitation to that
/// request.
pub(super) async fn call(spoken: &Spoken<'_>, request: Request, announced: bool) -> Reply {
    let host = &spoken.server.inner().host;
    if !announced {
        return host.call(request).await;
    }
    let (sender, mut stage) = watch::channel(CallStage::now(CallPhase::Work));
    let mut call = std::pin::pin!(host.call(request.approver(Arc::new(QuestionAnnouncer::new(sender, spoken.client)))));
    let mut asking: Option<Asking<'_>> = None;
    loop {
        tokio::select! {
            biased;
            reply = &mut call => return reply,
            Ok(()) = stage.changed() => {
                let at = stage.borrow_and_update().at.clone();
                // Dropping the previous request closes its form, because it was answered.
                asking = match at {
                    CallPhase::Asking(question) => Some(Box::pin(ask(spoken, question))),
                    CallPhase::Work | CallPhase::Over(_) => None,
                };
            }
            () = until(&mut asking) => asking = None,
        }
    }
}

async fn until(asking: &mut Option<Asking<'_>>) {
    match asking {
        Some(asking) => asking.await,
        None => pending().await,
    }
}

/// Asks the client and returns its answer. If the client cannot be asked, it gets a message that names the other
/// channels, or the request is denied if the policy denies unattended requests.
async fn ask(spoken: &Spoken<'_>, question: Arc<Question>) {
    let is_asked = spoken.client.is_asked(&question);
    if !is_asked && !denies_unattended(spoken.server) {
        return spoken.say(&form::waits_elsewhere(&spoken.server.inner().host, &question)).await;
    }
    let answer = if is_asked { elicit(spoken, &question).await } else { unattended() };
    // An answer that cannot be recorded has no effect, and the call keeps waiting.
    let _ = answer::give(spoken.server, &spoken.named.caller.principal, &question, answer).await;
}

/// Asks the client's user by a form and returns the answer. If the client fails to ask, the answer is a denial.
async fn elicit(spoken: &Spoken<'_>, question: &Question) -> Answer {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form::params(question)));
    let sent = spoken.cx.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let answered = match sent {
        Ok(handle) => Open(Some(handle)).answer().await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(ClientResult::ElicitResult(result)) => answer::of(&result, question),
        Ok(_) | Err(_) => Answer::No { note: Some("the client could not ask its user".to_owned()) },
    }
}

/// An open form at the client. Dropping it before it is answered tells the client to close the form.
struct Open(Option<RequestHandle<RoleServer>>);

impl Open {
    async fn answer(mut self) -> Result<ClientResult, ServiceError> {
        let Some(handle) = &mut self.0 else { return Err(ServiceError::UnexpectedResponse) };
        let answered = (&mut handle.rx).await;
        self.0 = None;
        answered.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            let reason = "the approval request was answered elsewhere, or its call no longer waits";
            let close = handle.cancel(Some(reason.to_owned()));
            drop(runtime.spawn(close));
        }
    }
}
