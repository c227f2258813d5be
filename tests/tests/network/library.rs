//! An ordinary Rust HTTP library in a guest, which does not know this host: `wstd`.

use crate::network::lab::{Grant, Lab, Plan};
use portcullis::{Code, Output};
use portcullis_tests::net::{Authority, Behaviour, Server};
use serde_json::{Value, json};

/// Calls the tool that uses the library.
async fn fetch(lab: &Lab, arguments: Value) -> Result<Value, String> {
    let reply = lab.call("courier.fetch", &arguments).await;
    match (reply.code, reply.output) {
        (Code::Completed, Some(Output::Json(text))) => Ok(serde_json::from_str(&text).unwrap()),
        _ => Err(reply.message),
    }
}

#[tokio::test]
async fn a_page_is_fetched() {
    let server = Server::plain(Behaviour::answer(|_| Behaviour::whole(200, &[], "a page")));
    let lab = Lab::good(&server).await;
    let url = format!("http://good.test:{}/page?x=1", server.port());
    let page = fetch(&lab, json!({ "url": url, "headers": [["accept", "text/plain"]] })).await;
    assert_eq!(page, Ok(json!({ "status": 200, "body": "a page" })));
    let text = server.texts().remove(0);
    assert!(text.starts_with("GET /page?x=1 HTTP/1.1\r\n") && text.contains("accept: text/plain\r\n"), "{text}");
}

#[tokio::test]
async fn a_form_is_posted() {
    let server = Server::plain(Behaviour::answer(|request| {
        let at = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        Behaviour::whole(201, &[], &request[at + 4..])
    }));
    let lab = Lab::good(&server).await;
    let url = format!("http://good.test:{}/form", server.port());
    let page = fetch(&lab, json!({ "url": url, "post": "name=Ann" })).await.unwrap();
    assert_eq!(page["status"], 201);
    assert!(page["body"].as_str().unwrap().contains("name=Ann"), "{page}");
}

#[tokio::test]
async fn a_page_is_fetched_through_tls() {
    let authority = Authority::new("good");
    let server = Server::tls(authority.serves(&["good.test"]), Behaviour::ok());
    let grant = Grant::tls(&["good.test"], &server);
    let lab = Plan::new().await.file("roots.pem", &authority.pem()).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let page = fetch(&lab, json!({ "url": format!("https://good.test:{}/", server.port()) })).await;
    assert_eq!(page, Ok(json!({ "status": 200, "body": "ok" })));
}

#[tokio::test]
async fn a_denied_request_is_an_error_of_the_library() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    for url in [format!("http://evil.test:{}/", server.port()), format!("http://127.0.0.1:{}/", server.port())] {
        assert!(fetch(&lab, json!({ "url": url })).await.is_err());
    }
    let lab = Plan::new().await.open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    assert!(fetch(&lab, json!({ "url": format!("http://good.test:{}/", server.port()) })).await.is_err());
    server.saw_nothing();
}
