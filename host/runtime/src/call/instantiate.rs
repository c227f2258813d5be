//! Step 5: gets the plugin's code, waits for the call's turn in its batch, and admits the call to its session's order
//! and to a run slot.
//!
//! The sandbox makes the store when it runs the code, with every limit armed.

use super::grant::GrantedCall;
use super::record::CallRecord;
use super::rejection::Rejection;
use super::unwanted::unwanted;
use crate::admission::{AdmissionWaits, Admitted, Applicant, NotAdmitted, measured};
use crate::inner::HostState;
use crate::native::NativeFunction;
use crate::reply::Code;
use crate::request::Request;
use crate::reserved;
use crate::standard::Standard;
use portcullis_policy::Limits;
use portcullis_sandbox::Code as PluginCode;

/// A granted call that may start now.
pub(crate) struct ReadyCall {
    pub(super) granted: GrantedCall,
    pub(super) code: Runnable,
    /// The admission. Dropping it admits another call.
    pub(super) admitted: Admitted,
}

/// The code that a call runs.
pub(super) enum Runnable {
    /// A tool of a plugin.
    Plugin(PluginCode),
    /// A built-in tool of the host.
    Standard(Standard),
    /// A function of the application.
    Native(NativeFunction),
    /// A tool of an MCP server.
    Server,
    /// `tools.explain`, which takes the steps of another call without running it.
    Explanation,
    /// `tools.batch`, which makes calls for its caller.
    Batch,
}

impl Runnable {
    /// Returns the maximum size of an answer that is passed on, in bytes.
    pub(super) fn answer_bytes_max(&self, limits: &Limits) -> usize {
        match self {
            Self::Plugin(_) | Self::Native(_) | Self::Server | Self::Explanation | Self::Batch => limits.output_bytes,
            Self::Standard(standard) => standard.answer_bytes_max(limits),
        }
    }
}

impl GrantedCall {
    pub(super) async fn instantiate(
        self,
        host: &HostState,
        request: &Request,
        record: &CallRecord,
    ) -> Result<ReadyCall, Rejection> {
        let name = self.call.tool.name();
        // Get the code before the waits. Compiling can take long, and the call would hold its turn and its slot
        // meanwhile.
        let code = match (Standard::named(name), self.call.plugin.native_function(&name.tool)) {
            (Some(standard), _) => Runnable::Standard(standard),
            (None, _) if reserved::explains(name) => Runnable::Explanation,
            (None, _) if reserved::batches(name) => Runnable::Batch,
            (None, _) if self.call.plugin.is_server() => Runnable::Server,
            (None, Some(function)) => Runnable::Native(NativeFunction::clone(function)),
            (None, None) => Runnable::Plugin(host.code(&self.call.plugin).await?.clone()),
        };
        let admitted = tokio::select! {
            // A cancelled or superseded call does not start, even if its run slot came free at the same moment.
            biased;
            rejection = unwanted(request) => Err(rejection),
            admitted = self.wait(host, request, record) => admitted,
        };
        Ok(ReadyCall { granted: self, code, admitted: admitted? })
    }

    async fn wait(&self, host: &HostState, request: &Request, record: &CallRecord) -> Result<Admitted, Rejection> {
        let mut waits = AdmissionWaits::default();
        if let Some(turn) = &request.turn {
            ((), waits.turn) = measured(turn.take(&self.call.tool)).await;
        }
        let origin = &request.origin;
        let applicant = Applicant {
            principal: request.ordered_for(),
            session: &origin.session,
            plugin: &self.call.plugin.name,
            tool: &self.call.tool,
        };
        // A slot becomes free when a call ends, and every call has a time limit. A call gives up after its own limit.
        // It does not give up its place in the order of its session, because those calls run one after another.
        let lender = request.parent.as_ref().map(|parent| parent.admission());
        let time = self.limits.time;
        let admitted = host.admissions.admit(applicant, &request.admission, lender, time, &mut waits).await;
        record.admitted(&waits);
        admitted.map_err(|why| match why {
            NotAdmitted::Busy => {
                Rejection::new(Code::Busy, "Too many calls are running. Retry when one of them has ended.")
            }
            NotAdmitted::Io(error) => Rejection::new(Code::Busy, "The session's calls cannot be kept in order.")
                .with_detail(format!("the session's lock file is not usable: {error}")),
        })
    }
}
