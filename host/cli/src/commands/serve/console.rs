//! The console of a server over HTTP, for approvers who sign in with a token.

use super::access;
use crate::arguments::HttpArguments;
use crate::commands::editing::FilePauseSwitch;
use crate::context::Context;
use portcullis::Host;
use portcullis::policy::Principal;
use portcullis_console::{ApproverSignIn, ApproverTokens, ConsoleOptions, HostSource, PagesEnd, ServedPages};
use portcullis_mcp::http::{ApproverVerdict, LiveApprovers, Pages};
use std::path::PathBuf;
use std::sync::Arc;

/// The console of a server.
pub(super) struct ServedConsole {
    pub(super) pages: Pages,
    pub(super) signing_in: SigningIn,
}

/// Who may sign in to the console of a server.
pub(super) struct SigningIn {
    pub(super) approvers: LiveApprovers,
    /// The file with the tokens or keys of approvers. It may change while the server runs.
    pub(super) file: PathBuf,
    /// Tells the user who may sign in.
    pub(super) line: String,
    /// Ends the event streams of its pages when it is dropped.
    _end: PagesEnd,
}

/// Prepares the console of a server.
///
/// # Errors
/// No one could sign in, or the audit log cannot be read.
pub(super) async fn prepare(
    host: &Host,
    arguments: &HttpArguments,
    operator: &Principal,
    context: &Context,
) -> anyhow::Result<ServedConsole> {
    let told = access::approvers(arguments, operator, context)?;
    let approvers = LiveApprovers::new(told.approvers);
    let state = context.environment.state()?;
    let options = ConsoleOptions {
        state: state.to_owned(),
        approvals: host.approvals().clone(),
        audit: portcullis::open_audit(context.environment.state_place()?).await?,
        host: HostSource::of(host.clone()),
        policy_files: context.environment.policy.files(),
        pause: Arc::new(FilePauseSwitch::new(&context.environment.policy)),
        // An approver may stop everything at once. Only the operator lets it go on.
        may_resume: false,
    };
    let tokens = Box::new(OperatorsTokens(approvers.clone()));
    let pages = ServedPages::new(options, tokens)?;
    let end = pages.end();
    // The pages compare the `Host` header with the address, which is known once it is bound.
    let pages = Pages::new(move |address| pages.router(address));
    let signing_in = SigningIn { approvers, file: told.file, line: told.line, _end: end };
    Ok(ServedConsole { pages, signing_in })
}

/// The tokens that the operator gave to approvers.
struct OperatorsTokens(LiveApprovers);

impl ApproverTokens for OperatorsTokens {
    fn verify(&self, token: &str) -> Result<ApproverSignIn, &'static str> {
        match self.0.verify(token) {
            ApproverVerdict::Approver(principal, life) => Ok(ApproverSignIn { principal, over: Box::pin(life.over()) }),
            ApproverVerdict::NoApprover => {
                Err("The token is not an approver's. A token that can call tools cannot approve their calls.")
            }
            ApproverVerdict::Invalid => Err("The token is unknown, or no longer valid."),
        }
    }
}
