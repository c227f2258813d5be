//! Step 5: a turn in its batch, a place among the running calls, and the plugin's code. The store itself is made by the
//! sandbox, with every limit armed, in the moment the code is run.

use super::Rejection;
use super::grant::GrantedCall;
use super::unwanted::unwanted;
use crate::host::Inner;
use crate::place::Placed;
use crate::reply::Code;
use crate::request::Request;
use crate::standard::Standard;
use portcullis_sandbox::Code as PluginCode;

/// A granted call that may start now.
pub(crate) struct ReadyCall {
    pub(super) granted: GrantedCall,
    pub(super) code: Runnable,
    /// The place is free again when this is dropped.
    pub(super) place: Placed,
}

/// What a call runs.
pub(super) enum Runnable {
    /// A tool of a plugin.
    Plugin(PluginCode),
    /// A tool of the host's own.
    Standard(Standard),
}

impl GrantedCall {
    pub(super) async fn instantiate(self, host: &Inner, request: &Request) -> Result<ReadyCall, Rejection> {
        let code = match Standard::named(&self.call.tool.name) {
            Some(standard) => Runnable::Standard(standard),
            None => Runnable::Plugin(host.code(&self.call.plugin).await?.clone()),
        };
        let place = tokio::select! {
            // A call that nobody wants any more does not start, though its place came free in the same moment.
            biased;
            rejection = unwanted(request) => Err(rejection),
            place = self.wait(host, request) => place,
        };
        Ok(ReadyCall { granted: self, code, place: place? })
    }

    async fn wait(&self, host: &Inner, request: &Request) -> Result<Placed, Rejection> {
        if let Some(turn) = &request.turn {
            turn.take(&self.call.tool).await;
        }
        let waiting = host.places.take(&request.place);
        // A place comes free when a call ends, and each ends in its time; who waits longer than that gives way.
        match tokio::time::timeout(self.limits.time, waiting).await {
            Ok(place) => Ok(place),
            Err(_) => {
                Err(Rejection::new(Code::Busy, "Too many calls are running. Try again when one of them has ended."))
            }
        }
    }
}
