//! Where a secret is sent: to its destination, in its slot, and nowhere else. X01, X04, X05, X08, X09, X12.

use crate::network::lab::{Grant, Lab, Plan, answered, denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// The secret, which only the server may see.
const SECRET: &str = "tok-8c1f0a5e9d7b4326";

const BEARER: &str =
    "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";

/// Opens a host whose plugin reaches `good.test` and `other.test`, with this secret for the first.
async fn lab(server: &Server, secret: &str) -> Lab {
    let grant = Grant::to(&["good.test", "other.test"], server).set("secret", secret);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    for name in ["good.test", "other.test"] {
        lab.dns.point(name, &["127.0.0.1"]);
    }
    lab
}

#[tokio::test]
async fn x01_a_secret_is_sent_only_to_its_host() {
    let server = Server::plain(Behaviour::ok());
    let lab = lab(&server, BEARER).await;
    answered(&lab.one(to("other.test", &server, "/")).await, 200);
    assert!(!server.seen().heard(SECRET.as_bytes()), "{:?}", server.texts());
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    let text = server.texts().remove(1);
    assert!(text.contains(&format!("\r\nauthorization: Bearer {SECRET}\r\n")), "{text}");
    assert_eq!(text.matches(SECRET).count(), 1);
}

/// Each slot puts the secret where it belongs, and the guest does not see it.
#[tokio::test]
async fn x01_each_slot() {
    let basic = "YW5uOnRvay04YzFmMGE1ZTlkN2I0MzI2";
    for (slot, expected) in [
        ("header = \"x-key\", value = \"{}\"", format!("\r\nx-key: {SECRET}\r\n")),
        ("header = \"authorization\", value = \"token {} x\"", format!("\r\nauthorization: token {SECRET} x\r\n")),
        ("basic = \"ann\"", format!("\r\nauthorization: Basic {basic}\r\n")),
        ("query = \"api_key\"", format!("GET /a?b=c&api_key={SECRET} HTTP/1.1\r\n")),
    ] {
        let server = Server::plain(Behaviour::ok());
        let lab = lab(&server, &format!("{{ host = \"good.test\", {slot}, from = \"file:token\" }}")).await;
        let result = lab.one(to("good.test", &server, "/a?b=c")).await;
        answered(&result, 200);
        assert!(!result.to_string().contains(SECRET), "{result}");
        assert!(server.texts()[0].contains(&expected), "{slot}: {:?}", server.texts());
        answered(&lab.one(to("other.test", &server, "/a?b=c")).await, 200);
        let text = server.texts().remove(1);
        assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\n") && !text.contains(SECRET), "{text}");
    }
}

/// The output of a command that runs without a shell.
#[tokio::test]
async fn x01_a_secret_can_be_the_output_of_a_command() {
    let server = Server::plain(Behaviour::ok());
    let from = format!("{{ command = [\"printf\", \"%s\\\\n\", \"{SECRET}\"] }}");
    let secret = format!("{{ host = \"good.test\", header = \"x-key\", value = \"{{}}\", from = {from} }}");
    let lab = lab(&server, &secret).await;
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    assert!(server.texts()[0].contains(&format!("\r\nx-key: {SECRET}\r\n")), "{:?}", server.texts());
}

/// The slot belongs to the host: a request in which the guest fills it is denied and not sent.
#[tokio::test]
async fn x04_a_guest_cannot_fill_the_slot() {
    let server = Server::plain(Behaviour::ok());
    let lab = lab(&server, BEARER).await;
    for name in ["authorization", "Authorization", "AUTHORIZATION"] {
        for target in ["good.test", "other.test"] {
            let result = lab.one(with(to(target, &server, "/"), &json!({ "headers": [[name, "Bearer mine"]] }))).await;
            denied(&result);
            let twice = json!({ "headers": [[name, "Bearer mine"], [name, "Bearer yours"]] });
            denied(&lab.one(with(to(target, &server, "/"), &twice)).await);
        }
        let late = json!({ "method": "POST", "body": "a", "trailers": [[name, "Bearer mine"]] });
        lab.one(with(to("good.test", &server, "/"), &late)).await;
    }
    assert!(!server.seen().heard(b"Bearer mine"), "{:?}", server.texts());
}

/// Servers may treat several spellings as the same header. G06.
#[tokio::test]
async fn x04_a_guest_cannot_fill_the_slot_in_an_equivalent_spelling() {
    let server = Server::plain(Behaviour::ok());
    let slot = "{ host = \"good.test\", header = \"x-api-key\", value = \"{}\", from = \"file:token\" }";
    let lab = lab(&server, slot).await;
    for name in ["x_api_key", "X_API_KEY", "x.api.key", "x-api_key", "x~api~key"] {
        denied(&lab.one(with(to("good.test", &server, "/"), &json!({ "headers": [[name, "mine"]] }))).await);
    }
    server.saw_nothing();
}

#[tokio::test]
async fn x04_a_guest_cannot_fill_the_parameter() {
    let server = Server::plain(Behaviour::ok());
    let lab = lab(&server, "{ host = \"good.test\", query = \"api_key\", from = \"file:token\" }").await;
    for query in [
        "api_key=mine",
        "a=b&api_key=mine",
        "api_key",
        "api%5Fkey=mine",
        "%61pi_key=mine",
        "api_key=mine&api_key=yours",
        "a=b;api_key=mine",
    ] {
        let result = lab.one(to("good.test", &server, &format!("/?{query}"))).await;
        if query.contains(';') && !result["status"].is_null() {
            continue;
        }
        denied(&result);
    }
    assert!(!server.texts().iter().any(|text| text.contains("api_key=mine&") && !text.contains(';')));
    answered(&lab.one(to("good.test", &server, "/?api_keys=mine")).await, 200);
}

/// Basic authentication also uses the slot `authorization`.
#[tokio::test]
async fn x04_a_guest_cannot_fill_the_slot_of_basic() {
    let server = Server::plain(Behaviour::ok());
    let lab = lab(&server, "{ host = \"good.test\", basic = \"ann\", from = \"file:token\" }").await;
    denied(&lab.one(with(to("good.test", &server, "/"), &json!({ "headers": [["authorization", "Basic x"]] }))).await);
    server.saw_nothing();
}

/// A text that would end a header is not a valid secret, and no request is sent without one.
#[tokio::test]
async fn x05_secrets_that_would_end_a_header_are_rejected() {
    for text in [
        "a\r\nx-smuggled: yes",
        "a\nb",
        "a\rb",
        "a\0b",
        "",
        "\n",
        "\r\n",
        "a\u{7f}b",
        "tok\u{e9}n",
        "a\tb\r\n\r\nGET /",
    ] {
        let server = Server::plain(Behaviour::ok());
        for slot in ["header = \"x-key\", value = \"{}\"", "basic = \"ann\"", "query = \"key\""] {
            let secret = format!("{{ host = \"good.test\", {slot}, from = \"file:token\" }}");
            let grant = Grant::to(&["good.test"], &server).set("secret", &secret);
            let lab = Plan::new().await.file("token", text).grant("api", grant).open().await;
            lab.dns.point("good.test", &["127.0.0.1"]);
            let result = lab.one(to("good.test", &server, "/")).await;
            assert_eq!(result["status"], Value::Null, "{text:?} in {slot}: {result} {:?}", server.texts());
        }
        server.saw_nothing();
    }
}

/// Editors end a file with a line feed, so one is removed.
#[tokio::test]
async fn x05_a_line_feed_at_the_end_is_not_part_of_the_secret() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["good.test"], &server).set("secret", BEARER);
    let lab = Plan::new().await.file("token", &format!("{SECRET}\n")).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    assert!(server.texts()[0].contains(&format!("Bearer {SECRET}\r\n")));
}

/// A secret is replaced while the host runs. If the new file cannot be used, the previous secret stays.
#[tokio::test]
async fn a_changed_secret_file_is_reloaded_and_a_broken_one_is_not() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["good.test"], &server).set("secret", BEARER);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let next = "another-secret-of-0123456789";
    let put = |text: &str| {
        std::fs::write(lab.site.path("token.new"), text).unwrap();
        std::fs::rename(lab.site.path("token.new"), lab.site.path("token")).unwrap();
    };
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    put(next);
    assert!(lab.host.reload().await.unwrap().policy.is_some());
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    put("short");
    let fault = lab.host.reload().await.unwrap().policy_fault.unwrap();
    assert!(fault.contains("too short") && !fault.contains("token"), "{fault}");
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    let texts = server.texts();
    assert!(texts[0].contains(&format!("Bearer {SECRET}\r\n")), "{texts:?}");
    assert!(texts[1..3].iter().all(|text| text.contains(&format!("Bearer {next}\r\n"))), "{texts:?}");
}

/// With a missing secret, nothing is sent, and the error does not say where the host looked for it.
#[tokio::test]
async fn x05_a_missing_secret_sends_nothing() {
    let server = Server::plain(Behaviour::ok());
    for from in [
        "\"file:nothing\"",
        "\"env:PORTCULLIS_TEST_NOTHING\"",
        "{ command = [\"false\"] }",
        "{ command = [\"no-such-program\"] }",
    ] {
        let secret = format!("{{ host = \"good.test\", header = \"x-key\", value = \"{{}}\", from = {from} }}");
        let lab = lab(&server, &secret).await;
        let result = lab.one(to("good.test", &server, "/")).await;
        assert_eq!(result["status"], Value::Null, "{from}: {result}");
    }
    assert!(!server.seen().heard(b"good.test"));
}

/// A guest can find out whether its own keys have a secret, and nothing else.
#[tokio::test]
async fn x08_existence_is_only_reported_for_declared_keys() {
    let server = Server::plain(Behaviour::ok());
    let with_secret = Grant::to(&["good.test"], &server).set("secret", BEARER);
    let plan = Plan::new().await.file("token", SECRET).grant("api", with_secret);
    let lab = plan.grant("other", Grant::to(&["good.test"], &server)).open().await;
    let asked = |key: &str| json!({ "op": "has-secret", "client": key });
    let keys = ["api", "other", "authorization", "token", "SECRET", "file:token", "GITHUB_TOKEN", "x", ""];
    let results = lab.send(keys.iter().map(|key| asked(key)).collect()).await;
    assert_eq!(results[0], json!({ "ok": true }));
    assert_eq!(results[1], json!({ "ok": false }));
    for result in &results[2..] {
        assert!(result["error"].as_str().is_some_and(|error| error == "unknown-key"), "{result}");
    }
    // The twin's manifest has the same keys, but its policy binds none of them.
    let twin = lab.send_as("drifter.send", vec![asked("api"), asked("other")]).await;
    assert!(twin.iter().all(|result| result["error"] == "not-granted"), "{twin:?}");
    server.saw_nothing();
}

/// A secret that cannot be read does not exist.
#[tokio::test]
async fn x08_a_missing_secret_does_not_exist() {
    let server = Server::plain(Behaviour::ok());
    let secret = "{ host = \"good.test\", header = \"x-key\", value = \"{}\", from = \"file:nothing\" }";
    let lab = lab(&server, secret).await;
    let result = lab.one(json!({ "op": "has-secret", "client": "api" })).await;
    assert!(result["ok"].is_boolean(), "{result}");
}

/// Neither another plugin with the same grant nor another key gets the secret.
#[tokio::test]
async fn x09_a_secret_belongs_to_one_key_of_one_plugin() {
    let server = Server::plain(Behaviour::ok());
    let plain = Grant::to(&["good.test"], &server);
    let plan = Plan::new().await.file("token", SECRET).grant("api", plain.clone().set("secret", BEARER));
    let lab = plan.grant("other", plain.clone()).grant_twin("api", plain).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let other = with(to("good.test", &server, "/"), &json!({ "client": "other" }));
    answered(&lab.one(other).await, 200);
    let twin = lab.send_as("drifter.send", vec![to("good.test", &server, "/")]).await;
    answered(&twin[0], 200);
    assert!(!server.seen().heard(SECRET.as_bytes()), "{:?}", server.texts());
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    assert!(server.seen().heard(SECRET.as_bytes()));
}

/// A policy that would send a secret where others can read it is rejected.
#[tokio::test]
async fn x12_a_secret_needs_one_safe_destination() {
    let server = Server::plain(Behaviour::ok());
    let good = || Grant::to(&["good.test"], &server).set("secret", BEARER);
    let two = format!("[{}, 80]", server.port());
    for (what, grant) in [
        ("a host that is not granted", good().set("hosts", "[\"other.test\"]")),
        (
            "a wildcard",
            good().set("hosts", "[\"*.good.example\"]").set("secret", &BEARER.replace("good.test", "*.good.example")),
        ),
        ("two ports", good().set("ports", &two)),
        ("two schemes", good().set("schemes", "[\"http\", \"https\"]")),
        ("in the clear to the world", good().without("addresses")),
        ("a granted slot", good().set("headers", "[\"authorization\"]")),
        ("two places", good().set("secret", &BEARER.replace("Bearer {}", "{} {}"))),
        ("no place", good().set("secret", &BEARER.replace("Bearer {}", "Bearer"))),
        ("a line end", good().set("secret", &BEARER.replace("Bearer {}", "{}\\r\\nx: y"))),
        ("the host header", good().set("secret", &BEARER.replace("authorization", "host"))),
    ] {
        let plan = Plan::new().await.grant("api", grant);
        let policy = plan.policy();
        assert!(portcullis::policy::Policy::parse(&policy).is_err(), "{what}\n{policy}");
    }
    let plan = Plan::new().await.grant("api", good());
    portcullis::policy::Policy::parse(&plan.policy()).unwrap();
}
