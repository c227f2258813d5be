//! The server as an OAuth 2.1 resource server: it accepts tokens that one authorization server issued for it, and tells
//! clients where to get one. It makes no network requests: the operator provides the keys in a file.

mod metadata;

pub use metadata::{APPROVER_SCOPE, SCOPE};
pub use portcullis_tokens::{KeyFinding, KeyNotice, KeySetError};

pub(super) use metadata::{METADATA_PATH, ResourceMetadata};

use super::error::SettingError;
use super::principal;
use super::token_life::TokenLife;
use http::HeaderValue;
use metadata::ResourceAddress;
use portcullis::policy::Principal;
use portcullis_tokens::{Claims, Keys, Verifier};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// The settings for access by tokens of an authorization server.
#[derive(Debug)]
pub struct OAuth {
    verifier: Verifier,
    principal_prefix: String,
    /// Cancelled when these keys are replaced.
    replaced: CancellationToken,
    resource: ResourceAddress,
}

/// The result of verifying a token.
#[derive(Debug)]
pub(super) enum TokenVerdict {
    /// The token is valid. Its principal has access during the token's lifetime.
    Granted(Principal, TokenLife),
    /// The token is valid, but it does not have the required scope.
    NoScope,
    /// The token is malformed, is for another server, or is not valid at this time.
    Invalid,
}

impl OAuth {
    /// Accepts tokens of `issuer` for `audience` that are signed with a key of a JSON Web Key Set. The audience is this
    /// server's URL as clients know it.
    ///
    /// # Errors
    /// A URL is invalid, or the set has no usable key.
    pub fn new(issuer: &str, audience: &str, key_set: &[u8]) -> Result<Self, SettingError> {
        let resource = ResourceAddress::parse(audience)?;
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

    /// Returns notices for the operator about keys that are not used, and keys that should not be public.
    pub fn key_notices(&self) -> &[KeyNotice] {
        self.verifier.keys().notices()
    }

    /// Verifies the token of a caller at the current time.
    pub(super) fn verify(&self, token: &str) -> TokenVerdict {
        self.verify_scope(token, |claims| claims.has_scope(SCOPE))
    }

    /// Verifies the token of an approver at the current time. A token that can call tools cannot approve: an agent may
    /// hold it.
    pub(super) fn verify_approver(&self, token: &str) -> TokenVerdict {
        self.verify_scope(token, |claims| claims.has_scope(APPROVER_SCOPE) && !claims.has_scope(SCOPE))
    }

    fn verify_scope(&self, token: &str, is_enough: impl FnOnce(&Claims) -> bool) -> TokenVerdict {
        // Without a usable clock no expiry can be checked, so no token is valid.
        let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) else { return TokenVerdict::Invalid };
        let Ok(claims) = self.verifier.verify(token, now) else { return TokenVerdict::Invalid };
        let Some(principal) = principal::of_subject(&self.principal_prefix, &claims.subject) else {
            return TokenVerdict::Invalid;
        };
        let life = TokenLife { until: Some(claims.accepted_until), withdrawn: self.replaced.clone() };
        if is_enough(&claims) { TokenVerdict::Granted(principal, life) } else { TokenVerdict::NoScope }
    }

    /// Ends the streams of every token, because a key may have been removed. A client with a valid token opens a new
    /// one.
    pub(super) fn withdraw(&self) {
        self.replaced.cancel();
    }

    /// Returns the challenge header: where to get a token, and what is wrong with the given one.
    pub(super) fn challenge(&self, error: Option<&str>) -> HeaderValue {
        let error = error.map(|error| format!("error=\"{error}\", ")).unwrap_or_default();
        let text = format!("Bearer {error}resource_metadata=\"{}\", scope=\"{SCOPE}\"", self.resource.metadata_url());
        // `is_address` has checked that the URL contains only characters that a header can hold.
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }

    /// Returns the metadata of this server that clients can read without a token.
    pub(super) fn metadata(&self) -> ResourceMetadata {
        ResourceMetadata::of(self.verifier.audience(), self.verifier.issuer())
    }
}
