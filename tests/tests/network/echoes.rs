//! Servers that echo a secret, in every usual encoding. X03.

use crate::network::encode::{base64, hex, percent, redactions, unveiled};
use crate::network::lab::{Grant, Lab, Plan, to, with};
use flate2::Compression;
use flate2::write::GzEncoder;
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::outcome_of;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// A secret with letters that every encoding changes.
const SECRET: &str = "tok/8c1f+0a5e=9d7b~4326 <&>\"x";

/// An encoding's name, and how a server applies it.
type Spelling = (&'static str, fn(&str) -> String);

/// Encodings in which servers echo their input. None of them may reach the guest with the secret.
const STANDARD: &[Spelling] = &[
    ("as it is", |secret| secret.to_owned()),
    ("in a sentence", |secret| format!("you sent Bearer {secret}, thanks")),
    ("twice", |secret| format!("{secret}{secret}")),
    ("base64", |secret| base64(secret.as_bytes())),
    ("base64 without padding", |secret| base64(secret.as_bytes()).trim_end_matches('=').to_owned()),
    ("base64 for URLs", |secret| base64(secret.as_bytes()).replace('+', "-").replace('/', "_")),
    ("base64 after one byte", |secret| base64(format!("a{secret}").as_bytes())),
    ("base64 after two bytes", |secret| base64(format!("ab{secret}z").as_bytes())),
    ("base64 of the header", |secret| base64(format!("Authorization: Bearer {secret}\r\n").as_bytes())),
    ("hex", hex),
    ("upper hex", |secret| hex(secret).to_uppercase()),
    ("percent", |secret| percent(secret, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))),
    ("percent throughout", |secret| percent(secret, |_| false)),
    ("a form", |secret| {
        percent(secret, |byte| byte.is_ascii_alphanumeric() || b"-._* ".contains(&byte)).replace(' ', "+")
    }),
    ("JSON", |secret| json!({ "token": secret }).to_string()),
    ("HTML", |secret| secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")),
    ("reversed", |secret| secret.chars().rev().collect()),
];

/// Encodings that a malicious server can use and no search can find: the server has the secret, and can encode it in
/// any way. The threat model states this. The list makes a change visible.
const NOT_FOUND: &[Spelling] = &[
    ("in pieces", |secret| secret.split_at(9).0.to_owned() + " " + secret.split_at(9).1),
    ("base64 twice", |secret| base64(base64(secret.as_bytes()).as_bytes())),
    ("shifted letters", |secret| secret.bytes().map(|byte| char::from(byte + 1)).collect()),
    ("letters apart", |secret| secret.chars().flat_map(|letter| [letter, '.']).collect()),
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A host that sends the secret to `good.test`.
async fn lab(server: &Server) -> Lab {
    let secret = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";
    let grant = Grant::to(&["good.test"], server).set("secret", secret);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab
}

/// Returns what the server received, which may differ from the secret in a header. The secret must have been sent, or
/// there is nothing to echo.
fn sent(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request).into_owned();
    let at = text.find("Bearer ").expect("the secret was sent") + 7;
    text[at..].split("\r\n").next().unwrap().to_owned()
}

/// Sends a request to a server with this response. Returns what the guest saw, and the number of redactions in the
/// audit log.
async fn asked(behaviour: Behaviour) -> (Value, u64) {
    let server = Server::plain(behaviour);
    let lab = lab(&server).await;
    let request = with(to("good.test", &server, "/"), &json!({ "show": 100_000, "veil": true }));
    let reply = lab.call("courier.send", &json!({ "errands": [request] })).await;
    assert!(server.seen().heard(SECRET.as_bytes()), "{:?}", server.texts());
    let redacted = redactions(&outcome_of(&lab.host, &reply.id));
    (unveiled(crate::network::lab::values(&reply).remove(0)), redacted)
}

#[tokio::test]
async fn x03_no_standard_encoding_comes_back_in_a_body() {
    for (name, spell) in STANDARD {
        let (result, redacted) =
            asked(Behaviour::answer(|request| Behaviour::whole(200, &[], spell(&sent(request))))).await;
        absent(name, *spell, &result);
        assert!(redacted >= 1, "{name}: the audit log has no redaction");
    }
}

/// Asserts that an encoding of the secret is nowhere in what a guest saw.
#[track_caller]
fn absent(name: &str, spell: fn(&str) -> String, result: &Value) {
    assert_eq!(result["error"], Value::Null, "{name}: {result}");
    let body = result["body"].as_str().unwrap_or_default();
    let everything = format!("{body}{}", result["headers"]);
    let core = spell(SECRET);
    // A long part of the encoding is as useful as all of it.
    for part in [core.as_str(), SECRET, &SECRET[..16], &base64(SECRET.as_bytes())[..24]] {
        assert!(!everything.contains(part), "{name}: {part} is in {result}");
    }
}

#[tokio::test]
async fn x03_no_standard_encoding_comes_back_in_a_header() {
    for (name, spell) in STANDARD {
        let answer = |request: &[u8]| Behaviour::whole(200, &[("x-echo", &spell(&sent(request)))], "ok");
        let (result, redacted) = asked(Behaviour::answer(answer)).await;
        absent(name, *spell, &result);
        assert!(redacted >= 1, "{name}: the audit log has no redaction");
    }
}

#[tokio::test]
async fn x03_no_standard_encoding_comes_back_compressed() {
    for (name, spell) in STANDARD {
        let answer = |request: &[u8]| {
            Behaviour::whole(200, &[("content-encoding", "gzip")], gzip(spell(&sent(request)).as_bytes()))
        };
        let (result, _) = asked(Behaviour::answer(answer)).await;
        absent(name, *spell, &result);
    }
}

/// A secret that is split across chunks and segments.
#[tokio::test]
async fn x03_a_secret_that_is_split_on_the_wire_is_found() {
    for size in [1, 2, 7, 19] {
        let answer = move |request: &[u8]| {
            let mut chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            let text = format!("{}{}{}", "x".repeat(65_530), sent(request), "y".repeat(100));
            for chunk in text.as_bytes().chunks(size) {
                chunks.extend(format!("{:x}\r\n", chunk.len()).bytes());
                chunks.extend(chunk);
                chunks.extend(b"\r\n");
            }
            chunks.extend(b"0\r\n\r\n");
            chunks
        };
        let (result, redacted) = asked(Behaviour::answer(answer)).await;
        absent("in chunks", str::to_owned, &result);
        assert_eq!(redacted, 1);
        assert!(result["body"].as_str().unwrap().ends_with(&"y".repeat(100)), "the end of the body is missing");
    }
}

/// The same, with pauses between the pieces.
#[tokio::test]
async fn x03_a_secret_that_arrives_slowly_is_found() {
    let server = Server::plain(Behaviour::drip(
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}", 3 * 29 + 10, &SECRET[..10]),
        &SECRET.as_bytes()[10..],
        Duration::from_millis(30),
    ));
    // The rest of the pieces repeats, so that only the first secret is complete.
    let lab = lab(&server).await;
    let result = unveiled(lab.one(with(to("good.test", &server, "/"), &json!({ "veil": true }))).await);
    assert!(result["body"].as_str().unwrap().contains("redacted"), "{result}");
    assert!(!result["body"].to_string().contains(&SECRET[..16]), "{result}");
}

/// Headers of every kind, trailers, and the status line.
#[tokio::test]
async fn x03_header_names_trailers_and_reason_phrases_are_searched() {
    let answers: [fn(&str) -> String; 4] = [
        |secret| {
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-late\r\n\r\n";
            format!("{head}2\r\nok\r\n0\r\nx-late: {secret}\r\n\r\n")
        },
        |secret| format!("HTTP/1.1 200 {secret}\r\ncontent-length: 2\r\n\r\nok"),
        |secret| format!("HTTP/1.1 401 No\r\nwww-authenticate: Bearer error=\"{secret}\"\r\ncontent-length: 0\r\n\r\n"),
        |secret| format!("HTTP/1.1 200 OK\r\nset-cookie: session={secret}; Path=/\r\ncontent-length: 2\r\n\r\nok"),
    ];
    for answer in answers {
        let (result, _) = asked(Behaviour::answer(move |request| answer(&sent(request)).into_bytes())).await;
        assert!(!result.to_string().contains(&SECRET[..16]), "{result}");
    }
    // A header name is lower case and has few letters. A secret of such letters can be one.
    let secret = "{ host = \"good.test\", header = \"x-key\", value = \"{}\", from = \"file:token\" }";
    let answer = |_: &[u8]| Behaviour::whole(200, &[("tok-8c1f0a5e9d7b4326", "x")], "ok");
    let server = Server::plain(Behaviour::answer(answer));
    let grant = Grant::to(&["good.test"], &server).set("secret", secret);
    let lab = Plan::new().await.file("token", "tok-8c1f0a5e9d7b4326").grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let result = unveiled(lab.one(with(to("good.test", &server, "/"), &json!({ "veil": true }))).await);
    assert!(!result.to_string().contains("8c1f0a5e"), "{result}");
}

/// Errors that quote what could not be parsed.
#[tokio::test]
async fn x03_errors_do_not_quote_the_secret() {
    let answers: [fn(&str) -> String; 3] = [
        |secret| format!("HTTP/1.1 {secret} OK\r\n\r\n"),
        |secret| format!("{secret}\r\n\r\n"),
        |secret| format!("HTTP/1.1 200 OK\r\ncontent-length: {secret}\r\n\r\nok"),
    ];
    for answer in answers {
        let (result, _) = asked(Behaviour::answer(move |request| answer(&sent(request)).into_bytes())).await;
        assert!(!result.to_string().contains(&SECRET[..16]), "{result}");
    }
}

/// Reading a body in parts is searched like reading it at once.
#[tokio::test]
async fn x03_reading_in_parts_shows_no_part_of_the_secret() {
    for read in [1, 8, 10, 20, 40] {
        let server = Server::plain(Behaviour::answer(|request| Behaviour::whole(200, &[], sent(request))));
        let lab = lab(&server).await;
        let request = with(to("good.test", &server, "/"), &json!({ "read": read, "veil": true }));
        let result = unveiled(lab.one(request).await);
        assert!(!result["body"].as_str().unwrap_or_default().contains(&SECRET[..4]), "{result}");
    }
}

/// Secrets that a plugin got elsewhere are removed from its results, its messages and its failures.
#[tokio::test]
async fn x03_results_of_the_plugin_are_searched_too() {
    let server = Server::plain(Behaviour::ok());
    let lab = lab(&server).await;
    let say = json!({ "op": "say", "authority": format!("the token is {SECRET}.") });
    let reply = lab.call("courier.send", &json!({ "errands": [to("good.test", &server, "/"), say] })).await;
    let said = crate::network::lab::values(&reply).remove(1);
    assert_eq!(said["said"], "the token is [redacted by Portcullis].");
    assert!(redactions(&outcome_of(&lab.host, &reply.id)) >= 1);
}

/// Documents the encodings that are not found, so that no one relies on it.
#[tokio::test]
async fn x03_some_encodings_are_not_found() {
    for (name, spell) in NOT_FOUND {
        let (result, _) = asked(Behaviour::answer(|request| Behaviour::whole(200, &[], spell(&sent(request))))).await;
        assert!(result["body"].as_str().unwrap().contains(&spell(SECRET)), "{name} is found now: move it up");
    }
}
