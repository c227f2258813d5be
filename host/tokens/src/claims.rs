//! What a token claims, and whether it claims it for this server and this time.

use crate::error::TokenError;
use crate::members::{WrongMember, number, one_or_more, required, text};
use serde_json::{Map, Value};
use std::time::Duration;

/// Maximum difference between the clocks of two machines.
pub const CLOCK_LEEWAY: Duration = Duration::from_secs(30);
/// Maximum bytes of a subject. It is a name.
pub const SUBJECT_BYTES_MAX: usize = 1024;

/// The issuer and the audience that a token must name.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) issuer: String,
    pub(crate) audience: String,
}

/// The claims of an accepted token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// On whose behalf the token was issued.
    pub subject: String,
    /// When the token is no longer accepted, counted from the Unix epoch. The leeway is included.
    pub accepted_until: Duration,
    scopes: Vec<String>,
}

impl Claims {
    /// Returns whether the token was issued with a scope.
    pub fn has_scope(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope == name)
    }
}

impl Expected {
    /// Reads a payload as RFC 7519 and RFC 9068 write it. A claim of the wrong type makes the token invalid.
    pub(crate) fn accept(&self, payload: &Map<String, Value>, now: Duration) -> Result<Claims, TokenError> {
        // Any value counts, also null. A bound token must not pass as a bearer token because its binding is malformed.
        if payload.contains_key("cnf") {
            return Err(TokenError::Bound);
        }
        // Compared as it is written: a StringOrURI is never normalized (RFC 7519, section 2).
        if required(payload, "iss")? != self.issuer {
            return Err(TokenError::Issuer);
        }
        let audiences = one_or_more(payload, "aud")?.ok_or(TokenError::Claim("aud"))?;
        if !audiences.contains(&self.audience.as_str()) {
            return Err(TokenError::Audience);
        }
        let accepted_until = accepted_until(payload, now)?;
        let subject = required(payload, "sub")?;
        if !(1..=SUBJECT_BYTES_MAX).contains(&subject.len()) {
            return Err(TokenError::Claim("sub"));
        }
        Ok(Claims { subject: subject.to_owned(), accepted_until, scopes: scopes(payload)? })
    }
}

fn accepted_until(payload: &Map<String, Value>, now: Duration) -> Result<Duration, TokenError> {
    let expires = number(payload, "exp")?.ok_or(TokenError::Claim("exp"))?;
    // `iat` limits nothing. It is read because a claim of the wrong type makes the token invalid.
    let (begins, _issued) = (number(payload, "nbf")?, number(payload, "iat")?);
    let end = match expires + CLOCK_LEEWAY.as_secs_f64() {
        // An `exp` that is too large for a `Duration` is later than any time. One before the epoch has expired.
        end if end > 0.0 => Duration::try_from_secs_f64(end).unwrap_or(Duration::MAX),
        _ => Duration::ZERO,
    };
    if now >= end {
        return Err(TokenError::Expired);
    }
    // Compared as floats, because an `nbf` that is too large for a `Duration` must not become an earlier time.
    if begins.is_some_and(|begins| begins > now.saturating_add(CLOCK_LEEWAY).as_secs_f64()) {
        return Err(TokenError::NotYet);
    }
    Ok(end)
}

/// Returns the scopes, from `scope` (RFC 9068) and from `scp`, as some servers call it.
fn scopes(payload: &Map<String, Value>) -> Result<Vec<String>, TokenError> {
    let mut listed = one_or_more(payload, "scp")?.unwrap_or_default();
    listed.extend(text(payload, "scope")?);
    Ok(listed.into_iter().flat_map(|text| text.split(' ')).map(str::to_owned).collect())
}

impl From<WrongMember> for TokenError {
    fn from(WrongMember(name): WrongMember) -> Self {
        Self::Claim(name)
    }
}
