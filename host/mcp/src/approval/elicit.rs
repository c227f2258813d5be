//! Asks the user of a client by a form, during a request of the client.

use super::spoken::Spoken;
use super::{answer, form};
use portcullis::{Answer, Question};
use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};

/// Asks the client's user by a form and returns the answer. If the client fails to ask, the answer is a denial. The
/// protocol ties an elicitation to a request of the client, so this runs in the task of that request.
pub(super) async fn elicit(spoken: &Spoken<'_>, question: &Question) -> Answer {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form::params(question)));
    // No timeout here: when the call no longer waits, this future is dropped and the form is closed.
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
