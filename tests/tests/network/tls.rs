//! Which certificates TLS trusts. N34, and N13 for the TLS server name.

use crate::network::lab::{Grant, Lab, Plan, answered, denied, failed, to, with};
use portcullis_tests::net::{Authority, Behaviour, Server};
use rustls::ServerConfig;
use serde_json::{Value, json};
use std::sync::LazyLock;

static GOOD: LazyLock<Authority> = LazyLock::new(|| Authority::new("good"));

fn secure(name: &str, server: &Server) -> Value {
    with(to(name, server, "/"), &json!({ "scheme": "https" }))
}

/// Opens a host that trusts `GOOD` and reaches `good.test` at a server.
async fn lab(server: &Server) -> Lab {
    let grant = Grant::tls(&["good.test", "127.0.0.1"], server);
    let lab = Plan::new().await.file("roots.pem", &GOOD.pem()).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab
}

/// Asserts that a server with this behaviour gets no request.
async fn refused(config: ServerConfig) -> String {
    let server = Server::tls(config, Behaviour::ok());
    let lab = lab(&server).await;
    let result = lab.one(secure("good.test", &server)).await;
    let error = failed(&result).to_owned();
    assert!(error.starts_with("Tls"), "{error}");
    assert_eq!(server.seen().requests.len(), 0);
    assert!(!server.seen().heard(b"GET"));
    error
}

#[tokio::test]
async fn n34_a_good_certificate_is_accepted() {
    let server = Server::tls(GOOD.serves(&["good.test"]), Behaviour::ok());
    let lab = lab(&server).await;
    answered(&lab.one(secure("good.test", &server)).await, 200);
    let seen = server.seen();
    // The TLS server name and the Host header are the name that was checked.
    assert_eq!(seen.names, [Some("good.test".to_owned())]);
    assert!(seen.texts()[0].contains(&format!("host: good.test:{}\r\n", server.port())));
}

#[tokio::test]
async fn n34_an_address_needs_a_certificate_for_it() {
    let server = Server::tls(GOOD.serves(&["127.0.0.1"]), Behaviour::ok());
    let lab = lab(&server).await;
    answered(&lab.one(secure("127.0.0.1", &server)).await, 200);
    failed(&lab.one(secure("good.test", &server)).await);
    assert_eq!(server.seen().requests.len(), 1);
}

#[tokio::test]
async fn n34_a_self_signed_certificate_is_rejected() {
    refused(Authority::nobody_serves(&["good.test"])).await;
}

#[tokio::test]
async fn n34_an_expired_certificate_is_rejected() {
    refused(GOOD.served(&["good.test"])).await;
}

#[tokio::test]
async fn n34_a_certificate_that_is_not_valid_yet_is_rejected() {
    refused(GOOD.will_serve(&["good.test"])).await;
}

#[tokio::test]
async fn n34_a_certificate_for_another_name_is_rejected() {
    refused(GOOD.serves(&["other.test", "*.good.test", "good.test.evil.test"])).await;
}

#[tokio::test]
async fn n34_a_certificate_of_another_authority_is_rejected() {
    refused(Authority::new("good").serves(&["good.test"])).await;
}

/// The built-in roots do not trust the test server. A policy's roots replace the built-in ones.
#[tokio::test]
async fn n34_without_its_own_roots_a_grant_trusts_no_test_server() {
    let server = Server::tls(GOOD.serves(&["good.test"]), Behaviour::ok());
    let lab = Lab::open(Grant::tls(&["good.test"], &server).without("roots")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    failed(&lab.one(secure("good.test", &server)).await);
    assert_eq!(server.seen().requests.len(), 0);
}

/// Versions before 1.2: a hello of TLS 1.0 and 1.1, and the alert of a server that supports nothing newer.
#[tokio::test]
async fn n34_old_versions_are_rejected() {
    for version in [1, 2] {
        let mut hello = vec![3, version];
        hello.extend([7; 32]);
        // No session, TLS_RSA_WITH_AES_128_CBC_SHA, no compression.
        hello.extend([0, 0, 0x2f, 0]);
        let length = u8::try_from(hello.len()).unwrap();
        let message = [&[2, 0, 0, length][..], &hello].concat();
        let record = [&[22, 3, version, 0, length + 4][..], &message].concat();
        no_request(Behaviour::Blurt(record)).await;
    }
    // The alert protocol_version, fatal.
    no_request(Behaviour::Blurt(vec![21, 3, 1, 0, 2, 2, 70])).await;
}

/// A server that does not speak TLS, or sends nothing.
#[tokio::test]
async fn n34_there_is_no_downgrade_to_plain_http() {
    no_request(Behaviour::Blurt(Behaviour::whole(200, &[], "ok"))).await;
    no_request(Behaviour::Blurt(b"HTTP/1.1 301 Moved\r\nlocation: http://good.test/\r\n\r\n".to_vec())).await;
    no_request(Behaviour::Reset).await;
}

async fn no_request(behaviour: Behaviour) {
    let server = Server::plain(behaviour);
    let lab = lab(&server).await;
    failed(&lab.one(secure("good.test", &server)).await);
    let seen = server.seen();
    assert!(seen.connections <= 2, "there were {} attempts", seen.connections);
    assert!(!seen.heard(b"HTTP/1.1") && !seen.heard(b"good.test:"), "plain text was sent");
}

/// A grant of https does not allow http at the same port.
#[tokio::test]
async fn n34_plain_requests_are_denied_under_an_https_grant() {
    let server = Server::tls(GOOD.serves(&["good.test"]), Behaviour::ok());
    let lab = lab(&server).await;
    denied(&lab.one(to("good.test", &server, "/")).await);
    server.saw_nothing();
}

/// Missing or invalid roots make the policy or the call fail. They never mean the built-in roots.
#[tokio::test]
async fn n34_bad_roots_are_errors() {
    let server = Server::tls(GOOD.serves(&["good.test"]), Behaviour::ok());
    for text in
        [None, Some(""), Some("nothing"), Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")]
    {
        let mut plan = Plan::new().await.grant("api", Grant::tls(&["good.test"], &server));
        if let Some(text) = text {
            plan = plan.file("roots.pem", text);
        }
        let Ok(host) = plan.site.builder(&plan.policy()).open().await else { continue };
        plan.dns.point("good.test", &["127.0.0.1"]);
        let arguments = json!({ "errands": [secure("good.test", &server)] }).to_string();
        let reply = host.call(portcullis::Request::new("courier.send", arguments)).await;
        if reply.code == portcullis::Code::Completed {
            failed(&crate::network::lab::values(&reply)[0]);
        }
    }
    assert_eq!(server.seen().requests.len(), 0);
}
