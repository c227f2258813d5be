//! The host name that a request uses for the server, and the origin of the page that sends it.

use crate::guard::ask::Answer;
use crate::guard::service::Service;

#[track_caller]
fn is_sealed(answer: &Answer) {
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
    let policy = Some("default-src 'none'; frame-ancestors 'none'");
    assert_eq!(answer.header("content-security-policy"), policy, "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
    assert!(!answer.has_header_like("access-control-"), "{answer:?}");
    assert!(!answer.has_header_like("set-cookie"), "{answer:?}");
}

#[tokio::test]
async fn a_request_with_a_foreign_host_name_is_rejected() {
    let service = Service::open().await;
    let port = service.address().port();
    let foreign = [
        "evil.com".to_owned(),
        format!("evil.com:{port}"),
        format!("127.0.0.1.evil.com:{port}"),
        format!("localhost.evil.com:{port}"),
        format!("evil.com@localhost:{port}"),
        format!("localhost:{port}@evil.com"),
        format!("localhost:{}", port ^ 1),
        "localhost".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("[::ffff:7f00:1]:{port}"),
        format!("localhost.:{port}"),
        String::new(),
    ];
    for host in &foreign {
        let answer = service.send(&service.list().having("Host", host)).await.is(403);
        is_sealed(&answer);
        assert!(host.is_empty() || !answer.body.contains(host.as_str()), "{answer:?}");
    }
    service.send(&service.list().without("Host")).await.is(403);
    service.send(&service.list().with("Host", "evil.com")).await.is(403);
    service.send(&service.list().with("Host", &format!("localhost:{port}"))).await.is(403);
    let mut absolute = service.list();
    absolute.line = absolute.line.replace("/mcp", "http://evil.com/mcp");
    service.send(&absolute).await.is(403);
    for own in [format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("127.0.0.1:{port}")] {
        is_sealed(&service.send(&service.list().having("Host", &own)).await.is(200));
    }
}

#[tokio::test]
async fn a_host_name_that_the_operator_adds_is_accepted() {
    let service = Service::with(|options| options.hosts = vec!["evil.com".parse().unwrap()]).await;
    service.send(&service.list().having("Host", "evil.com")).await.is(200);
    service.send(&service.list().having("Host", "evil.com:9")).await.is(200);
    service.send(&service.list().having("Host", "www.evil.com")).await.is(403);
}

#[tokio::test]
async fn only_pages_from_this_machine_may_call() {
    let service = Service::open().await;
    let foreign = [
        "null",
        "http://evil.com",
        "https://localhost",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com",
        "http://evil.com:80@localhost",
        "chrome-extension://abc",
        "file://",
        "",
        "http://localhost, http://evil.com",
    ];
    for origin in foreign {
        is_sealed(&service.send(&service.list().with("Origin", origin)).await.is(403));
    }
    let two = service.list().with("Origin", "http://localhost").with("Origin", "http://localhost");
    service.send(&two).await.is(403);
    for own in ["http://localhost", "http://localhost:5173", "http://127.0.0.1:1", "http://[::1]:6274"] {
        is_sealed(&service.send(&service.list().with("Origin", own)).await.is(200));
    }
    let service = Service::with(|options| options.origins = vec!["http://evil.com".parse().unwrap()]).await;
    service.send(&service.list().with("Origin", "http://evil.com")).await.is(200);
    service.send(&service.list().with("Origin", "http://evil.com:8080")).await.is(403);
}

#[tokio::test]
async fn no_response_lets_a_page_of_another_origin_read_it() {
    let service = Service::open().await;
    let preflight = |origin: &str| {
        let ask = service.ask("OPTIONS").with("Origin", origin);
        ask.with("Access-Control-Request-Method", "POST").with("Access-Control-Request-Headers", "authorization")
    };
    is_sealed(&service.send(&preflight("http://evil.com")).await.is(403));
    // A preflight never carries the token.
    is_sealed(&service.send(&preflight("http://localhost:1").without("Authorization")).await.is(401));
    is_sealed(&service.send(&preflight("http://localhost:1")).await.is(405));
    is_sealed(&service.send(&service.list().without("Authorization")).await.is(401));
    is_sealed(&service.send(&service.list()).await.is(200));
    is_sealed(&service.send(&service.list().having("Content-Type", "text/plain")).await.is(415));
    for line in ["GET / HTTP/1.1", "GET /mcp/ HTTP/1.1", "GET /..%2f..%2fetc/passwd HTTP/1.1", "POST /MCP HTTP/1.1"] {
        let mut ask = service.list();
        line.clone_into(&mut ask.line);
        is_sealed(&service.send(&ask).await.is(404));
    }
}
