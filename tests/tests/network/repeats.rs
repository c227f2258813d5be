//! Secrets that come back elsewhere: in another call, from another host, through another client, or in another plugin.
//! G05.

use crate::network::encode::{clean_below, hex, redactions, unveiled};
use crate::network::lab::{Grant, Lab, Plan, answered, to, values, with};
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::outcome_of;
use serde_json::{Value, json};

const SECRET: &str = "Tok-8C1f0A5e9d7B4326";

/// The replacement of a secret.
const REDACTED: &str = "[redacted by Portcullis]";

/// Returns the binding of a secret that is sent to `good.test`.
fn secret(from: &str) -> String {
    format!("{{ host = \"good.test\", header = \"x-key\", value = \"{{}}\", from = {from} }}")
}

/// Returns a server that puts the secret into the body and headers of every response.
fn repeating() -> Server {
    Server::plain(Behaviour::answer(|_| {
        let location = format!("/?t={SECRET}");
        let hexadecimal = hex(SECRET);
        let headers = [("x-echo", SECRET), ("location", &location), ("x-hex", &hexadecimal), (SECRET, "name")];
        Behaviour::whole(200, &headers, format!("<{SECRET}>"))
    }))
}

/// Returns a lab with two plugins that reach two hosts. The first sends a secret to one of them, the second has no
/// secret.
async fn lab(server: &Server, from: &str) -> Lab {
    let plain = Grant::to(&["good.test", "other.test"], server);
    let plan = Plan::new().await.file("token", SECRET).grant("other", plain.clone());
    let plan = plan.grant_twin("api", plain.clone());
    let lab = plan.grant("api", plain.set("secret", &secret(from))).open().await;
    for name in ["good.test", "other.test"] {
        lab.dns.point(name, &["127.0.0.1"]);
    }
    lab
}

/// Asserts that the secret is neither in the body nor in the headers that the guest saw. The guest encodes them.
#[track_caller]
fn absent(result: &Value) {
    answered(result, 200);
    let result = unveiled(result.clone());
    assert_eq!(result["body"], format!("<{REDACTED}>"), "{result}");
    let text = result.to_string().to_ascii_lowercase();
    assert!(!text.contains(&SECRET.to_ascii_lowercase()) && !text.contains(&hex(SECRET)), "{result}");
}

fn veiled(errand: Value) -> Value {
    with(errand, &json!({ "veil": true }))
}

#[tokio::test]
async fn g05_a_secret_that_another_call_sent_is_removed_from_responses_of_other_hosts() {
    let server = repeating();
    let lab = lab(&server, "\"file:token\"").await;
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    assert!(server.seen().heard(SECRET.as_bytes()));
    absent(&lab.one(veiled(to("other.test", &server, "/"))).await);
    // Through a client without a secret.
    absent(&lab.one(with(veiled(to("other.test", &server, "/")), &json!({ "client": "other" }))).await);
}

/// Another process may have sent the secret. The host opens a plugin's secrets before the plugin receives a byte.
#[tokio::test]
async fn g05_a_secret_that_this_host_has_not_sent_is_removed_too() {
    let printed = format!("{{ command = [\"printf\", \"{SECRET}\"] }}");
    for from in ["\"file:token\"", &printed] {
        let server = repeating();
        let lab = lab(&server, from).await;
        absent(&lab.one(with(veiled(to("other.test", &server, "/")), &json!({ "client": "other" }))).await);
        assert!(!server.seen().heard(SECRET.as_bytes()), "{from}: the secret must not be sent");
    }
}

/// A missing secret does not stop a request to a host that does not get it.
#[tokio::test]
async fn g05_a_missing_secret_does_not_deny_other_requests() {
    let server = repeating();
    let lab = lab(&server, "{ command = [\"false\"] }").await;
    answered(&lab.one(to("other.test", &server, "/")).await, 200);
    assert_eq!(lab.one(to("good.test", &server, "/")).await["status"], Value::Null);
}

#[tokio::test]
async fn g05_a_call_without_network_cannot_output_the_secret_either() {
    let server = repeating();
    let lab = lab(&server, "\"file:token\"").await;
    let say = json!({ "op": "say", "authority": format!("the key is {SECRET}.") });
    let reply = lab.call("courier.idle", &json!({ "errands": [say] })).await;
    assert_eq!(values(&reply)[0]["said"], format!("the key is {REDACTED}."));
    assert_eq!(redactions(&outcome_of(&lab.host, &reply.id)), 1);
}

/// The results of another plugin, and the log, are searched for every secret that the host has opened.
#[tokio::test]
async fn g05_another_plugin_cannot_output_the_secret() {
    let server = repeating();
    let lab = lab(&server, "\"file:token\"").await;
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    let path = format!("/{SECRET}");
    let reply = lab.call("drifter.send", &json!({ "errands": [to("other.test", &server, &path)] })).await;
    let result = values(&reply).remove(0);
    answered(&result, 200);
    assert_eq!(result["body"], format!("<{REDACTED}>"));
    assert!(!format!("{reply:?}").contains(SECRET), "{reply:?}");
    let outcome = outcome_of(&lab.host, &reply.id);
    assert!(redactions(&outcome) >= 3 && !outcome["http"].to_string().contains(SECRET), "{outcome:?}");
}

/// A server chooses the coding's name, and an error could repeat it.
#[tokio::test]
async fn g05_an_error_does_not_repeat_an_unknown_coding() {
    let server = Server::plain(Behaviour::answer(|_| Behaviour::whole(200, &[("content-encoding", SECRET)], "x")));
    let lab = lab(&server, "\"file:token\"").await;
    let request = to("good.test", &server, "/");
    let reply = lab.call("courier.send", &json!({ "errands": [veiled(request)] })).await;
    let result = unveiled(values(&reply).remove(0));
    assert!(result["error"].is_string(), "{result}");
    let said = format!("{result} {:?}", outcome_of(&lab.host, &reply.id)).to_ascii_lowercase();
    assert!(!said.contains(&SECRET.to_ascii_lowercase()), "{said}");
}

#[tokio::test]
async fn g05_kept_outputs_and_the_log_contain_no_secret() {
    let server = repeating();
    let lab = lab(&server, "\"file:token\"").await;
    lab.one(to("good.test", &server, "/")).await;
    lab.send_as("drifter.send", vec![to("other.test", &server, "/"); 200]).await;
    assert!(clean_below(&lab.site.path(""), SECRET) > 1);
}
