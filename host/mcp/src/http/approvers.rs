//! Who may answer approval requests in the console of a server. The server itself does not sign them in.

use super::oauth::{OAuth, TokenVerdict};
use super::token_life::TokenLife;
use super::tokens::Tokens;
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};

/// Who may answer approval requests.
#[derive(Debug)]
pub enum Approvers {
    /// People with one of these tokens.
    Tokens(Tokens),
    /// People with a token of an authorization server that has the scope [`APPROVER_SCOPE`](super::APPROVER_SCOPE), and
    /// not the scope [`SCOPE`](super::SCOPE) of callers.
    OAuth(Box<OAuth>),
}

/// The approvers of a running server. Clones share them. They can be replaced when the operator's files change.
#[derive(Clone, Debug)]
pub struct LiveApprovers(Arc<Mutex<Approvers>>);

/// The verdict about a token that a person presents.
#[derive(Debug)]
pub enum ApproverVerdict {
    /// It is the token of this approver, for this time.
    Approver(Principal, TokenLife),
    /// It is valid, but it has not the role of an approver, or it can also call tools.
    NoApprover,
    /// It is unknown, malformed, or not valid at this time.
    Invalid,
}

impl LiveApprovers {
    /// Shares the approvers.
    pub fn new(approvers: Approvers) -> Self {
        Self(Arc::new(Mutex::new(approvers)))
    }

    /// Verifies the token of a person at the current time.
    pub fn verify(&self, token: &str) -> ApproverVerdict {
        match &*self.0.lock_recovered() {
            Approvers::Tokens(tokens) => match tokens.find(token) {
                Some((principal, life)) => ApproverVerdict::Approver(principal, life),
                None => ApproverVerdict::Invalid,
            },
            Approvers::OAuth(oauth) => match oauth.verify_approver(token) {
                TokenVerdict::Granted(principal, life) => ApproverVerdict::Approver(principal, life),
                TokenVerdict::NoScope => ApproverVerdict::NoApprover,
                TokenVerdict::Invalid => ApproverVerdict::Invalid,
            },
        }
    }

    /// Replaces the approvers. The life of a token that is no longer valid ends.
    pub fn replace(&self, mut approvers: Approvers) {
        let mut current = self.0.lock_recovered();
        match (&mut approvers, &*current) {
            (Approvers::Tokens(new), Approvers::Tokens(old)) => new.take_over(old),
            (Approvers::OAuth(_), Approvers::Tokens(old)) => old.withdraw(),
            (Approvers::Tokens(_) | Approvers::OAuth(_), Approvers::OAuth(old)) => old.withdraw(),
        }
        *current = approvers;
    }
}
