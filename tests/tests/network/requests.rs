//! What a guest may put into a request. N12, N13, N22.

use crate::network::lab::{Grant, Lab, answered, denied, is_denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// Headers that only the host sets, or that change how a connection is parsed.
const RESERVED: &[&str] = &[
    "host",
    "Host",
    "HOST",
    "connection",
    "Connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "transfer-encoding",
    "Transfer-Encoding",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
    "content-length",
    "Content-Length",
    "expect",
    // Headers that the host sets or never sends, and headers that redirect a request behind its server.
    "accept-encoding",
    "referer",
    "proxy-anything",
    "x-http-method-override",
    "x-original-url",
    "x-forwarded-host",
    // Spellings that a server may read as one of these headers.
    "content_length",
    "transfer_encoding",
    "transfer.encoding",
    "proxy_authorization",
    "x_http_method_override",
    "X_HTTP_Method_Override",
    "x_forwarded_host",
    "x.forwarded.host",
    // Headers that a guest can set only if the policy lists them.
    "authorization",
    "Authorization",
    "forwarded",
    "x-host",
    "x-original-host",
    "x_rewrite_url",
    "x-forwarded-for",
    "x-envoy-original-path",
    "x-override-url",
];

/// A request path must be a path: no URL, no asterisk, nothing that contains another host.
#[tokio::test]
async fn n12_absolute_and_other_forms_of_a_path_are_rejected() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    for path in [
        "http://internal/",
        "http://internal",
        "https://good.test/",
        "HTTP://internal/",
        "*",
        "x",
        "x/y",
        "internal:80",
        "@evil.test/",
        ":80/",
        "?",
        "#",
        "//evil.test/",
        "/\\evil.test/",
        "\\evil.test",
        " /",
        "/ ",
        "/a b",
        "/\t",
        "/\r\nx: y",
        "/ HTTP/1.1\r\nhost: evil.test\r\n\r\nGET /",
        "/\u{7f}",
        "/é",
        "/\u{0}",
        "/<>",
        "/a#b",
    ] {
        let result = lab.one(to("good.test", &server, path)).await;
        if result["status"] == Value::Null {
            denied(&result);
        } else {
            panic!("{path:?} came to {result}, and the server saw {:?}", server.texts());
        }
    }
    server.saw_nothing();
    let missing = json!({ "client": "api", "authority": format!("good.test:{}", server.port()) });
    let result = lab.one(missing).await;
    if result["status"] == Value::Null {
        denied(&result);
    } else {
        assert!(server.texts()[0].starts_with("GET / HTTP/1.1\r\n"), "{:?}", server.texts());
    }
    answered(&lab.one(to("good.test", &server, "/a?b=c%20d")).await, 200);
    assert!(server.texts().last().unwrap().starts_with("GET /a?b=c%20d HTTP/1.1\r\n"), "{:?}", server.texts());
}

/// There is one Host header, and it is the host that was checked.
#[tokio::test]
async fn n13_the_host_sets_the_host_header() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for name in ["host", "Host", "HOST", "hOsT"] {
        for value in ["evil.test", "good.test", ""] {
            denied(&lab.one(with(request.clone(), &json!({ "headers": [[name, value]] }))).await);
        }
    }
    denied(&lab.one(with(request.clone(), &json!({ "headers": [["host", "a"], ["host", "b"]] }))).await);
    denied(&lab.one(with(request.clone(), &json!({ "headers": [["host ", "a"]] }))).await);
    denied(&lab.one(with(request.clone(), &json!({ "headers": [[":authority", "evil.test"]] }))).await);
    server.saw_nothing();
    answered(&lab.one(request).await, 200);
    let text = server.texts().remove(0).to_ascii_lowercase();
    assert_eq!(text.matches("\r\nhost:").count(), 1, "{text}");
    assert!(text.contains(&format!("\r\nhost: good.test:{}\r\n", server.port())), "{text}");
}

/// Headers about the connection are not the guest's to set.
#[tokio::test]
async fn n22_reserved_headers_are_rejected() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for name in RESERVED {
        for value in ["close", "chunked", "websocket", "5"] {
            let result = lab.one(with(request.clone(), &json!({ "headers": [[name, value]] }))).await;
            // A length may be set if it is the body's own length. There is no body here, so the request is never
            // complete.
            let length = name.eq_ignore_ascii_case("content-length");
            assert!(is_denied(&result) || (length && result["status"].is_null()), "{name}: {value} returned {result}");
        }
    }
    assert_eq!(server.seen().requests.len(), 0, "{:?}", server.texts());
    answered(&lab.one(with(request, &json!({ "headers": [["x-good", "yes"]] }))).await, 200);
    assert!(server.texts()[0].contains("x-good: yes\r\n"), "{:?}", server.texts());
}

/// Only the granted methods work, and never one that turns a connection into something else.
#[tokio::test]
async fn n22_other_methods_are_denied() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for method in [
        "CONNECT", "TRACE", "OPTIONS", "PATCH", "get", "Get", "PROPFIND", "PRI", "GET ", " GET", "GET\r\n", "GET /x",
        "", "GÉT",
    ] {
        let result = lab.one(with(request.clone(), &json!({ "method": method }))).await;
        denied(&result);
    }
    server.saw_nothing();
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE"] {
        answered(&lab.one(with(request.clone(), &json!({ "method": method }))).await, 200);
    }
    let said: Vec<_> = server.texts().iter().map(|text| text.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(said, ["GET", "HEAD", "POST", "PUT", "DELETE"]);
}

/// No policy can grant a method that makes a tunnel.
#[tokio::test]
async fn n22_a_policy_cannot_grant_a_tunnel() {
    let server = Server::plain(Behaviour::ok());
    for method in ["CONNECT", "TRACE"] {
        let grant = Grant::to(&["good.test"], &server).set("methods", &format!("[{method:?}]"));
        let plan = crate::network::lab::Plan::new().await.grant("api", grant);
        let policy = plan.policy();
        if portcullis::policy::Policy::parse(&policy).is_err() {
            continue;
        }
        let lab = plan.open().await;
        lab.dns.point("good.test", &["127.0.0.1"]);
        denied(&lab.one(with(to("good.test", &server, "/"), &json!({ "method": method }))).await);
    }
    server.saw_nothing();
}

/// If a grant lists header slots, no other header is sent.
#[tokio::test]
async fn n22_only_granted_header_slots_are_sent() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("headers", "[\"accept\", \"x-mine\"]")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let request = to("good.test", &server, "/");
    for name in ["x-other", "accept-language", "cookie", "authorization", "x-mine2", "x-min"] {
        denied(&lab.one(with(request.clone(), &json!({ "headers": [[name, "v"]] }))).await);
        denied(&lab.one(with(request.clone(), &json!({ "headers": [["accept", "a"], [name, "v"]] }))).await);
    }
    server.saw_nothing();
    let good = json!({ "headers": [["Accept", "text/plain"], ["x-mine", "v"]] });
    answered(&lab.one(with(request, &good)).await, 200);
    let text = server.texts().remove(0);
    assert!(text.contains("accept: text/plain\r\n") && text.contains("x-mine: v\r\n"), "{text}");
    assert!(!text.to_ascii_lowercase().contains("cookie"), "{text}");
}

/// The host adds no header that identifies it, and keeps no cookie.
#[tokio::test]
async fn n22_the_host_adds_no_headers() {
    let answer = Behaviour::whole(200, &[("set-cookie", "a=b; Path=/")], "ok");
    let server = Server::plain(Behaviour::answer(move |_| answer.clone()));
    let lab = Lab::good(&server).await;
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    for text in server.texts() {
        let names: Vec<_> =
            text.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
        let known = ["host", "accept-encoding", "connection", "user-agent", "accept"];
        assert!(names.iter().all(|name| known.contains(name)), "{text}");
    }
}
