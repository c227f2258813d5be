//! The operator's bearer tokens.
//!
//! Only the digest of a token is stored. Comparisons take constant time.

use super::error::SettingError;
use super::principal;
use super::token_length::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
use super::token_life::TokenLife;
use data_encoding::BASE64URL_NOPAD;
use portcullis::policy::Principal;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::{Choice, ConstantTimeEq};
use tokio_util::sync::CancellationToken;

/// Maximum tokens. Each request is compared with every token.
pub const TOKENS_MAX: usize = 64;

/// The tokens that give access, and their principals.
pub struct Tokens(Vec<BearerToken>);

struct BearerToken {
    digest: [u8; 32],
    principal: Principal,
    /// Cancelled when the operator removes the token. Its streams wait for that.
    withdrawn: CancellationToken,
}

impl Tokens {
    /// Parses a token file. A line `TOKEN` gives access to `operator`, and a line `NAME:TOKEN` to the principal
    /// `mcp.NAME`. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// A line is invalid, a name or token is repeated, or there is no token or too many.
    pub fn parse(text: &str, operator: &Principal) -> Result<Self, SettingError> {
        let mut tokens: Vec<BearerToken> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let token = read(line, operator).ok_or(SettingError::Token { line: number })?;
            if tokens.iter().any(|known| known.principal == token.principal || known.digest == token.digest) {
                return Err(SettingError::TokenTwice { line: number });
            }
            if tokens.len() == TOKENS_MAX {
                return Err(SettingError::TooManyTokens(TOKENS_MAX));
            }
            tokens.push(token);
        }
        if tokens.is_empty() { Err(SettingError::NoToken) } else { Ok(Self(tokens)) }
    }

    /// Returns a new token of 256 random bits, or `None` if the system's random number generator fails.
    pub fn generate() -> Option<String> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(BASE64URL_NOPAD.encode(&bytes))
    }

    /// Replaces the tokens from before a change of the file. Withdraws every token that was removed or now belongs to
    /// another principal, which ends the streams that it opened.
    pub(crate) fn take_over(&mut self, old: &Self) {
        for token in &old.0 {
            let kept = |new: &&mut BearerToken| new.digest == token.digest && new.principal == token.principal;
            match self.0.iter_mut().find(kept) {
                Some(kept) => kept.withdrawn = token.withdrawn.clone(),
                None => token.withdrawn.cancel(),
            }
        }
    }

    /// Withdraws every token.
    pub(crate) fn withdraw(&self) {
        self.0.iter().for_each(|token| token.withdrawn.cancel());
    }

    /// Returns the principal and the lifetime of a token. Compares every token, even after a match.
    pub(crate) fn find(&self, presented: &str) -> Option<(Principal, TokenLife)> {
        let digest: [u8; 32] = Sha256::digest(presented.as_bytes()).into();
        let mut found = None;
        for token in &self.0 {
            let same: Choice = token.digest.ct_eq(&digest);
            if bool::from(same) {
                found = Some(token);
            }
        }
        found.map(|token| (token.principal.clone(), TokenLife { until: None, withdrawn: token.withdrawn.clone() }))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let principals = self.0.iter().map(|token| &token.principal);
        formatter.debug_list().entries(principals).finish()
    }
}

fn read(line: &str, operator: &Principal) -> Option<BearerToken> {
    let (name, token) = match line.split_once(':') {
        Some((name, token)) => (Some(name.trim()), token.trim()),
        None => (None, line),
    };
    let principal = match name {
        Some(name) => principal::of_name(name)?,
        None => operator.clone(),
    };
    let (digest, withdrawn) = (Sha256::digest(token.as_bytes()).into(), CancellationToken::new());
    is_token(token).then_some(BearerToken { digest, principal, withdrawn })
}

/// Returns whether a text is a valid token: of the right length, and in the alphabet of RFC 6750.
fn is_token(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    (TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&text.len()) && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "0123456789abcdef0123456789abcdef";

    fn parse(text: &str) -> Result<Tokens, SettingError> {
        Tokens::parse(text, &Principal::default())
    }

    #[test]
    fn a_token_belongs_to_the_operator_or_to_its_name() {
        let tokens = parse(&format!("# comment\n\n{LONG}\nci: {LONG}0\n")).unwrap();
        assert_eq!(tokens.find(LONG).unwrap().0, Principal::default());
        assert_eq!(tokens.find(&format!("{LONG}0")).unwrap().0.as_str(), "mcp.ci");
        for wrong in ["", "0", &LONG[1..], &format!("{LONG}1"), &LONG.to_uppercase()] {
            assert!(tokens.find(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_token_that_is_removed_or_given_to_another_principal_is_withdrawn() {
        let old = parse(&format!("{LONG}\na:{LONG}a\nb:{LONG}b\nc:{LONG}c")).unwrap();
        let ends: Vec<CancellationToken> = old.0.iter().map(|token| token.withdrawn.clone()).collect();
        let mut new = parse(&format!("c:{LONG}c\nd:{LONG}b\n{LONG}")).unwrap();
        new.take_over(&old);
        let withdrawn: Vec<bool> = ends.iter().map(CancellationToken::is_cancelled).collect();
        assert_eq!(withdrawn, [false, true, true, false]);
        let mut newest = parse(&format!("d:{LONG}b")).unwrap();
        newest.take_over(&new);
        assert!(ends.iter().all(CancellationToken::is_cancelled), "a token that was kept can still be withdrawn");
        assert!(!newest.0[0].withdrawn.is_cancelled());
    }

    #[test]
    fn an_invalid_line_is_reported_by_number_and_never_quoted() {
        let twice = format!("{LONG}\n{LONG}");
        let name_twice = format!("a:{LONG}\na:{LONG}0");
        let bad_name = format!("a/b:{LONG}");
        let rows = [
            ("", SettingError::NoToken),
            ("# only\n", SettingError::NoToken),
            ("short", SettingError::Token { line: 1 }),
            (bad_name.as_str(), SettingError::Token { line: 1 }),
            ("#\n0123456789abcdef 0123456789abcdef", SettingError::Token { line: 2 }),
            (twice.as_str(), SettingError::TokenTwice { line: 2 }),
            (name_twice.as_str(), SettingError::TokenTwice { line: 2 }),
        ];
        for (text, expected) in rows {
            let error = parse(text).unwrap_err();
            assert_eq!(error, expected, "{text:?}");
            assert!(!error.to_string().contains("0123"), "{error}");
        }
        let told = SettingError::Token { line: 1 }.to_string();
        assert!(told.contains(&format!("{TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} letters")), "{told}");
    }

    #[test]
    fn neither_tokens_nor_their_digests_are_shown() {
        assert_eq!(format!("{:?}", parse(LONG).unwrap()), "[\"local\"]");
    }
}
