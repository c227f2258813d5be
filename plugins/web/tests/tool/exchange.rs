//! Requests and redirects.

use std::cell::RefCell;
use std::rc::Rc;

use portcullis_plugin_web::PLUGIN;
use portcullis_sdk::http::{Method, Request};
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing::{self, Reply};

use crate::web::{Answer, PAGE, call};

/// Calls the tool with a server that redirects as this table says and answers everything else. Returns the answer and
/// the requested URLs.
fn walked(routes: &'static [(&str, &str)]) -> (Result<Answer, Failure>, Vec<String>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let noted = asked.clone();
    let result = call(json!({ "url": routes[0].0 }), move |request: &Request| {
        noted.borrow_mut().push(request.url().to_owned());
        Ok(match routes.iter().find(|(from, _)| *from == request.url()) {
            Some((_, to)) => Reply::new(302).header("location", *to),
            None => Reply::new(200).header("content-type", "text/plain").body("arrived"),
        })
    });
    let asked = asked.borrow().clone();
    (result, asked)
}

#[test]
fn a_request_has_an_accept_header_and_no_other() {
    let context = testing::Context::new().plays_server("fetch", |_| Ok(Reply::new(200).body("x")));
    testing::call(&PLUGIN, "fetch", json!({ "url": PAGE }), &context).unwrap();
    let sent = context.sent();
    let [request] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((request.method(), request.url(), request.content()), (Method::Get, PAGE, &b""[..]));
    assert_eq!(request.headers().map(|(name, _)| name).collect::<Vec<_>>(), ["accept"]);
    assert!(request.time_limit().is_some());
}

#[test]
fn redirects_on_the_host_are_followed_and_shown() {
    let (answer, asked) = walked(&[
        ("https://a.example/1", "/2"),
        ("https://a.example/2", "three"),
        ("https://a.example/three", "//a.example/4?x=1"),
    ]);
    let answer = answer.unwrap();
    assert_eq!(asked.len(), 4);
    assert!(
        answer.text.starts_with(
            "Redirected from: https://a.example/1\nthen from: https://a.example/2\nthen from: https://a.example/three\n\
         URL: https://a.example/4?x=1\n"
        ),
        "{}",
        answer.text
    );
    assert_eq!(answer.metadata["redirects"].as_array().unwrap().len(), 3);
    assert_eq!(answer.content(), "arrived\n");
}

#[test]
fn a_redirect_to_tls_on_the_same_host_is_followed() {
    let (answer, asked) = walked(&[("http://a.example/", "https://a.example/")]);
    assert_eq!(asked, ["http://a.example/", "https://a.example/"]);
    assert_eq!(answer.unwrap().content(), "arrived\n");
}

#[test]
fn a_redirect_to_another_origin_is_reported_and_not_followed() {
    for (from, to) in [
        ("https://a.example/", "https://b.example/"),
        ("https://a.example/", "https://www.a.example/"),
        ("https://a.example/", "http://a.example/"),
        ("https://a.example/", "https://a.example:8443/"),
        ("http://a.example:8080/", "https://a.example/"),
    ] {
        let reply = Reply::new(301).header("location", to);
        let context = testing::Context::new().plays_server("fetch", move |_| Ok(reply.clone()));
        let success = testing::call(&PLUGIN, "fetch", json!({ "url": from }), &context).unwrap();
        assert_eq!(context.sent().len(), 1, "{to}");
        let shown = format!("{:?}", success.output);
        assert!(shown.contains(&format!("{from} redirects to {to}")) && shown.contains("call `fetch`"), "{shown}");
        assert_eq!(success.metadata.unwrap()["leads_to"], json!(to));
    }
}

#[test]
fn a_redirect_that_the_policy_does_not_cover_is_reported() {
    let answer = call(json!({ "url": "https://a.example/1" }), |request| match request.url() {
        "https://a.example/1" => Ok(Reply::new(302).header("location", "/2")),
        _ => Err(Failure::denied("the call is narrowed to https://a.example/1")),
    });
    let text = answer.unwrap().text;
    assert!(text.starts_with("https://a.example/1 redirects to https://a.example/2\n"), "{text}");
    assert!(text.contains("the call is narrowed"), "{text}");
}

#[test]
fn a_refused_first_request_is_denied() {
    let failure = call(json!({ "url": PAGE }), |_| Err(Failure::denied("no"))).unwrap_err();
    assert_eq!(failure, Failure::denied("no"));
}

#[test]
fn redirect_loops_and_endless_redirects_are_stopped() {
    let (answer, asked) = walked(&[("https://a.example/1", "/2"), ("https://a.example/2", "/1#again")]);
    assert!(answer.unwrap_err().text().contains("redirect loop"));
    assert_eq!(asked.len(), 2);

    let answer = call(json!({ "url": "https://a.example/" }), |request| {
        Ok(Reply::new(307).header("location", format!("{}x", request.url())))
    });
    assert!(answer.unwrap_err().text().contains("more than 5 redirects"));
}

#[test]
fn a_redirect_to_an_unusable_url_is_an_error() {
    for to in ["javascript:alert(1)", "file:///etc/passwd", "https://user:secret@a.example/"] {
        let (reply, url) = (Reply::new(302).header("location", to), json!({ "url": "https://a.example/" }));
        let failure = call(url, move |_| Ok(reply.clone())).unwrap_err();
        assert!(failure.text().contains("redirects to an unusable URL"), "{to}: {failure}");
    }
}
