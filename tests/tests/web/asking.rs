//! Hosts that the policy does not name: they need an approval, which covers only what the approver saw.

use crate::web::lab::{Lab, NAMED, Person, UNNAMED, at, grant, serving, text};
use portcullis::{Answer, Code, Outlook, Request};
use portcullis_tests::net::Server;
use serde_json::json;

const ASK: &str = ", unnamed = \"ask\", narrow = \"/url\"";

async fn lab(server: &Server, person: &std::sync::Arc<Person>) -> Lab {
    Lab::open(&grant(&[server], ASK), Some(person.clone())).await
}

#[tokio::test]
async fn a_named_host_is_fetched_without_a_request() {
    let server = serving("text/plain", "named");
    let person = Person::who_says(Answer::No { note: None });
    assert!(lab(&server, &person).await.text(&at(NAMED, &server, "/")).await.ends_with("\n\nnamed\n"));
    assert!(person.asked().is_empty());
}

#[tokio::test]
async fn an_unnamed_host_is_fetched_after_an_approval() {
    let server = serving("text/plain", "unnamed");
    let person = Person::who_says(Answer::Yes);
    let reply = lab(&server, &person).await.fetch(&at(UNNAMED, &server, "/page")).await;
    assert!(text(&reply).ends_with("\n\nunnamed\n"));
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    assert!(format!("{:?}", asked[0]).contains(&format!("the policy does not name the host {UNNAMED}")), "{asked:?}");
    assert_eq!(server.texts().len(), 1);
}

#[tokio::test]
async fn after_a_denial_the_server_has_seen_nothing() {
    let server = serving("text/plain", "unnamed");
    let person = Person::who_says(Answer::No { note: None });
    let reply = lab(&server, &person).await.fetch(&at(UNNAMED, &server, "/")).await;
    assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
    assert_eq!(person.asked().len(), 1);
    server.saw_nothing();
}

/// Without `unnamed = "ask"` an approval is not enough, because the grant does not include the host.
#[tokio::test]
async fn an_approval_permits_no_more_than_the_policy() {
    let server = serving("text/plain", "unnamed");
    let person = Person::who_says(Answer::Yes);
    let lab = Lab::open(&grant(&[&server], ""), Some(person)).await;
    let reply = lab.fetch(&at(UNNAMED, &server, "/")).await;
    assert!(matches!(reply.code, Code::ToolDenied | Code::PolicyDenied), "{:?} {}", reply.code, reply.message);
    server.saw_nothing();
}

#[tokio::test]
async fn an_invalid_url_is_rejected_before_an_approval_request() {
    let server = serving("text/plain", "x");
    let person = Person::who_says(Answer::Yes);
    let lab = lab(&server, &person).await;
    let mut urls: Vec<String> =
        ["file:///etc/passwd", "javascript:alert(1)", "http://user:password@docs.test/", "docs.test"]
            .map(Into::into)
            .into();
    urls.extend(["docs.test..", "docs..test", ".docs.test", ".."].map(|name| at(name, &server, "/")));
    for url in &urls {
        let reply = lab.fetch(url).await;
        assert_ne!(reply.code, Code::Completed, "{url}: {}", reply.message);
    }
    assert!(person.asked().is_empty());
    server.saw_nothing();
}

/// `explain` predicts the request.
#[tokio::test]
async fn an_explanation_predicts_a_request_or_a_denial() {
    let server = serving("text/html", "<p>Page.");
    let lab = lab(&server, &Person::who_says(Answer::Yes)).await;
    let explain = async |url: String| {
        let request = Request::new("web.fetch", json!({ "url": url }).to_string());
        lab.host.explain(request).await.unwrap().outlook
    };
    assert_eq!(explain(at(NAMED, &server, "/")).await, Outlook::Run { approvals: Vec::new() });
    let asked = format!("the policy does not name the host {UNNAMED}");
    let outlook = explain(at(UNNAMED, &server, "/")).await;
    assert!(matches!(&outlook, Outlook::Ask { reason, request: None } if reason.starts_with(&asked)), "{outlook:?}");
    let outlook = explain(format!("https://{NAMED}/")).await;
    let Outlook::Refuse { code: Code::DependencyNotGranted, message } = outlook else { panic!("{outlook:?}") };
    assert!(message.contains("the policy grants no https requests"), "{message}");
    assert_eq!(server.connections(), 0);
}

/// No approval opens a private address, a name of the machine itself, or the application's own server, so no approver
/// is asked about them.
#[tokio::test]
async fn a_host_that_no_approval_can_open_causes_no_request() {
    let server = serving("text/plain", "x");
    let person = Person::who_says(Answer::Yes);
    let lab = lab(&server, &person).await;
    let port = server.port();
    lab.host.keep_unreachable(([127, 0, 0, 9], port).into());
    for host in ["10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "127.0.0.9"] {
        let url = format!("http://{host}:{port}/");
        let request = Request::new("web.fetch", json!({ "url": url }).to_string());
        let outlook = lab.host.explain(request).await.unwrap().outlook;
        let reply = lab.fetch(&url).await;
        assert_eq!(reply.code, Code::DependencyNotGranted, "{url}: {}", reply.message);
        assert_eq!(outlook, Outlook::Refuse { code: reply.code, message: reply.message }, "{url}");
    }
    assert!(person.asked().is_empty());
    server.saw_nothing();
    // The policy lists this address.
    assert_eq!(lab.fetch(&format!("http://127.0.0.1:{port}/")).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
}
