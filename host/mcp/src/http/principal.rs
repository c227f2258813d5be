//! The principal of a client, in the grammar of principals. Its first part names the source that vouches for it.
//!
//! A name in the token file and a subject of an authorization server are two principals, even if they are spelled
//! alike. So are subjects of two servers. Approvals, stores and outputs are kept separately for each.

use data_encoding::HEXLOWER;
use portcullis::policy::{PRINCIPAL_NAME_BYTES, Principal};
use sha2::{Digest, Sha256};

/// The prefix of principals from the operator's token file. An operator is unlikely to use it for another principal by
/// accident.
const TOKEN_PREFIX: &str = "mcp.";
/// The prefix of principals from an authorization server. An abbreviation of the issuer follows.
const ISSUER_PREFIX: &str = "oauth.";
/// Bytes of the issuer's digest in a principal. The operator chooses the issuer, so an attacker cannot search for a
/// collision.
const ISSUER_DIGEST_BYTES: usize = 6;
/// Bytes of a long subject's digest in a principal. A client may choose its subject: 128 bits resist a search.
const SUBJECT_DIGEST_BYTES: usize = 16;

/// Returns the principal of a name in the operator's token file.
pub(crate) fn of_name(name: &str) -> Option<Principal> {
    let sound = !name.is_empty() && !name.contains('/');
    format!("{TOKEN_PREFIX}{name}").parse().ok().filter(|_| sound)
}

/// Returns the prefix of an authorization server's principals.
pub(crate) fn issuer_prefix(issuer: &str) -> String {
    format!("{ISSUER_PREFIX}{}.", digest(issuer, ISSUER_DIGEST_BYTES))
}

/// Returns the principal of a subject of an authorization server. Two subjects never share a principal.
///
/// Bytes outside the grammar, and `_`, become `_` and two hexadecimal digits. If the result is too long, it is replaced
/// by `__` and a digest of the subject. No encoded subject begins with `__`.
pub(crate) fn of_subject(issuer_prefix: &str, subject: &str) -> Option<Principal> {
    let mut name = String::from(issuer_prefix);
    for byte in subject.bytes() {
        if byte.is_ascii_alphanumeric() || b".@-".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("_{byte:02X}"));
        }
        if name.len() > PRINCIPAL_NAME_BYTES {
            return format!("{issuer_prefix}__{}", digest(subject, SUBJECT_DIGEST_BYTES)).parse().ok();
        }
    }
    name.parse().ok().filter(|_| !subject.is_empty())
}

fn digest(text: &str, bytes: usize) -> String {
    HEXLOWER.encode(&Sha256::digest(text.as_bytes())[..bytes])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ISSUER: &str = "https://login.example.org";

    fn subject(text: &str) -> Option<Principal> {
        of_subject(&issuer_prefix(ISSUER), text)
    }

    #[test]
    fn every_subject_has_its_own_name() {
        let prefix = issuer_prefix(ISSUER);
        let fits = PRINCIPAL_NAME_BYTES - prefix.len();
        let (long, longer) = ("x".repeat(fits + 1), "x".repeat(fits + 2));
        let rows = [
            ("alice", "alice"),
            ("alice@example.org", "alice@example.org"),
            ("auth0|1", "auth0_7C1"),
            ("a/b", "a_2Fb"),
            ("a_2Fb", "a_5F2Fb"),
            ("..", ".."),
            ("\u{e9}\n", "_C3_A9_0A"),
        ];
        let mut seen = BTreeSet::new();
        for (text, name) in rows {
            assert_eq!(subject(text).unwrap().as_str(), format!("{prefix}{name}"));
            assert!(seen.insert(subject(text)));
        }
        for text in [&long, &longer, &subject(&long).unwrap().as_str()[prefix.len()..].to_owned()] {
            let principal = subject(text).unwrap();
            assert!(!principal.as_str().contains('/') && seen.insert(Some(principal)), "{text}");
        }
        assert_eq!(subject(&"x".repeat(fits)).unwrap().as_str().len(), PRINCIPAL_NAME_BYTES);
        assert_eq!(subject(""), None);
    }

    #[test]
    fn two_sources_never_share_a_principal() {
        let issuers =
            [ISSUER, "https://login.example.org/", "https://login.example.org/tenant", "https://other.example"];
        let names = ["alice", "mcp.alice", "local", &"x".repeat(200)];
        let mut seen = BTreeSet::new();
        for name in names {
            for issuer in issuers {
                assert!(seen.insert(of_subject(&issuer_prefix(issuer), name).unwrap()), "{issuer} {name}");
            }
        }
        for name in ["alice", "mcp.alice", "local", "oauth.0.alice"] {
            assert!(seen.insert(of_name(name).unwrap()), "{name}");
        }
        assert!(seen.insert(Principal::default()));
    }

    #[test]
    fn a_name_of_the_token_file_is_a_single_component_of_a_principal() {
        assert_eq!(of_name("ci").unwrap().as_str(), "mcp.ci");
        for name in ["", "a/b", "a b", &"x".repeat(61)] {
            assert_eq!(of_name(name), None, "{name:?}");
        }
    }
}
