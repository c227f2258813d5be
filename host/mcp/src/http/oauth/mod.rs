//! The server as an OAuth 2.1 resource server: it takes tokens that one authorization server made for it, and tells
//! clients where to get one. It asks nobody over the network: the keys are a file of the operator's.

mod metadata;

pub use metadata::SCOPE;
pub use portcullis_tokens::{KeyFinding, KeyNotice, KeySetError};

pub(super) use metadata::{METADATA_PATH, ResourceMetadata};

use super::error::SettingError;
use super::principal;
use super::token_life::TokenLife;
use http::HeaderValue;
use metadata::Resource;
use portcullis::policy::Principal;
use portcullis_tokens::{Keys, Verifier};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// Which authorization server's tokens give access, and to what.
#[derive(Debug)]
pub struct OAuth {
    verifier: Verifier,
    principal_prefix: String,
    /// Cancelled when other keys replace these.
    replaced: CancellationToken,
    resource: Resource,
}

/// What a token is worth.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The token is valid: its principal may call while it lives.
    Granted(Principal, TokenLife),
    /// It is a good one, and not for this.
    NoScope,
    /// It is none, or not for this server, or not now.
    Invalid,
}

impl OAuth {
    /// Takes tokens of `issuer` for `audience`, which is this server's address as clients know it, signed with a key of
    /// a JSON Web Key Set.
    ///
    /// # Errors
    /// The addresses are none, or there is no key that can be used.
    pub fn new(issuer: &str, audience: &str, key_set: &[u8]) -> Result<Self, SettingError> {
        let resource = Resource::parse(audience)?;
        if !metadata::is_address(issuer) {
            return Err(SettingError::Issuer);
        }
        let verifier = Verifier::new(issuer, audience, Keys::parse(key_set)?);
        Ok(Self {
            verifier,
            principal_prefix: principal::issuer_prefix(issuer),
            resource,
            replaced: CancellationToken::new(),
        })
    }

    /// Returns the prefix of this issuer's principals. The subject follows.
    pub fn principal_prefix(&self) -> &str {
        &self.principal_prefix
    }

    /// Returns the keys that are not used, and those that should not be public. The operator should see them.
    pub fn key_notices(&self) -> &[KeyNotice] {
        self.verifier.keys().notices()
    }

    /// Verifies a token at the present time.
    pub(super) fn verify(&self, token: &str) -> Verdict {
        let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return Verdict::Invalid };
        let Ok(claims) = self.verifier.verify(token, now) else { return Verdict::Invalid };
        let Some(principal) = principal::of_subject(&self.principal_prefix, &claims.subject) else {
            return Verdict::Invalid;
        };
        let life = TokenLife { until: Some(claims.accepted_until), withdrawn: self.replaced.clone() };
        if claims.has_scope(SCOPE) { Verdict::Granted(principal, life) } else { Verdict::NoScope }
    }

    /// Ends the streams of every token, because a key may have been removed. A client with a valid token opens a new
    /// one.
    pub(super) fn withdraw(&self) {
        self.replaced.cancel();
    }

    /// How to get a token, and where one was shown what is wrong with it.
    pub(super) fn challenge(&self, error: Option<&str>) -> HeaderValue {
        let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
        let text = format!("Bearer {error}resource_metadata=\"{}\", scope=\"{SCOPE}\"", self.resource.metadata_url());
        // An address was taken only of letters that a header can hold.
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }

    /// What clients can read of this server before they have a token.
    pub(super) fn metadata(&self) -> ResourceMetadata {
        ResourceMetadata::of(self.verifier.audience(), self.verifier.issuer())
    }
}
