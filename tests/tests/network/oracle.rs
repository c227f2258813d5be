//! A server that echoes guesses learns nothing from the number of bytes that the guest gets. G04.
//!
//! The attack recovers a secret from a redactor that holds back only possible beginnings: the next letter is the one
//! after which the guest gets less. It starts with the right letters, so that it needs no luck.

use crate::network::encode::{base64, hex, percent};
use crate::network::lab::{Grant, Lab, Plan, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

const SECRET: &str = "tok/8c1f+0a5e=9d7b~4326 <&>\"x";

/// Number of letters of each spelling to search for.
const POSITIONS: usize = 4;

/// Wrong letters that are tried at each position.
const WRONG: [char; 3] = ['Q', '~', '0'];

/// Number of bytes before a guess: below, around and above the hold-back of a stream.
const BEFORE: [usize; 5] = [0, 200, 256, 300, 700];

fn spelled() -> [String; 6] {
    [
        SECRET.to_owned(),
        base64(SECRET.as_bytes()),
        hex(SECRET),
        percent(SECRET, |byte| byte.is_ascii_alphanumeric()),
        SECRET.chars().rev().collect(),
        json!(SECRET).to_string().trim_matches('"').to_owned(),
    ]
}

/// How a server ends a response after it echoed a guess.
#[derive(Clone, Copy)]
enum Ending {
    /// With bytes that are not a chunk, so that the body fails.
    Failure,
    /// It does not end, and the server waits.
    Pause,
}

/// Returns a server that echoes the path of a request, decoded from hexadecimal, in chunks of this many bytes.
fn parrot(piece: usize, ending: Ending) -> Server {
    Server::plain(Behaviour::answer(move |request| {
        let path = String::from_utf8_lossy(request).split(' ').nth(1).unwrap_or_default()[1..].to_owned();
        let digit = |at: usize| u8::from_str_radix(&path[at..at + 2], 16).unwrap();
        let guess: Vec<u8> = (0..path.len() / 2).map(|byte| digit(byte * 2)).collect();
        let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for chunk in guess.chunks(piece) {
            answer.extend(format!("{:x}\r\n", chunk.len()).bytes());
            answer.extend_from_slice(chunk);
            answer.extend_from_slice(b"\r\n");
        }
        match ending {
            Ending::Failure => answer.extend_from_slice(b"no chunk\r\n"),
            Ending::Pause => {}
        }
        answer
    }))
}

async fn lab(server: &Server) -> Lab {
    let secret = "{ host = \"good.test\", header = \"x-key\", value = \"{}\", from = \"file:token\" }";
    let grant = Grant::to(&["good.test"], server).set("secret", secret);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab
}

/// Returns what a guest can observe of a response: how much arrived, its bytes, and how it ended.
fn observed(result: &Value) -> Value {
    json!([result["bytes"], result["error"], result["at"], result["status"], result["headers"]])
}

/// Returns what the guest observes after each guess. All guesses have the same length.
async fn search(lab: &Lab, server: &Server, guesses: &[String], more: &Value) -> Vec<Value> {
    let errand = |guess: &String| {
        let path = format!("/{}", hex(guess));
        with(with(to("good.test", server, &path), more), &json!({ "show": 0 }))
    };
    lab.send(guesses.iter().map(errand).collect()).await.iter().map(observed).collect()
}

/// Returns the guesses at one position: the right letters and then each letter to try, after `before` other bytes.
fn guesses(spelled: &str, position: usize, before: usize) -> Vec<String> {
    let known: String = spelled.chars().take(position).collect();
    let right = spelled.chars().nth(position).unwrap();
    let padding = "\u{1}".repeat(before);
    [right].into_iter().chain(WRONG).map(|letter| format!("{padding}{known}{letter}")).collect()
}

#[tokio::test]
async fn g04_no_guess_changes_what_arrives_before_a_body_fails() {
    for piece in [1, 64, 4096] {
        let server = parrot(piece, Ending::Failure);
        let lab = lab(&server).await;
        for spelled in spelled() {
            for position in 0..POSITIONS {
                for before in BEFORE {
                    let seen = search(&lab, &server, &guesses(&spelled, position, before), &json!({})).await;
                    assert!(seen[0][1].is_string(), "the body must fail: {}", seen[0]);
                    let differs = seen.iter().position(|one| *one != seen[0]);
                    assert_eq!(differs, None, "after {before} bytes, {position} of {spelled}: {seen:?}");
                }
            }
        }
        assert!(server.seen().heard(SECRET.as_bytes()), "the secret was sent");
    }
}

#[tokio::test]
async fn g04_no_guess_changes_what_arrives_before_a_pause() {
    let server = parrot(4096, Ending::Pause);
    let lab = lab(&server).await;
    // The time for which a guest waits to see what arrives.
    let patience = json!({ "between_bytes": 200_000_000 });
    for before in [0, 300] {
        let seen = search(&lab, &server, &guesses(SECRET, 3, before), &patience).await;
        assert_eq!(seen[0][1], "HTTP response timeout", "{}", seen[0]);
        assert!(seen.iter().all(|one| *one == seen[0]), "after {before} bytes: {seen:?}");
    }
}
