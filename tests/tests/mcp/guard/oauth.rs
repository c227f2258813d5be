//! Access tokens of an authorization server: subject, audience, expiry, and signature.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use crate::guard::service::{GOOD, LEGACY, Service, TOKEN, legacy_call};
use data_encoding::BASE64URL_NOPAD;
use portcullis_mcp::http::{Access, ApproverVerdict, Approvers, LiveApprovers, OAuth};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

const ISSUER: &str = "https://login.example.org/tenant";
const AUDIENCE: &str = "https://tools.example.org/mcp";
const METADATA: &str = "https://tools.example.org/.well-known/oauth-protected-resource/mcp";

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

/// The authorization server, with two published keys and one unpublished key.
struct Issuer {
    curve: EcdsaKeyPair,
    edwards: Ed25519KeyPair,
    foreign: EcdsaKeyPair,
}

fn curve() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap()
}

impl Issuer {
    fn new() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let edwards = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        Self { curve: curve(), edwards, foreign: curve() }
    }

    fn key_set(&self) -> String {
        let point = self.curve.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        let keys = json!([
            { "kty": "oct", "kid": "shared", "k": encode("a secret that must be refused") },
            { "kty": "EC", "kid": "curve", "crv": "P-256", "use": "sig", "x": x, "y": y },
            { "kty": "OKP", "kid": "edwards", "crv": "Ed25519", "x": encode(self.edwards.public_key().as_ref()) },
        ]);
        json!({ "keys": keys }).to_string()
    }

    fn access(&self) -> Access {
        Access::OAuth(Box::new(OAuth::new(ISSUER, AUDIENCE, self.key_set().as_bytes()).unwrap()))
    }

    fn signed(&self, header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = sign(message.as_bytes());
        format!("{message}.{}", encode(signature))
    }

    fn by_curve(&self, header: &Value, claims: &Value) -> String {
        self.signed(header, claims, |message| by(&self.curve, message))
    }

    /// Signs a token with some claims changed.
    fn token(&self, changes: &Value) -> String {
        let mut claims = claims();
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.by_curve(&json!({ "alg": "ES256", "typ": "at+jwt", "kid": "curve" }), &claims)
    }
}

fn by(key: &EcdsaKeyPair, message: &[u8]) -> Vec<u8> {
    key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "sub": "alice|1", "aud": AUDIENCE, "exp": now() + 600, "scope": "openid tools:call" })
}

fn with(service: &Service, token: &str) -> Ask {
    service.call(GOOD).having("Authorization", &format!("Bearer {token}"))
}

#[track_caller]
fn challenges(answer: &Answer, error: Option<&str>) {
    let challenge = answer.header("www-authenticate").unwrap_or_else(|| panic!("{answer:?}"));
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(challenge.contains(&format!("resource_metadata=\"{METADATA}\"")), "{challenge}");
    assert!(challenge.contains("scope=\"tools:call\""), "{challenge}");
    let given = error.map(|error| format!("error=\"{error}\""));
    assert_eq!(challenge.contains("error="), given.is_some(), "{challenge}");
    assert!(given.is_none_or(|given| challenge.contains(&given)), "{challenge}");
}

#[tokio::test]
async fn a_token_of_the_issuer_for_this_server_authorizes_its_subject() {
    let issuer = Issuer::new();
    let service = Service::with(|options| options.access = issuer.access()).await;
    service.send(&with(&service, &issuer.token(&json!({})))).await.is(200);
    let array = json!({ "aud": ["https://elsewhere.example.org", AUDIENCE] });
    service.send(&with(&service, &issuer.token(&array))).await.is(200);
    let edwards =
        issuer.signed(&json!({ "alg": "EdDSA" }), &claims(), |message| issuer.edwards.sign(message).as_ref().to_vec());
    service.send(&with(&service, &edwards)).await.is(200);
    let Service { host, running, site } = service;
    running.stop().await;
    drop(host);
    let record = std::fs::read_to_string(site.state().join("audit.jsonl")).unwrap_or_else(|_| all(&site.state()));
    assert!(record.contains(&format!("\"{}alice_7C1\"", prefix(&issuer))), "{record}");
    assert!(!record.contains(&edwards));
}

fn prefix(issuer: &Issuer) -> String {
    OAuth::new(ISSUER, AUDIENCE, issuer.key_set().as_bytes()).unwrap().principal_prefix().to_owned()
}

fn all(directory: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let more =
            if path.is_dir() { all(&path) } else { String::from_utf8_lossy(&std::fs::read(path).unwrap()).into() };
        text.push_str(&more);
    }
    text
}

#[tokio::test]
async fn every_other_token_is_rejected() {
    let issuer = Issuer::new();
    let service = Service::with(|options| options.access = issuer.access()).await;
    let changed = [
        json!({ "aud": "https://tools.example.org" }),
        json!({ "aud": "https://elsewhere.example.org/mcp" }),
        json!({ "aud": [] }),
        json!({ "aud": null }),
        json!({ "iss": "https://login.example.org" }),
        json!({ "iss": [ISSUER] }),
        json!({ "exp": now() - 600 }),
        json!({ "exp": null }),
        json!({ "exp": "9999999999" }),
        json!({ "nbf": now() + 600 }),
        json!({ "sub": "" }),
        json!({ "sub": null }),
    ];
    let mut tokens: Vec<String> = changed.into_iter().map(|changes| issuer.token(&changes)).collect();
    let (claims, curve_header) = (claims(), json!({ "alg": "ES256", "kid": "curve" }));
    let hmac = |key: &[u8], message: &[u8]| {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
        ring::hmac::sign(&key, message).as_ref().to_vec()
    };
    let public = issuer.curve.public_key().as_ref().to_vec();
    for alg in ["none", "None", "nOnE", ""] {
        tokens.push(issuer.signed(&json!({ "alg": alg }), &claims, |_| Vec::new()));
    }
    tokens.push(issuer.signed(&json!({ "alg": "HS256", "kid": "curve" }), &claims, |message| hmac(&public, message)));
    let secret = b"a secret that must be refused";
    tokens.push(issuer.signed(&json!({ "alg": "HS256", "kid": "shared" }), &claims, |message| hmac(secret, message)));
    tokens.push(issuer.signed(&curve_header, &claims, |message| by(&issuer.foreign, message)));
    tokens.push(issuer.signed(&curve_header, &claims, |_| vec![0; 64]));
    tokens.push(issuer.by_curve(&json!({ "alg": "ES384", "kid": "curve" }), &claims));
    tokens.push(issuer.by_curve(&json!({ "alg": "EdDSA", "kid": "curve" }), &claims));
    tokens.push(issuer.by_curve(&json!({ "alg": "ES256", "kid": "edwards" }), &claims));
    tokens.push(issuer.by_curve(&json!({ "alg": "ES256", "kid": "unknown" }), &claims));
    tokens.push(issuer.by_curve(&json!({ "alg": "ES256", "crit": ["exp"] }), &claims));
    tokens.push(issuer.by_curve(&json!({ "alg": "ES256", "typ": "dpop+jwt" }), &claims));
    // A key inside the token is not trusted.
    let point = issuer.foreign.public_key().as_ref();
    let jwk = json!({ "kty": "EC", "crv": "P-256", "x": encode(&point[1..33]), "y": encode(&point[33..]) });
    let own_key = json!({ "alg": "ES256", "jwk": jwk });
    tokens.push(issuer.signed(&own_key, &claims, |message| by(&issuer.foreign, message)));
    let good = issuer.token(&json!({}));
    let (message, signature) = good.rsplit_once('.').unwrap();
    tokens.extend([message.to_owned(), format!("{message}."), format!("{good}.{signature}"), "a.b.c".to_owned()]);
    tokens.extend([TOKEN.to_owned(), "x".repeat(12_000)]);
    for token in tokens {
        let answer = service.send(&with(&service, &token)).await.is(401);
        challenges(&answer, Some("invalid_token"));
        assert!(!answer.body.contains(&token), "{answer:?}");
    }
    challenges(&service.send(&service.call(GOOD).without("Authorization")).await.is(401), None);
    service.send(&with(&service, &good)).await.is(200);
}

#[tokio::test]
async fn a_stream_ends_with_the_token_that_opened_it() {
    let issuer = Issuer::new();
    let service = Service::with(|options| options.access = issuer.access()).await;
    let session = service.session(&issuer.token(&json!({}))).await;
    // With the leeway of thirty seconds, the token has five seconds left.
    let short = format!("Bearer {}", issuer.token(&json!({ "exp": now() - 25 })));
    let listen = service.ask("GET").with("MCP-Protocol-Version", LEGACY).with("Mcp-Session-Id", &session);
    let (answer, stream) = listen.clone().having("Authorization", &short).open(service.address()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    read_rest(stream).await;
    service.send(&listen.having("Authorization", &short)).await.is(401);
    // The session continues with another token of the same subject.
    let call = service.of_session(&session, &legacy_call(1, GOOD));
    let long = format!("Bearer {}", issuer.token(&json!({})));
    service.send(&call.having("Authorization", &long)).await.is(200);
}

/// Reads a stream to its end. Fails if the stream does not end.
pub(crate) async fn read_rest(mut stream: tokio::net::TcpStream) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut text = Vec::new();
    let read = async {
        while !text.ends_with(b"0\r\n\r\n") && stream.read_buf(&mut text).await.unwrap() > 0 {}
        String::from_utf8_lossy(&text).into_owned()
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap()
}

/// An agent's client asks for every scope that it can get, so a token that can call tools must not approve.
#[test]
fn only_a_token_with_the_scope_of_approvers_alone_signs_in_to_the_console() {
    let issuer = Issuer::new();
    let oauth = || OAuth::new(ISSUER, AUDIENCE, issuer.key_set().as_bytes()).unwrap();
    let approvers = LiveApprovers::new(Approvers::OAuth(Box::new(oauth())));
    let verdict = |scope: &str| approvers.verify(&issuer.token(&json!({ "scope": scope })));
    let ApproverVerdict::Approver(principal, life) = verdict("openid approvals:answer") else { panic!("refused") };
    assert!(principal.as_str().ends_with("alice_7C1"), "{principal}");
    for scope in ["tools:call", "tools:call approvals:answer", "openid", "", "approvals:answers"] {
        assert!(matches!(verdict(scope), ApproverVerdict::NoApprover), "{scope}");
    }
    assert!(matches!(approvers.verify("no token"), ApproverVerdict::Invalid));
    let stale = issuer.token(&json!({ "scope": "approvals:answer", "exp": now() - 600 }));
    assert!(matches!(approvers.verify(&stale), ApproverVerdict::Invalid));
    assert!(!life.withdrawn.is_cancelled());
    approvers.replace(Approvers::OAuth(Box::new(oauth())));
    assert!(life.withdrawn.is_cancelled(), "a key that was replaced signs its people out");
}

#[tokio::test]
async fn a_token_without_the_scope_is_rejected_with_the_required_scope() {
    let issuer = Issuer::new();
    let service = Service::with(|options| options.access = issuer.access()).await;
    for scope in [json!("openid"), json!(""), json!("tools:callx tools")] {
        let token = issuer.token(&json!({ "scope": scope }));
        let answer = service.send(&with(&service, &token)).await.is(403);
        challenges(&answer, Some("insufficient_scope"));
    }
}

#[tokio::test]
async fn the_resource_metadata_is_public_and_exists_only_with_an_issuer() {
    let issuer = Issuer::new();
    let service = Service::with(|options| options.access = issuer.access()).await;
    let ask = |service: &Service, path: &str| {
        Ask::new("GET", path).with("Host", &service.address().to_string()).with("Connection", "close")
    };
    let paths = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];
    for path in paths {
        let answer = service.send(&ask(&service, path)).await.is(200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let document = answer.last();
        assert_eq!(document["resource"], AUDIENCE);
        assert_eq!(document["authorization_servers"], json!([ISSUER]));
        assert_eq!(document["scopes_supported"], json!(["tools:call"]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
        service.send(&ask(&service, path).having("Host", "evil.com")).await.is(403);
    }
    let plain = Service::open().await;
    plain.send(&ask(&plain, paths[0])).await.is(404);
}
