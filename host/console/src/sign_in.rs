//! How people sign in to a console.

use portcullis::policy::Principal;
use std::fmt;
use std::pin::Pin;

/// Verifies the tokens of people who may answer approval requests.
pub trait ApproverTokens: Send + Sync + 'static {
    /// Verifies a token at the current time.
    ///
    /// # Errors
    /// Why the token does not sign in. The text is shown to the sender, so it must not name anything secret.
    fn verify(&self, token: &str) -> Result<ApproverSignIn, &'static str>;
}

/// A person whose token was accepted.
pub struct ApproverSignIn {
    /// Who they are. The audit log names them.
    pub principal: Principal,
    /// Completes when the token is no longer valid, which signs them out.
    pub over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl fmt::Debug for ApproverSignIn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ApproverSignIn").field("principal", &self.principal).finish_non_exhaustive()
    }
}

/// How people sign in to one console.
pub(crate) enum SignInMethod {
    /// With a link that the program printed.
    Link,
    /// With a token of an approver.
    Token(Box<dyn ApproverTokens>),
}
