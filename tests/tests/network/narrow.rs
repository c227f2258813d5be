//! A client that is narrowed to an argument: one origin and one path of the grant.

use crate::network::lab::{Grant, Lab, answered, denied, to, values, with};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// Opens a host whose client is narrowed to the argument `url`.
async fn lab(server: &Server, other: &Server) -> Lab {
    let ports = format!("[{}, {}]", server.port(), other.port());
    let grant = Grant::to(&["good.test", "other.test"], server).set("ports", &ports).set("narrow", "\"/url\"");
    let lab = Lab::open(grant).await;
    for name in ["good.test", "other.test", "evil.test"] {
        lab.dns.point(name, &["127.0.0.1"]);
    }
    lab
}

async fn send(lab: &Lab, url: &str, errands: &[Value]) -> Vec<Value> {
    values(&lab.call("courier.send", &json!({ "url": url, "errands": errands })).await)
}

#[tokio::test]
async fn only_the_url_in_the_argument_is_reachable() {
    let (server, other) = (Server::plain(Behaviour::ok()), Server::plain(Behaviour::ok()));
    let lab = lab(&server, &other).await;
    let url = format!("http://good.test:{}/a/b?c=d", server.port());
    let errands = [
        to("good.test", &server, "/a/b?c=d"),
        to("good.test", &server, "/"),
        to("good.test", &server, "/a"),
        to("good.test", &server, "/a/"),
        to("good.test", &server, "/a/c"),
        to("good.test", &server, "/a/bc"),
        to("good.test", &server, "/a/b/../../x"),
        to("good.test", &server, "/a/b?c=e"),
        to("good.test", &server, "/a/b?c=d&e=f"),
        to("good.test", &other, "/a/b?c=d"),
        to("other.test", &server, "/a/b?c=d"),
        to("other.test", &other, "/a/b?c=d"),
        to("evil.test", &server, "/a/b?c=d"),
        with(to("good.test", &server, "/a/b?c=d"), &json!({ "scheme": "https" })),
    ];
    let results = send(&lab, &url, &errands).await;
    answered(&results[0], 200);
    results[1..].iter().for_each(denied);
    // Both routes to the client are narrowed.
    let defaults: Vec<_> = errands.iter().map(|errand| with(errand.clone(), &json!({ "client": "default" }))).collect();
    let results = send(&lab, &url, &defaults).await;
    answered(&results[0], 200);
    results[1..].iter().for_each(denied);
    other.saw_nothing();
    assert_eq!(server.seen().requests.len(), 2);
    assert!(lab.dns.asked().iter().all(|name| name == "good.test"), "{:?}", lab.dns.asked());
}

/// An argument that is not a URL, or not granted, gives no access.
#[tokio::test]
async fn an_argument_that_is_not_granted_narrows_to_nothing() {
    let (server, other) = (Server::plain(Behaviour::ok()), Server::plain(Behaviour::ok()));
    let lab = lab(&server, &other).await;
    let port = server.port();
    for url in [
        format!("http://evil.test:{port}/"),
        format!("https://good.test:{port}/"),
        format!("http://good.test:{port}@evil.test/"),
        format!("http://user@good.test:{port}/"),
        "http://good.test:1/".to_owned(),
        "good.test".to_owned(),
        "file:///etc/passwd".to_owned(),
        String::new(),
        "http://127.0.0.1/".to_owned(),
    ] {
        let errands = json!({ "url": url, "errands": [
            to("good.test", &server, "/"),
            to("evil.test", &server, "/"),
            with(to("good.test", &server, "/"), &json!({ "client": "default" })),
        ] });
        let reply = lab.call("courier.send", &errands).await;
        if reply.code == Code::Completed {
            values(&reply).iter().for_each(|result| nothing_came(&url, result));
        }
    }
    server.saw_nothing();
    other.saw_nothing();
    // A call without the optional argument names nothing, so its grant is not narrowed.
    let errands = json!({ "errands": [to("good.test", &server, "/"), to("evil.test", &server, "/")] });
    let results = values(&lab.call("courier.send", &errands).await);
    answered(&results[0], 200);
    denied(&results[1]);
}

#[track_caller]
fn nothing_came(url: &str, result: &Value) {
    assert!(result["status"].is_null() && result["error"].is_string(), "{url}: {result}");
}
