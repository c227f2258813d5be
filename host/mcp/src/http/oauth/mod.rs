//! The server as an OAuth 2.1 resource server: it takes tokens that one authorization server made for it, and tells
//! clients where to get one. It asks nobody over the network: the keys are a file of the operator's.

mod claims;
mod keys;
mod metadata;
mod token;

pub(super) use metadata::{METADATA_PATH, ResourceMetadata};

use super::error::SettingError;
use super::principal;
use claims::Expected;
use http::HeaderValue;
use keys::Keys;
use metadata::Resource;
use portcullis::policy::Principal;

/// The scope that a token needs. There is one, because listing tools and calling them show and do the same things.
pub const SCOPE: &str = "tools:call";

/// Which authorization server's tokens give access, and to what.
#[derive(Debug)]
pub struct OAuth {
    expected: Expected,
    keys: Keys,
    resource: Resource,
}

/// What a token is worth.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It lets its subject call.
    Granted(Principal),
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
        let expected = Expected { issuer: issuer.to_owned(), audience: audience.to_owned() };
        Ok(Self { expected, keys: Keys::parse(key_set)?, resource })
    }

    /// Looks at a token.
    pub(super) fn verify(&self, token: &str) -> Verdict {
        let Some(payload) = token::verified(token, &self.keys) else { return Verdict::Invalid };
        let Some(claims) = self.expected.accept(&payload) else { return Verdict::Invalid };
        let Some(principal) = principal::of_subject(&claims.subject) else { return Verdict::Invalid };
        if claims.has_scope(SCOPE) { Verdict::Granted(principal) } else { Verdict::NoScope }
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
        ResourceMetadata::of(&self.expected.audience, &self.expected.issuer)
    }
}
