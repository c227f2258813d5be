//! Step 5: a turn in its batch, admission by the order of its session and to a run slot, and the plugin's code.
//!
//! The sandbox makes the store when it runs the code, with every limit armed.

use super::grant::GrantedCall;
use super::rejection::Rejection;
use super::unwanted::unwanted;
use crate::admission::{Admitted, Applicant, NotAdmitted};
use crate::inner::Inner;
use crate::reply::Code;
use crate::request::Request;
use crate::reserved;
use crate::standard::Standard;
use portcullis_sandbox::Code as PluginCode;

/// A granted call that may start now.
pub(crate) struct ReadyCall {
    pub(super) granted: GrantedCall,
    pub(super) code: Runnable,
    /// Others are admitted in its place when this is dropped.
    pub(super) admitted: Admitted,
}

/// What a call runs.
pub(super) enum Runnable {
    /// A tool of a plugin.
    Plugin(PluginCode),
    /// A tool of the host's own.
    Standard(Standard),
    /// `tools.explain`, which takes the steps of another call.
    Explanation,
}

impl GrantedCall {
    pub(super) async fn instantiate(self, host: &Inner, request: &Request) -> Result<ReadyCall, Rejection> {
        let code = match Standard::named(&self.call.tool.name) {
            Some(standard) => Runnable::Standard(standard),
            None if reserved::explains(&self.call.tool.name) => Runnable::Explanation,
            None => Runnable::Plugin(host.code(&self.call.plugin).await?.clone()),
        };
        let admitted = tokio::select! {
            // A cancelled or superseded call does not start, even if its run slot came free at the same moment.
            biased;
            rejection = unwanted(request) => Err(rejection),
            admitted = self.wait(host, request) => admitted,
        };
        Ok(ReadyCall { granted: self, code, admitted: admitted? })
    }

    async fn wait(&self, host: &Inner, request: &Request) -> Result<Admitted, Rejection> {
        if let Some(turn) = &request.turn {
            turn.take(&self.call.tool).await;
        }
        let origin = &request.origin;
        let applicant = Applicant {
            principal: &origin.principal,
            session: &origin.session,
            plugin: &self.call.plugin.name,
            tool: &self.call.tool,
        };
        // A slot comes free when a call ends, and each ends in its time. A call that waits longer than that gives up.
        let admitted = host.admissions.admit(applicant, &request.admission, self.limits.time).await;
        admitted.map_err(|why| match why {
            NotAdmitted::Busy => {
                Rejection::new(Code::Busy, "Too many calls are running. Try again when one of them has ended.")
            }
            NotAdmitted::Io(error) => Rejection::new(Code::Busy, "The order of the session's calls cannot be kept.")
                .with_detail(format!("the lock file of the session: {error}")),
        })
    }
}
