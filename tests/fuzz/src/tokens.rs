//! Fuzzes the verifier with any bytes as a token, as the signed header and payload of one, and as a key set. An
//! accepted token must have a valid signature, and another reader must find everything that is required in it.
#![no_main]

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use libfuzzer_sys::fuzz_target;
use portcullis_tokens::{Claims, Keys, Verifier};
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};

const ISSUER: &str = "https://i";
const AUDIENCE: &str = "https://a";
const NOW: u64 = 900;
/// A private key. Only this program uses it.
const SEED: [u8; 32] = [7; 32];
const HEADER: &[u8] = br#"{"alg":"EdDSA"}"#;
const PAYLOAD: &[u8] = br#"{"iss":"https://i","aud":"https://a","sub":"s","exp":1000,"scope":"x"}"#;

// The first line is a header, the second a payload, the rest a key set. An empty line means a valid one.
fuzz_target!(|input: &[u8]| {
    let mut lines = input.splitn(3, |byte| *byte == b'\n');
    let mut next = |good: &'static [u8]| lines.next().filter(|line| !line.is_empty()).unwrap_or(good);
    let (header, payload, key_set) = (next(HEADER), next(PAYLOAD), next(b""));
    let Ok(signer) = Ed25519KeyPair::from_seed_unchecked(&SEED) else { panic!("a seed has 32 bytes") };
    let verifier = Verifier::new(ISSUER, AUDIENCE, own_keys(&signer));

    let unsigned = String::from_utf8_lossy(input);
    assert!(verifier.verify(&unsigned, Duration::from_secs(NOW)).is_err(), "no key signed {unsigned:?}");

    let token = sign(&signer, header, payload);
    if let Ok(claims) = verifier.verify(&token, Duration::from_secs(NOW)) {
        is_an_accepted_header(&read(header));
        are_accepted_claims(&read(payload), &claims);
        let shortened = &token[..token.len() - 2];
        assert!(verifier.verify(shortened, Duration::from_secs(NOW)).is_err(), "{shortened:?}");
        assert!(verifier.verify(&token, claims.accepted_until).is_err(), "{token:?} never ends");
    }
    if let Ok(keys) = Keys::parse(key_set) {
        assert!(read(key_set)["keys"].as_array().is_some_and(|written| keys.notices().len() < 2 * written.len()));
        for notice in keys.notices() {
            assert!(!notice.to_string().chars().any(char::is_control), "{notice}");
        }
        let _opened = keys.open(&token);
    }
});

fn own_keys(signer: &Ed25519KeyPair) -> Keys {
    use ring::signature::KeyPair as _;
    let x = BASE64URL_NOPAD.encode(signer.public_key().as_ref());
    let set = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x }] });
    Keys::parse(set.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn sign(signer: &Ed25519KeyPair, header: &[u8], payload: &[u8]) -> String {
    let message = format!("{}.{}", BASE64URL_NOPAD.encode(header), BASE64URL_NOPAD.encode(payload));
    let signature = BASE64URL_NOPAD.encode(signer.sign(message.as_bytes()).as_ref());
    format!("{message}.{signature}")
}

/// Parses an accepted text with another reader. It must be UTF-8 and an object.
fn read(bytes: &[u8]) -> Value {
    let Ok(text) = std::str::from_utf8(bytes) else { panic!("{bytes:?} is not UTF-8") };
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => value,
        other => panic!("{text:?} is read as {other:?}"),
    }
}

fn is_an_accepted_header(header: &Value) {
    assert!(matches!(header["alg"].as_str(), Some("EdDSA" | "Ed25519")), "{header}");
    assert!(header.get("kid").is_none_or(|name| name == "k"), "{header}");
    assert!(header.get("typ").is_none_or(Value::is_string), "{header}");
    assert!(["crit", "b64", "enc", "zip"].iter().all(|name| header.get(name).is_none()), "{header}");
}

fn are_accepted_claims(payload: &Value, claims: &Claims) {
    assert!(payload["iss"] == ISSUER && payload.get("cnf").is_none(), "{payload}");
    let audiences = payload["aud"].as_array().cloned().unwrap_or_else(|| vec![payload["aud"].clone()]);
    assert!(audiences.contains(&json!(AUDIENCE)) && audiences.iter().all(Value::is_string), "{payload}");
    assert!(payload["sub"] == claims.subject.as_str() && !claims.subject.is_empty(), "{payload}");
    assert!(payload["exp"].as_f64().is_some_and(|end| end + 30.0 > NOW as f64), "{payload}");
    assert!(payload.get("nbf").is_none_or(|begin| begin.as_f64().is_some_and(|begin| begin <= NOW as f64 + 30.0)));
    for word in ["x", "x y", ""] {
        let listed = [&payload["scope"], &payload["scp"]].into_iter().flat_map(|claim| match claim {
            Value::Array(items) => items.clone(),
            other => vec![other.clone()],
        });
        let has =
            listed.filter_map(|text| text.as_str().map(|text| text.split(' ').any(|one| one == word))).any(|has| has);
        assert_eq!(claims.has_scope(word), has, "{payload}");
    }
}
