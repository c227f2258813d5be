//! The principal of a client that says who it is, in the grammar of principals.

use portcullis::policy::{PRINCIPAL_NAME_BYTES, Principal};
use sha2::{Digest, Sha256};

/// What every such principal begins with: nobody whom the operator names is one by accident.
const PREFIX: &str = "mcp.";

/// The principal of a name in the operator's token file.
pub(crate) fn of_name(name: &str) -> Option<Principal> {
    let sound = !name.is_empty() && !name.contains('/');
    format!("{PREFIX}{name}").parse().ok().filter(|_| sound)
}

/// The principal of a subject of an authorization server: two subjects never have one principal.
///
/// Bytes outside the grammar, and `_`, become `_` and two hexadecimal digits. A text that is too long then becomes `__`
/// and a digest of the subject, which no other text becomes.
pub(crate) fn of_subject(subject: &str) -> Option<Principal> {
    let mut name = String::from(PREFIX);
    for byte in subject.bytes() {
        if byte.is_ascii_alphanumeric() || b".@-".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("_{byte:02X}"));
        }
        if name.len() > PRINCIPAL_NAME_BYTES {
            return digest(subject).parse().ok();
        }
    }
    name.parse().ok().filter(|_| !subject.is_empty())
}

fn digest(subject: &str) -> String {
    let digits =
        Sha256::digest(subject.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{PREFIX}__{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_subject_becomes_one_name_and_no_two_become_the_same() {
        let long = "x".repeat(61);
        let longer = "x".repeat(62);
        let rows = [
            ("alice", "mcp.alice"),
            ("alice@example.org", "mcp.alice@example.org"),
            ("auth0|1", "mcp.auth0_7C1"),
            ("a/b", "mcp.a_2Fb"),
            ("a_2Fb", "mcp.a_5F2Fb"),
            ("..", "mcp..."),
            ("\u{e9}\n", "mcp._C3_A9_0A"),
        ];
        let mut seen = BTreeSet::new();
        for (subject, principal) in rows {
            assert_eq!(of_subject(subject).unwrap().as_str(), principal);
            assert!(seen.insert(of_subject(subject)));
        }
        for subject in [&long, &longer, &of_subject(&long).unwrap().as_str()["mcp.".len()..].to_owned()] {
            let principal = of_subject(subject).unwrap();
            assert!(!principal.as_str().contains('/') && seen.insert(Some(principal)), "{subject}");
        }
        assert_eq!(of_subject(""), None);
    }

    #[test]
    fn a_name_is_one_name_of_a_principal() {
        assert_eq!(of_name("ci").unwrap().as_str(), "mcp.ci");
        for name in ["", "a/b", "a b", &"x".repeat(61)] {
            assert_eq!(of_name(name), None, "{name:?}");
        }
    }
}
