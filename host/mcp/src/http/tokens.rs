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

/// What begins the line of an approver in a token file.
const APPROVER_WORD: &str = "approver";

/// The tokens that give access, and their principals.
pub struct Tokens(Vec<BearerToken>);

/// The tokens of a file, by what they are for. No token is for both: an agent that may call tools must not be able to
/// approve its own calls.
#[derive(Debug)]
pub struct TokenFile {
    /// The tokens that may call tools.
    pub callers: Tokens,
    /// The tokens that may answer approval requests in the console.
    pub approvers: Tokens,
}

struct BearerToken {
    digest: [u8; 32],
    principal: Principal,
    /// Cancelled when the operator removes the token. Its streams wait for that.
    withdrawn: CancellationToken,
}

impl TokenFile {
    /// Parses a token file. A line `TOKEN` lets `operator` call tools, and a line `NAME:TOKEN` the principal
    /// `mcp.NAME`. A line `approver NAME:TOKEN` lets `mcp.NAME` answer approval requests, and call nothing. Empty lines
    /// and lines that begin with `#` are ignored.
    ///
    /// ```
    /// # use portcullis_mcp::http::TokenFile;
    /// let text = "ci: 0123456789abcdef0123456789abcdef\napprover alice: fedcba9876543210fedcba9876543210\n";
    /// let file = TokenFile::parse(text, &"local".parse().unwrap()).unwrap();
    /// assert!(!file.callers.is_empty() && !file.approvers.is_empty());
    /// ```
    ///
    /// # Errors
    /// A line is invalid, a token or a name with the same role is repeated, or there is no token or too many.
    pub fn parse(text: &str, operator: &Principal) -> Result<Self, SettingError> {
        let (mut callers, mut approvers): (Vec<BearerToken>, Vec<BearerToken>) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (token, is_approver) = match approver_line(line) {
                Some(line) => (read_named(line), true),
                None => (read(line, operator), false),
            };
            let token = token.ok_or(SettingError::Token { line: number })?;
            if callers.iter().chain(&approvers).any(|known| known.digest == token.digest) {
                return Err(SettingError::TokenTwice { line: number });
            }
            if callers.len() + approvers.len() == TOKENS_MAX {
                return Err(SettingError::TooManyTokens(TOKENS_MAX));
            }
            let tokens = if is_approver { &mut approvers } else { &mut callers };
            if tokens.iter().any(|known| known.principal == token.principal) {
                return Err(SettingError::TokenTwice { line: number });
            }
            tokens.push(token);
        }
        if callers.is_empty() && approvers.is_empty() {
            return Err(SettingError::NoToken);
        }
        Ok(Self { callers: Tokens(callers), approvers: Tokens(approvers) })
    }
}

impl Tokens {
    /// Parses the tokens of a token file that may call tools ([`TokenFile::parse`]).
    ///
    /// # Errors
    /// The same as for a token file, or no token may call tools.
    pub fn parse(text: &str, operator: &Principal) -> Result<Self, SettingError> {
        let callers = TokenFile::parse(text, operator)?.callers;
        if callers.is_empty() { Err(SettingError::NoToken) } else { Ok(callers) }
    }

    /// Returns whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
                // Open streams wait for the old signal, so the new token carries it on.
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

/// Returns the rest of the line of an approver.
fn approver_line(line: &str) -> Option<&str> {
    line.strip_prefix(APPROVER_WORD).filter(|rest| rest.starts_with(char::is_whitespace))
}

/// Reads `TOKEN` or `NAME:TOKEN`.
fn read(line: &str, operator: &Principal) -> Option<BearerToken> {
    if line.contains(':') { read_named(line) } else { bearer(operator.clone(), line) }
}

/// Reads `NAME:TOKEN`.
fn read_named(line: &str) -> Option<BearerToken> {
    let (name, token) = line.split_once(':')?;
    bearer(principal::of_name(name.trim())?, token.trim())
}

fn bearer(principal: Principal, token: &str) -> Option<BearerToken> {
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
    fn a_token_calls_tools_or_approves_and_never_both() {
        let text = format!("ci: {LONG}\napprover alice: {LONG}0\nalice: {LONG}1\n");
        let file = TokenFile::parse(&text, &Principal::default()).unwrap();
        let found = |tokens: &Tokens, token: &str| tokens.find(token).map(|(principal, _)| principal.to_string());
        let alice = format!("{LONG}0");
        assert_eq!(
            (found(&file.approvers, &alice).as_deref(), found(&file.callers, &alice)),
            (Some("mcp.alice"), None)
        );
        assert_eq!((found(&file.callers, LONG).as_deref(), found(&file.approvers, LONG)), (Some("mcp.ci"), None));
        assert!(parse(&format!("approver alice: {LONG}")).is_err(), "a file without a caller");
        let wrong = [
            format!("approver {LONG}"),
            format!("approver: {LONG}\napprover a:{LONG}"),
            format!("a:{LONG}\napprover a:{LONG}"),
            format!("approver a:{LONG}\napprover a:{LONG}0"),
        ];
        for text in wrong {
            assert!(TokenFile::parse(&text, &Principal::default()).is_err(), "{text}");
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
