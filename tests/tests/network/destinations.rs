//! The hosts, ports, schemes and paths that a grant allows. N01, N15 to N19, N32.

use crate::network::lab::{Grant, Lab, Plan, answered, denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// Without a grant, a plugin that imports `wasi:http` runs, but sends no byte.
#[tokio::test]
async fn n01_without_a_grant_nothing_leaves() {
    let server = Server::plain(Behaviour::ok());
    let lab = Plan::new().await.open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let request = to("good.test", &server, "/");
    let results = lab
        .send(vec![
            with(request.clone(), &json!({ "client": "default" })),
            with(to("127.0.0.1", &server, "/"), &json!({ "client": "default" })),
            request.clone(),
            json!({ "op": "open", "client": "api" }),
            json!({ "op": "open", "client": "nothing" }),
            json!({ "op": "has-secret", "client": "api" }),
            json!({ "op": "names-host", "client": "api", "authority": "https://good.test/" }),
        ])
        .await;
    let errors: Vec<_> = results.iter().map(|result| result["error"].as_str().unwrap_or_default()).collect();
    assert_eq!(errors[..2], ["HttpRequestDenied"; 2]);
    for (index, kind) in ["not-granted", "not-granted", "unknown-key", "not-granted", "not-granted"].iter().enumerate()
    {
        assert_eq!(errors[index + 2], *kind, "{index}");
    }
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());

    // With a grant, the same requests arrive.
    let lab = Lab::good(&server).await;
    answered(&lab.one(request.clone()).await, 200);
    answered(&lab.one(with(request, &json!({ "client": "default" }))).await, 200);
    assert_eq!(server.seen().requests.len(), 2);
}

/// A tool that does not declare the network permission has no network, whatever the policy binds.
#[tokio::test]
async fn n01_a_tool_without_the_permission_has_no_network() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    let default = with(request.clone(), &json!({ "client": "default" }));
    let results = lab.send_as("courier.idle", vec![request, default]).await;
    assert_eq!(results[0]["error"], "not-granted");
    assert_eq!(results[1]["error"], "HttpRequestDenied");
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
}

/// An upper-case host or a trailing dot is the same host, or an error. The server gets the canonical form.
#[tokio::test]
async fn n15_a_host_has_one_form() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    for name in ["good.test.", "GOOD.test", "good.TEST."] {
        let result = lab.one(to(name, &server, "/")).await;
        if result["status"] == Value::Null {
            denied(&result);
        }
    }
    for name in ["evil.test.", "EVIL.test", "good..test", ".good.test", "good.test..", "good.test.evil.test."] {
        denied(&lab.one(to(name, &server, "/")).await);
    }
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    for text in server.texts() {
        assert!(text.contains(&format!("host: good.test:{}\r\n", server.port())), "{text}");
    }
    assert!(lab.dns.asked().iter().all(|name| name == "good.test"), "{:?}", lab.dns.asked());
}

/// The grant includes the port.
#[tokio::test]
async fn n16_other_ports_are_denied() {
    let (server, other) = (Server::plain(Behaviour::ok()), Server::plain(Behaviour::ok()));
    let lab = Lab::good(&server).await;
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
    denied(&lab.one(to("good.test", &other, "/")).await);
    let port = server.port();
    for authority in [
        "good.test".to_owned(),
        "good.test:".to_owned(),
        "good.test:0".to_owned(),
        "good.test:65536".to_owned(),
        format!("good.test:0{port}"),
        format!("good.test:+{port}"),
        format!("good.test:{port} "),
        format!("good.test: {port}"),
        format!("good.test:{port}:{port}"),
        format!("good.test:{}", u32::from(port) + 65536),
        "good.test:6379".to_owned(),
        "good.test:2375".to_owned(),
        "good.test:22".to_owned(),
    ] {
        let result = lab.one(json!({ "client": "api", "authority": authority, "path": "/" })).await;
        denied(&result);
    }
    other.saw_nothing();
    assert_eq!(server.seen().connections, 1);
}

/// The default port is 443, and the default scheme is https.
#[tokio::test]
async fn n16_n17_the_default_is_https_on_443() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).without("ports").without("schemes")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    denied(&lab.one(to("good.test", &server, "/")).await);
    denied(&lab.one(with(to("good.test", &server, "/"), &json!({ "scheme": "https" }))).await);
    denied(&lab.one(json!({ "client": "api", "authority": "good.test", "path": "/" })).await);
    denied(&lab.one(json!({ "client": "api", "authority": "good.test:443", "path": "/" })).await);
    server.saw_nothing();
}

/// Schemes that are not granted, or that are not HTTP.
#[tokio::test]
async fn n17_other_schemes_are_denied() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let request = to("good.test", &server, "/");
    for scheme in [
        "https",
        "HTTP",
        "hTTp",
        "ws",
        "wss",
        "file",
        "ftp",
        "gopher",
        "data",
        "unix",
        "http+unix",
        "",
        "http:",
        "h2c",
        "*",
    ] {
        let result = lab.one(with(request.clone(), &json!({ "scheme": scheme }))).await;
        // Without a scheme, WASI lets the host choose, and this host never chooses http.
        denied(&result);
    }
    server.saw_nothing();
    answered(&lab.one(request).await, 200);

    let lab = Lab::open(Grant::to(&["good.test"], &server).set("schemes", "[\"https\"]")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    denied(&lab.one(to("good.test", &server, "/")).await);
    assert_eq!(server.connections(), 1);
}

/// A wildcard matches one label.
#[tokio::test]
async fn n18_a_wildcard_matches_one_label() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["*.good.example"], &server)).await;
    let refused = [
        "good.example",
        "a.b.good.example",
        "evilgood.example",
        "good.example.evil.test",
        "a.good.example.evil.test",
        "*.good.example",
        ".good.example",
        "a..good.example",
        "-.good.example",
        "agood.example",
        "a.good.examples",
        "a.good-example",
        "a_good.example",
    ];
    for name in refused.into_iter().chain(["a.good.example", "xn--a.evil.test"]) {
        lab.dns.point(name, &["127.0.0.1"]);
    }
    for name in refused {
        denied(&lab.one(to(name, &server, "/")).await);
    }
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
    answered(&lab.one(to("a.good.example", &server, "/")).await, 200);
}

/// A policy cannot grant a suffix under which many owners have hosts.
#[tokio::test]
async fn n18_wildcards_over_many_owners_are_rejected() {
    let server = Server::plain(Behaviour::ok());
    for host in ["*", "*.com", "*.co.uk", "*.github.io", "a*.good.example", "good.*", "*.*.example", "**.example.com"] {
        let plan = Plan::new().await.grant("api", Grant::to(&[host], &server));
        let policy = plan.policy();
        assert!(portcullis::policy::Policy::parse(&policy).is_err(), "{host}");
    }
}

/// A path prefix is checked against the path that the server parses.
#[tokio::test]
async fn n19_path_prefixes_are_enforced() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("paths", "[\"/v1/\"]")).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    for path in [
        "/",
        "/v10",
        "/v1x/",
        "/admin",
        "/V1/a",
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/%2E%2E/admin",
        "/v1/.%2e/admin",
        "/v1/..",
        "/v1/..;/admin",
        "/v1/..%2fadmin",
        "/v1/%2e%2e%2fadmin",
        "/v1/..%5cadmin",
        "/v1/..\\admin",
        "/v1%2f../admin",
        "/v1/x/../../admin",
        "/./admin",
        "//v1/a",
        "/%76%31/../admin",
        "//admin",
        "/v1/./../admin",
        "/v1/%252e%252e/%2e%2e/admin",
        "/v1/..%00/admin",
        "/v1/\u{0}/a",
        "/v1/..%c0%af/../admin",
        "/?/v1/",
        "/admin?x=/v1/",
        "/admin#/v1/",
        "v1/a",
        "",
    ] {
        denied(&lab.one(to("good.test", &server, path)).await);
    }
    server.saw_nothing();
    for path in ["/v1", "/v1/a", "/v1/a?b=../c", "/v1/a;b"] {
        answered(&lab.one(to("good.test", &server, path)).await, 200);
    }
    let lines: Vec<_> = server.texts().iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["GET /v1 HTTP/1.1", "GET /v1/a HTTP/1.1", "GET /v1/a?b=../c HTTP/1.1", "GET /v1/a;b HTTP/1.1"]);
}

/// A name that is not granted is not resolved: a label could carry a secret out.
#[tokio::test]
async fn n32_only_granted_names_are_resolved() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let mut errands = Vec::new();
    for name in ["c2vjcmv0.evil.test", "good.test.evil.test", "secret.good.test", "evil.test", "localhost", "c2vjcmv0"]
    {
        for client in ["api", "default"] {
            for method in ["GET", "POST", "CONNECT"] {
                let fields = json!({ "client": client, "method": method, "body": "secret" });
                errands.push(with(to(name, &server, "/"), &fields));
            }
        }
        let url = format!("http://{name}/");
        errands.push(json!({ "op": "names-host", "client": "api", "authority": url }));
    }
    errands.push(to("good.test", &server, "/"));
    let results = lab.send(errands).await;
    answered(results.last().unwrap(), 200);
    assert!(!lab.dns.asked().is_empty());
    assert!(lab.dns.asked().iter().all(|name| name == "good.test"), "{:?}", lab.dns.asked());
}

/// Whether a policy names a host is answered only for the plugin's own keys, without a DNS query.
#[tokio::test]
async fn n32_checking_a_host_name_sends_no_query() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    let asked = |key: &str, url: &str| json!({ "op": "names-host", "client": key, "authority": url });
    let results = lab
        .send(vec![
            asked("api", "http://good.test/"),
            asked("api", "https://GOOD.test:8443/a?b#c"),
            asked("api", "http://evil.test/"),
            asked("api", "http://good.test@evil.test/"),
            asked("api", "http://good.test.evil.test/"),
            asked("api", "http://127.0.0.1/"),
            asked("api", "no URL"),
            asked("other", "http://good.test/"),
            asked("x", "http://good.test/"),
        ])
        .await;
    let named: Vec<_> = results.iter().map(|result| result["ok"].as_bool().unwrap_or(false)).collect();
    assert_eq!(named, [true, true, false, false, false, false, false, false, false], "{results:?}");
    assert_eq!((&results[7]["error"], &results[8]["error"]), (&json!("not-granted"), &json!("unknown-key")));
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
}
