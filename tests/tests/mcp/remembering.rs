//! What a remembered approval covers, as chosen by a client's user.

use crate::asking::client::{Client, Era};
use crate::asking::office::Office;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

const FETCH: &str = "web__fetch";

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn serving() -> Server {
    let page = Behaviour::whole(200, &[("content-type", "text/plain")], "page");
    Server::plain(Behaviour::answer(move |_| page.clone()))
}

fn at(server: &Server, path: &str) -> Value {
    json!({ "url": format!("http://127.0.0.1:{}{path}", server.port()) })
}

/// Returns an approval for the session that covers the choice with this label.
fn session(covers: &str) -> Value {
    json!({ "action": "accept", "content": { "remember": "session", "covers": covers } })
}

#[tokio::test]
async fn an_elicited_approval_for_a_host_covers_its_pages_and_no_other_port() {
    let (server, other) = (serving(), serving());
    let office = Office::with_web(&[server.port(), other.port()]).await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    let call = client.begin_call(FETCH, at(&server, "/a?b")).await;
    let asked = client.asked().await;
    let host = format!("url = every path of http://127.0.0.1:{}", server.port());
    let path = format!("url = http://127.0.0.1:{}/a with any query", server.port());
    let choices = json!(["exactly these arguments", path, host]);
    assert_eq!(asked["params"]["requestedSchema"]["properties"]["covers"]["enum"], choices);
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(choices.as_array().unwrap().iter().all(|text| message.contains(text.as_str().unwrap())), "{message}");
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": session(&host) })).await;
    assert_ne!(client.response(call).await["isError"], true);

    let result = client.call(FETCH, at(&server, "/c")).await;
    assert_ne!(result["isError"], true, "{result}");
    let call = client.begin_call(FETCH, at(&other, "/c")).await;
    let asked = client.asked().await;
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } })).await;
    assert_eq!(client.response(call).await["isError"], true);
    assert_eq!((server.texts().len(), other.texts().len()), (2, 0));
}

#[tokio::test]
async fn an_approval_in_rounds_covers_its_choice_and_an_invalid_choice_denies() {
    let server = serving();
    let office = Office::with_web(&[server.port()]).await;
    let mut client = Client::open(&office.server, Era::Modern, forms()).await;
    for (covers, refused) in
        [("url = every path of http://127.0.0.1:1", true), ("url = http://127.0.0.1:PORT/a with any query", false)]
    {
        let covers = covers.replace("PORT", &server.port().to_string());
        let asked = client.call(FETCH, at(&server, "/a")).await;
        let key =
            asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}")).keys().next().unwrap().clone();
        let responses = json!({ key: session(&covers) });
        let result = client.retry(FETCH, at(&server, "/a"), &asked["requestState"], responses).await;
        assert_eq!(result["isError"] == true, refused, "{result}");
    }
    let result = client.call(FETCH, at(&server, "/a?more")).await;
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(client.call(FETCH, at(&server, "/b")).await["resultType"], "input_required");
    assert_eq!(server.texts().len(), 2);
}

/// A request without wider patterns shows no choice.
#[tokio::test]
async fn a_form_without_patterns_has_no_choice() {
    let office = Office::open().await;
    let mut client = Client::open(&office.server, Era::Legacy, forms()).await;
    client.begin_call("clerk__note", json!({ "text": "x" })).await;
    let asked = client.asked().await;
    assert_eq!(asked["params"]["requestedSchema"]["properties"].get("covers"), None, "{asked}");
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.ends_with("A remembered approval covers exactly these arguments."), "{message}");
}
