//! The examples of RFC 7515, 7519 and 8037, and signed tokens that break a rule of an RFC, each with its section.

use crate::{encode, sign};
use portcullis_tokens::{Algorithm, CLOCK_LEEWAY, Keys, TOKEN_BYTES_MAX, TokenError, Verifier};
use serde_json::{Value, json};
use std::time::Duration;

const VECTORS: &str = include_str!("data/vectors.json");
const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://tools.example/mcp";
const HEADER: &str = r#"{"alg":"EdDSA","typ":"at+jwt","kid":"8037-A.2"}"#;
/// The time at which the vectors are verified.
const NOW: Duration = Duration::from_secs(900);

fn vectors() -> Value {
    serde_json::from_str(VECTORS).unwrap()
}

fn keys() -> Keys {
    Keys::parse(json!({ "keys": vectors()["keys"] }).to_string().as_bytes()).unwrap()
}

fn verifier() -> Verifier {
    Verifier::new(ISSUER, AUDIENCE, keys())
}

/// Returns a payload that is accepted, with more claims after it.
fn payload(more: &str) -> String {
    let good = r#""sub":"s","exp":1000,"scope":"openid tools:call""#;
    format!(r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}",{good}{more}}}"#)
}

/// Returns the bytes of a text, with a marker replaced by bytes that are not UTF-8.
fn raw(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    while let Some(at) = bytes.windows(5).position(|window| window == b"\x01BAD\x01") {
        bytes.splice(at..at + 5, [0xff, 0xc0, 0x80]);
    }
    bytes
}

#[test]
fn the_examples_of_the_standards_end_as_they_must() {
    let keys = keys();
    for vector in vectors()["examples"].as_array().unwrap() {
        let result = match keys.open(vector["token"].as_str().unwrap()) {
            Ok(payload) => {
                assert_eq!(payload["iss"], "joe", "{vector}");
                "opened".to_owned()
            }
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(vector["result"], result, "{} {}", vector["section"], vector["what"]);
    }
}

#[test]
fn a_signed_token_that_breaks_a_rule_of_the_standards_is_refused() {
    let verifier = verifier();
    for vector in vectors()["signed"].as_array().unwrap() {
        let text = |name: &str| vector.get(name).and_then(Value::as_str);
        let payload = text("payload").map_or_else(|| payload(text("claims").unwrap_or("")), str::to_owned);
        let token = sign(&raw(text("header").unwrap_or(HEADER)), &raw(&payload));
        let result = match verifier.verify(&token, NOW) {
            Ok(claims) => {
                assert!(claims.subject == "s" && claims.has_scope("tools:call"), "{vector}");
                "accepted".to_owned()
            }
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(vector["result"], result, "{} {}", vector["section"], vector["what"]);
    }
}

#[test]
fn a_public_key_is_no_shared_secret() {
    let keys = keys();
    let message = format!("{}.{}", encode(r#"{"alg":"HS256","kid":"7515-A.2"}"#), encode(payload("")));
    for key in vectors()["keys"].as_array().unwrap() {
        for name in ["n", "x"] {
            let Some(secret) = key[name].as_str() else { continue };
            let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
            let token = format!("{message}.{}", encode(ring::hmac::sign(&secret, message.as_bytes())));
            assert_eq!(keys.open(&token), Err(TokenError::Algorithm));
        }
    }
}

#[test]
fn no_changed_byte_of_a_token_is_accepted() {
    let (verifier, token) = (verifier(), sign(HEADER.as_bytes(), payload("").as_bytes()));
    assert!(verifier.verify(&token, NOW).is_ok());
    for at in 0..token.len() {
        for other in [b'A', b'_', b'.', b'=', b' ', 0xc3] {
            let mut bytes = token.clone().into_bytes();
            if bytes[at] != other {
                bytes[at] = other;
                let text = String::from_utf8_lossy(&bytes);
                assert!(verifier.verify(&text, NOW).is_err(), "{text}");
            }
        }
        assert!(verifier.verify(&token[..at], NOW).is_err());
    }
}

#[test]
fn a_token_is_accepted_until_its_expiry_and_the_leeway() {
    let (verifier, token) = (verifier(), sign(HEADER.as_bytes(), payload("").as_bytes()));
    let until = Duration::from_secs(1000) + CLOCK_LEEWAY;
    assert_eq!(verifier.verify(&token, NOW).unwrap().accepted_until, until);
    assert!(verifier.verify(&token, until - Duration::from_millis(1)).is_ok());
    assert_eq!(verifier.verify(&token, until), Err(TokenError::Expired));
}

#[test]
fn a_scope_is_one_whole_word_of_the_list() {
    let verifier = verifier();
    let rows = [
        ("", false),
        ("tools", false),
        ("tools:call:all", false),
        ("xtools:call", false),
        ("TOOLS:CALL", false),
        ("tools:call,x", false),
        ("a tools:call b", true),
    ];
    for (scope, expected) in rows {
        for claim in ["scope", "scp"] {
            let text =
                format!(r#"{{"iss":"{ISSUER}","aud":"{AUDIENCE}","sub":"s","exp":1000,"{claim}":{}}}"#, json!(scope));
            let claims = verifier.verify(&sign(HEADER.as_bytes(), text.as_bytes()), NOW).unwrap();
            assert_eq!(claims.has_scope("tools:call"), expected, "{scope:?}");
        }
    }
}

#[test]
fn a_token_has_a_length() {
    let token = sign(HEADER.as_bytes(), payload(&format!(r#","x":"{}""#, "x".repeat(TOKEN_BYTES_MAX))).as_bytes());
    assert_eq!(keys().open(&token), Err(TokenError::TooLong));
}

#[test]
fn no_name_of_an_algorithm_has_another_spelling() {
    for name in ["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"] {
        assert!(Algorithm::named(name).is_some(), "{name}");
        for other in [name.to_lowercase(), format!(" {name}"), format!("{name}\0"), name[1..].to_owned()] {
            assert_eq!(Algorithm::named(&other), None, "{other:?}");
        }
    }
    for name in ["", "none", "HS256", "RS1", "RS384", "ES256K", "ES512", "Ed448", "RSA-OAEP"] {
        assert_eq!(Algorithm::named(name), None, "{name}");
    }
}
