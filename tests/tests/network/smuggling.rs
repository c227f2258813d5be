//! One request in is one request out, however it is written. N21, and response smuggling.

use crate::network::lab::{Lab, denied, failed, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// Asserts that the received bytes are exactly the requests that the server parsed, each with one framing.
#[track_caller]
fn well_framed(server: &Server) {
    let seen = server.seen();
    let requests: usize = seen.requests.iter().map(Vec::len).sum();
    let heard: usize = seen.heard.iter().map(Vec::len).sum();
    assert_eq!(requests, heard, "bytes outside requests: {:?}", seen.texts());
    assert!(seen.connections >= seen.requests.len(), "two requests on one connection: {:?}", seen.texts());
    for text in seen.texts() {
        let head = text.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        let count = |name: &str| head.matches(&format!("\r\n{name}:")).count();
        assert!(count("content-length") + count("transfer-encoding") <= 1, "{text}");
        assert_eq!(count("host"), 1, "{text}");
        assert!(!head.replace("\r\n", "").contains(['\r', '\n', '\0']), "{text:?}");
        assert!(!text.contains("smuggled"), "{text}");
    }
}

#[tokio::test]
async fn n21_header_values_contain_no_line_ends() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for value in [
        "a\r\nsmuggled: yes",
        "a\nsmuggled: yes",
        "a\rsmuggled: yes",
        "a\r\n smuggled: folded",
        "a\r\n\tsmuggled: folded",
        "a\r\n\r\nGET /smuggled HTTP/1.1\r\n",
        "a\u{0}smuggled",
        "\r\n",
        "\n",
        "a\u{8d}\u{8a}smuggled\r\n",
    ] {
        let result = lab.one(with(request.clone(), &json!({ "headers": [["x-a", value]] }))).await;
        denied(&result);
    }
    server.saw_nothing();
    // Bytes that only look like line ends in some text encodings are part of a value, or rejected.
    for value in ["a\u{85}b", "a\u{8a}\u{8d}b", "\u{ff}\u{fe}"] {
        lab.one(with(request.clone(), &json!({ "headers": [["x-a", value]] }))).await;
    }
    well_framed(&server);
}

#[tokio::test]
async fn n21_header_names_are_tokens() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for name in [
        "",
        " x",
        "x ",
        "x:y",
        "x\r\nsmuggled",
        "x\n",
        "x\u{0}",
        "x\ty",
        "x(y)",
        "x\u{e9}",
        "content-length ",
        " content-length",
        "content-length:",
        "transfer-encoding\u{b}",
        ":method",
        ":path",
        ":scheme",
    ] {
        let result = lab.one(with(request.clone(), &json!({ "headers": [[name, "smuggled"]] }))).await;
        denied(&result);
    }
    server.saw_nothing();
}

/// Every way to disagree about where a body ends.
#[tokio::test]
async fn n21_the_host_sets_lengths() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = with(to("good.test", &server, "/"), &json!({ "method": "POST", "body": "hello" }));
    let none = with(to("good.test", &server, "/"), &json!({ "method": "POST" }));
    let smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";
    let cases = [
        json!([["content-length", "5"], ["content-length", "5"]]),
        json!([["content-length", "5"], ["content-length", "6"]]),
        json!([["content-length", "5, 5"]]),
        json!([["content-length", "+5"]]),
        json!([["content-length", "-5"]]),
        json!([["content-length", "5 "]]),
        json!([["content-length", "0x5"]]),
        json!([["content-length", "05"]]),
        json!([["content-length", "5.0"]]),
        json!([["content-length", ""]]),
        json!([["content-length", "4"]]),
        json!([["content-length", "6"]]),
        json!([["content-length", "0"]]),
        json!([["content-length", "18446744073709551616"]]),
        json!([["content-length", "18446744073709551615"]]),
        json!([["content-length", "5"], ["transfer-encoding", "chunked"]]),
        json!([["transfer-encoding", "chunked"]]),
        json!([["transfer-encoding", "identity"]]),
        json!([["transfer-encoding", "chunked, identity"]]),
        json!([["Transfer-Encoding", "xchunked"]]),
        json!([["transfer-encoding", "chunked"], ["transfer-encoding", "chunked"]]),
        json!([["te", "trailers"]]),
        json!([["trailer", "content-length"]]),
        json!([["expect", "100-continue"]]),
    ];
    for headers in &cases {
        for request in [&request, &none] {
            let fields = json!({ "headers": headers });
            lab.one(with(request.clone(), &fields)).await;
            lab.one(with(with(request.clone(), &fields), &json!({ "body": smuggled }))).await;
        }
    }
    framed_bodies(&server);
    // Without them, the request arrives.
    let before = server.seen().requests.len();
    lab.one(request).await;
    assert_eq!(server.seen().requests.len(), before + 1);
    assert!(server.texts().last().unwrap().contains("hello"));
}

/// Like `well_framed`, for a body that may contain something like a request, which must stay a body.
#[track_caller]
fn framed_bodies(server: &Server) {
    let seen = server.seen();
    let starts = seen.requests.iter().filter(|request| request.starts_with(b"POST / HTTP/1.1\r\n")).count();
    assert_eq!(starts, seen.requests.len(), "another request was sent: {:?}", seen.texts());
    assert!(seen.connections >= seen.requests.len(), "two requests on one connection: {:?}", seen.texts());
    for text in seen.texts() {
        let head = text.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        let count = |name: &str| head.matches(&format!("\r\n{name}:")).count();
        assert!(count("content-length") + count("transfer-encoding") <= 1, "{text}");
    }
}

/// Trailers follow the rules of headers.
#[tokio::test]
async fn n21_trailers_follow_the_same_rules() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = with(to("good.test", &server, "/"), &json!({ "method": "POST", "body": "hello" }));
    for (name, value) in [
        ("content-length", "5"),
        ("transfer-encoding", "chunked"),
        ("host", "evil.test"),
        ("connection", "close"),
        ("upgrade", "h2c"),
        ("authorization", "smuggled"),
        ("x-a", "a\r\nsmuggled: yes"),
        ("x a", "smuggled"),
        ("x-a", "a\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"),
    ] {
        lab.one(with(request.clone(), &json!({ "trailers": [[name, value]] }))).await;
    }
    for text in server.texts() {
        let (_, after) = text.split_once("hello").unwrap_or((&text, ""));
        for name in ["content-length", "transfer-encoding", "host", "connection", "upgrade", "smuggled"] {
            assert!(!after.to_ascii_lowercase().contains(name), "{text}");
        }
    }
}

/// A response that parsers would end at different places is an error.
#[tokio::test]
async fn n21_responses_with_two_ends_are_errors() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokx",
        "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551616\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nx\r\n\r\nok",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "200 OK\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
        "\r\n\r\n\r\n\r\n",
        "\u{0}\u{0}\u{0}\u{0}",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "",
    ] {
        let server = Server::plain(Behaviour::Say(answer.into()));
        let lab = Lab::good(&server).await;
        let result = lab.one(to("good.test", &server, "/")).await;
        failed(&result);
    }
}

/// Bytes that a server sends after its response, or before the request, are ignored.
#[tokio::test]
async fn n21_bytes_after_a_response_are_ignored() {
    let twice = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\nsmuggled";
    let server = Server::plain(Behaviour::Say(twice.into()));
    let lab = Lab::good(&server).await;
    let results = lab.send(vec![to("good.test", &server, "/"); 2]).await;
    for result in results {
        assert_eq!((&result["status"], &result["body"]), (&json!(200), &json!("ok")));
    }
}

/// The host does not switch to a protocol that it did not request.
#[tokio::test]
async fn n22_no_upgrade_is_accepted() {
    let answer = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nsmuggled";
    let server = Server::plain(Behaviour::Say(answer.into()));
    let lab = Lab::good(&server).await;
    let result = lab.one(to("good.test", &server, "/")).await;
    assert!(!result["body"].to_string().contains("smuggled"), "{result}");
    assert!(result["error"] != Value::Null || result["status"] != 101, "{result}");
}
