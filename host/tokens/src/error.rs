//! Why a token or a key does not count. No error quotes a token.

use crate::members::WrongMember;

/// Why a token does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The token is longer than [`TOKEN_BYTES_MAX`](crate::TOKEN_BYTES_MAX).
    #[error("the token is too long")]
    TooLong,
    /// The token does not have three parts (RFC 7515, section 7.1).
    #[error("the token is not in the compact form with three parts")]
    NotCompact,
    /// A part is not base64url without padding.
    #[error("a part of the token is not base64url")]
    NotBase64,
    /// The header or the payload is not one unambiguous JSON object.
    #[error("the header or the payload is not a JSON object")]
    NotAnObject,
    /// The header has a member that makes the token mean something else.
    #[error("the header member `{0}` is wrong or not supported")]
    Header(&'static str),
    /// The header names an algorithm that is not accepted.
    #[error("the algorithm is not accepted")]
    Algorithm,
    /// None of the keys made the signature.
    #[error("no key of the issuer made the signature")]
    Signature,
    /// A claim is missing or malformed.
    #[error("the claim `{0}` is missing or malformed")]
    Claim(&'static str),
    /// The token is bound to a key that its bearer would have to prove (RFC 7800). This server cannot check the proof.
    #[error("the token is bound to a key, and is no bearer token")]
    Bound,
    /// Another issuer made the token.
    #[error("the token is of another issuer")]
    Issuer,
    /// The token is for another server.
    #[error("the token is for another audience")]
    Audience,
    /// The token is no longer valid.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("the token is not valid yet")]
    NotYet,
}

/// Why a key of a set cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// The key is not a JSON object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A member is missing or has the wrong type.
    #[error("its member `{0}` is missing or malformed")]
    Member(&'static str),
    /// The key is a shared secret.
    #[error("it is a shared secret, which everyone who verifies could sign with")]
    Secret,
    /// The key has a type or a curve that is not supported.
    #[error("its type or curve is not RSA, P-256, P-384 or Ed25519")]
    Type,
    /// The key is for something other than verifying signatures.
    #[error("it is not for verifying signatures (`use` or `key_ops`)")]
    Purpose,
    /// The key names an algorithm that is not accepted, or that does not fit its type.
    #[error("its `alg` is not RS256, PS256, ES256, ES384 or EdDSA, or does not fit the type of the key")]
    Algorithm,
    /// The RSA modulus is too small, too large, or even.
    #[error("its RSA modulus does not have 2048 to 8192 bits, or is even")]
    Modulus,
    /// The RSA exponent is not usable.
    #[error("its RSA exponent is even, below 3, or above 33 bits")]
    Exponent,
    /// The coordinates are not a point of the curve.
    #[error("its coordinates are not a point of the curve")]
    Point,
}

impl From<WrongMember> for KeyProblem {
    fn from(WrongMember(name): WrongMember) -> Self {
        Self::Member(name)
    }
}
