//! What a token says, and whether it says it of this server and of now.

use serde::Deserialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How far the clocks of two machines may be apart.
const LEEWAY: Duration = Duration::from_secs(30);
/// The most bytes of a subject. It names somebody.
const SUBJECT_BYTES_MAX: usize = 1024;

/// Who a token has to be from, and for.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// What is left of a token that was accepted.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) subject: String,
    scopes: Vec<String>,
}

/// A payload as RFC 7519 and RFC 9068 write it. A claim of another form is no claim, and the token no token.
#[derive(Deserialize)]
struct Written {
    iss: String,
    sub: String,
    aud: OneOrMore,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<String>,
    /// What some servers call it.
    scp: Option<OneOrMore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

impl Expected {
    /// What a payload says, where it is this issuer's, for this audience, and holds now.
    pub(super) fn accept(&self, payload: &[u8]) -> Option<Claims> {
        self.accept_at(payload, SystemTime::now().duration_since(UNIX_EPOCH).ok()?)
    }

    fn accept_at(&self, payload: &[u8], now: Duration) -> Option<Claims> {
        let written: Written = serde_json::from_slice(payload).ok()?;
        let (now, leeway) = (now.as_secs_f64(), LEEWAY.as_secs_f64());
        // Written so that a number that is none is not accepted either.
        let holds = now < written.exp + leeway && written.nbf.is_none_or(|begin| now + leeway >= begin);
        let ours = written.iss == self.issuer && written.aud.as_slice().contains(&self.audience);
        let named = (1..=SUBJECT_BYTES_MAX).contains(&written.sub.len());
        if !(holds && ours && named) {
            return None;
        }
        let listed = written.scp.iter().flat_map(OneOrMore::as_slice).chain(&written.scope);
        let scopes = listed.flat_map(|text| text.split(' ')).map(str::to_owned).collect();
        Some(Claims { subject: written.sub, scopes })
    }
}

impl Claims {
    pub(super) fn has_scope(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(payload: &str) -> Option<Claims> {
        let expected = Expected { issuer: "https://i".to_owned(), audience: "https://a/mcp".to_owned() };
        expected.accept_at(payload.as_bytes(), Duration::from_secs(1000))
    }

    #[test]
    fn a_token_is_accepted_from_its_issuer_for_this_audience_and_in_its_time() {
        let good = [
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":1001,"scope":"x tools:call"}"#,
            r#"{"iss":"https://i","sub":"s","aud":["https://b","https://a/mcp"],"exp":971,"scp":["tools:call"]}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":1e9,"nbf":1030,"scp":"tools:call"}"#,
        ];
        for payload in good {
            let claims = accept(payload).unwrap_or_else(|| panic!("{payload}"));
            assert!(claims.subject == "s" && claims.has_scope("tools:call"), "{payload}");
        }
        let bad = [
            r#"{"sub":"s","aud":"https://a/mcp","exp":1001}"#,
            r#"{"iss":"https://i/","sub":"s","aud":"https://a/mcp","exp":1001}"#,
            r#"{"iss":["https://i","https://j"],"sub":"s","aud":"https://a/mcp","exp":1001}"#,
            r#"{"iss":"https://i","aud":"https://a/mcp","exp":1001}"#,
            r#"{"iss":"https://i","sub":"","aud":"https://a/mcp","exp":1001}"#,
            r#"{"iss":"https://i","sub":"s","exp":1001}"#,
            r#"{"iss":"https://i","sub":"s","aud":[],"exp":1001}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a","exp":1001}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp"}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":970}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":"9999"}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":null}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":1001,"nbf":1031}"#,
            r#"{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":1001,"nbf":"0"}"#,
            r#"{"iss":"https://i","sub":"s","sub":"t","aud":"https://a/mcp","exp":1001}"#,
            "[]",
            "",
        ];
        for payload in bad {
            assert!(accept(payload).is_none(), "{payload}");
        }
    }

    #[test]
    fn a_scope_is_one_word_of_the_list_and_no_part_of_one() {
        for scope in ["", "tools", "tools:call:all", "xtools:call", "TOOLS:CALL", "tools:call,x"] {
            let payload =
                format!(r#"{{"iss":"https://i","sub":"s","aud":"https://a/mcp","exp":1001,"scope":"{scope}"}}"#);
            assert!(!accept(&payload).unwrap().has_scope("tools:call"), "{scope:?}");
        }
    }
}
