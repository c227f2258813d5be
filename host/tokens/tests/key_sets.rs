//! Key sets: a bad key is named and skipped, and a set without a good one is refused.

use crate::sign;
use portcullis_tokens::{KEYS_MAX, KeyFinding, KeyProblem, KeySetError, Keys};
use serde_json::{Value, json};

const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

fn good() -> Value {
    json!({ "kty": "OKP", "kid": "good", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" })
}

fn rsa() -> Value {
    json!({ "kty": "RSA", "n": N, "e": "AQAB" })
}

fn curve() -> Value {
    let (x, y) = ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
    json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y })
}

/// Returns a key with members changed, or taken out where they are null.
fn with(mut key: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else { panic!("{changes}") };
    for (name, value) in changes {
        key[name] = value;
    }
    key
}

fn without(mut key: Value, name: &str) -> Value {
    key.as_object_mut().unwrap().remove(name);
    key
}

fn parse(keys: &[Value]) -> Result<Keys, KeySetError> {
    Keys::parse(json!({ "keys": keys }).to_string().as_bytes())
}

fn bad() -> Vec<(Value, KeyProblem)> {
    let (even, weak) = (format!("{}g", &N[..341]), "AQAB".repeat(80));
    vec![
        (json!(null), KeyProblem::NotAnObject),
        (json!(["RSA", N, "AQAB"]), KeyProblem::NotAnObject),
        (json!({}), KeyProblem::Member("kty")),
        (with(good(), json!({ "kty": 7 })), KeyProblem::Member("kty")),
        (with(good(), json!({ "kid": 7 })), KeyProblem::Member("kid")),
        (with(good(), json!({ "kid": null })), KeyProblem::Member("kid")),
        (with(good(), json!({ "use": ["sig"] })), KeyProblem::Member("use")),
        (with(good(), json!({ "key_ops": "verify" })), KeyProblem::Member("key_ops")),
        (with(good(), json!({ "alg": null })), KeyProblem::Member("alg")),
        (with(good(), json!({ "crv": "X25519" })), KeyProblem::Type),
        (with(good(), json!({ "kty": "AKP" })), KeyProblem::Type),
        (with(curve(), json!({ "crv": "secp256k1" })), KeyProblem::Type),
        (with(curve(), json!({ "crv": "P-521" })), KeyProblem::Type),
        (json!({ "kty": "oct", "k": "c2VjcmV0" }), KeyProblem::Secret),
        (with(good(), json!({ "use": "enc" })), KeyProblem::Purpose),
        (with(good(), json!({ "key_ops": ["encrypt"] })), KeyProblem::Purpose),
        (with(good(), json!({ "alg": "none" })), KeyProblem::Algorithm),
        (with(good(), json!({ "alg": "HS256" })), KeyProblem::Algorithm),
        (with(good(), json!({ "alg": "ES256" })), KeyProblem::Algorithm),
        (with(rsa(), json!({ "alg": "EdDSA" })), KeyProblem::Algorithm),
        (with(good(), json!({ "x": "AAAA" })), KeyProblem::Point),
        (with(good(), json!({ "x": "+/+/" })), KeyProblem::Member("x")),
        (without(good(), "x"), KeyProblem::Member("x")),
        (without(curve(), "y"), KeyProblem::Member("y")),
        (with(curve(), json!({ "y": curve()["x"] })), KeyProblem::Point),
        (with(curve(), json!({ "crv": "P-384" })), KeyProblem::Point),
        (without(rsa(), "n"), KeyProblem::Member("n")),
        (with(rsa(), json!({ "n": "" })), KeyProblem::Modulus),
        (with(rsa(), json!({ "n": even })), KeyProblem::Modulus),
        (with(rsa(), json!({ "n": weak })), KeyProblem::Modulus),
        (with(rsa(), json!({ "e": "AQ" })), KeyProblem::Exponent),
        (with(rsa(), json!({ "e": "AQAA" })), KeyProblem::Exponent),
        (with(rsa(), json!({ "e": "AAAA" })), KeyProblem::Exponent),
        (with(rsa(), json!({ "e": "A____________w" })), KeyProblem::Exponent),
    ]
}

#[test]
fn a_key_that_cannot_be_used_is_named_and_spoils_no_other() {
    let token = sign(br#"{"alg":"EdDSA","kid":"good"}"#, b"{}");
    for (key, problem) in bad() {
        let keys = parse(&[key.clone(), good()]).unwrap();
        let notices: Vec<_> = keys.notices().iter().map(|notice| (notice.position, notice.about)).collect();
        assert_eq!(notices, [(1, KeyFinding::Skipped(problem))], "{key}");
        assert!(keys.open(&token).is_ok(), "{key}");
    }
}

#[test]
fn a_set_without_a_usable_key_is_refused_with_the_reason_for_each() {
    for (key, problem) in bad() {
        let error = parse(std::slice::from_ref(&key)).unwrap_err();
        let KeySetError::NoUsableKey(notices) = &error else { panic!("{error}") };
        assert_eq!(notices.len(), 1, "{key}");
        assert!(error.to_string().contains(&problem.to_string()), "{error}");
    }
    assert_eq!(parse(&[]).unwrap_err(), KeySetError::NoUsableKey(Vec::new()));
}

#[test]
fn a_private_key_is_used_and_reported() {
    let private = with(good(), json!({ "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A" }));
    let keys = parse(&[good(), private, with(rsa(), json!({ "d": null }))]).unwrap();
    let found: Vec<_> = keys.notices().iter().map(|notice| (notice.position, notice.about)).collect();
    assert_eq!(found, [(2, KeyFinding::Private), (3, KeyFinding::Private)]);
    assert!(keys.notices()[0].to_string().starts_with("key 2 (\"good\") is published with its private half"));
}

#[test]
fn a_name_in_a_notice_is_escaped_and_short() {
    let name = format!("a\u{1b}[2J\u{202e}\n{}", "x".repeat(1000));
    let keys = parse(&[good(), json!({ "kty": "oct", "kid": name })]).unwrap();
    let shown = keys.notices()[0].to_string();
    assert!(shown.len() < 300 && !shown.contains(['\u{1b}', '\u{202e}', '\n']), "{shown}");
}

#[test]
fn a_text_that_is_not_a_key_set_is_refused() {
    let rows = ["", "{}", "[]", "null", r#"{"keys":{}}"#, r#"{"keys":null}"#, r#"[[]]"#, r#"{"keys":[],"keys":[]}"#];
    for text in rows {
        assert_eq!(Keys::parse(text.as_bytes()).unwrap_err(), KeySetError::NotAKeySet, "{text}");
    }
    assert_eq!(Keys::parse(b"{\"keys\":[],\"x\":\"\xff\"}").unwrap_err(), KeySetError::NotAKeySet);
    assert!(parse(&vec![good(); KEYS_MAX]).is_ok());
    assert_eq!(parse(&vec![good(); KEYS_MAX + 1]).unwrap_err(), KeySetError::TooMany);
}

#[test]
fn a_key_verifies_only_what_its_set_says_it_is_for() {
    let token = sign(br#"{"alg":"EdDSA"}"#, b"{}");
    for members in [json!({ "alg": "EdDSA" }), json!({ "use": "sig" }), json!({ "key_ops": ["sign", "verify"] })] {
        assert!(parse(&[with(good(), members)]).unwrap().open(&token).is_ok());
    }
    let other = with(good(), json!({ "alg": "Ed25519" }));
    assert!(parse(&[other]).unwrap().open(&token).is_ok(), "both names are of one algorithm");
}
