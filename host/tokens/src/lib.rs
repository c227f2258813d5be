//! Verifies signed tokens (JWT, RFC 7519) of one authorization server against its published keys (RFC 7517).
//!
//! This crate turns bytes and a time into claims or an error. It must not know a network, a file, a clock or a server,
//! so that a fuzzer can reach all of it. A token counts only if every part of it is understood: RFC 8725 lists what
//! goes wrong otherwise.

mod algorithm;
mod claims;
mod error;
mod key;
mod keys;
mod members;
mod signed;

pub use algorithm::Algorithm;
pub use claims::{CLOCK_LEEWAY, Claims, SUBJECT_BYTES_MAX};
pub use error::{KeyProblem, TokenError};
pub use keys::{KEYS_MAX, KeyFinding, KeyNotice, KeySetError, Keys};
pub use signed::TOKEN_BYTES_MAX;

use claims::Expected;
use std::time::Duration;

/// The one issuer whose tokens count, the audience they must name, and the keys that sign them.
#[derive(Debug)]
pub struct Verifier {
    expected: Expected,
    keys: Keys,
}

impl Verifier {
    /// Accepts tokens of `issuer` for `audience` that a key of `keys` signed.
    pub fn new(issuer: &str, audience: &str, keys: Keys) -> Self {
        Self { expected: Expected { issuer: issuer.to_owned(), audience: audience.to_owned() }, keys }
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> &str {
        &self.expected.issuer
    }

    /// Returns the audience.
    pub fn audience(&self) -> &str {
        &self.expected.audience
    }

    /// Returns the keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Verifies a token at a time, counted from the Unix epoch.
    ///
    /// # Errors
    /// The token is malformed, not signed by one of the keys, of another issuer, for another audience, or not valid at
    /// this time.
    pub fn verify(&self, token: &str, now: Duration) -> Result<Claims, TokenError> {
        let payload = self.keys.open(token)?;
        self.expected.accept(&payload, now)
    }
}
