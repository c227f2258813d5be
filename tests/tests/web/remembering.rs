//! Remembered approvals for a host: its pages are fetched without a request, and nothing else is.

use crate::web::lab::{Lab, NAMED, Person, UNNAMED, at, grant, serving, text};
use portcullis::{Answer, Code, Covers, Request};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;

const ASK: &str = ", unnamed = \"ask\", narrow = \"/url\"";

/// Returns the choice for a pattern in a request that contains only a URL.
const PATH: Covers = Covers::Offer(0);
const HOST: Covers = Covers::Offer(1);

#[tokio::test]
async fn a_host_approval_covers_its_pages_and_no_other_port_scheme_or_name() {
    let other = serving("text/plain", "elsewhere");
    let away = at(UNNAMED, &other, "/next");
    let server = Server::plain(Behaviour::answer(move |request| match request.starts_with(b"GET /away ") {
        true => Behaviour::whole(302, &[("location", &away)], ""),
        false => Behaviour::whole(200, &[("content-type", "text/plain")], "page"),
    }));
    let person = Person::who_says(Answer::Session(HOST));
    let lab = Lab::open(&grant(&[&server, &other], ASK), Some(person.clone())).await;

    assert!(lab.text(&at(UNNAMED, &server, "/one?a=b")).await.ends_with("\n\npage\n"));
    let asked = person.asked();
    let port = server.port();
    let offers = [
        format!("url = http://{UNNAMED}:{port}/one with any query"),
        format!("url = every path of http://{UNNAMED}:{port}"),
    ];
    assert_eq!(asked.iter().map(|asked| &*asked.offers).collect::<Vec<_>>(), [offers]);

    // Another path, another query, and another spelling of the same host.
    for url in [at(UNNAMED, &server, "/two"), at(UNNAMED, &server, "/one?c"), at("OTHER.test", &server, "/three")] {
        assert!(lab.text(&url).await.ends_with("\n\npage\n"), "{url}");
    }
    assert!(person.asked().is_empty());

    // A redirect to another port of the same name is not followed.
    let seen = lab.text(&at(UNNAMED, &server, "/away")).await;
    assert!(seen.contains(" redirects to ") && seen.contains("The redirect was not followed"), "{seen}");
    assert!(person.asked().is_empty());
    other.saw_nothing();

    // Another port needs its own approval, and so does the address behind the name.
    for url in [at(UNNAMED, &other, "/next"), at("127.0.0.1", &server, "/two")] {
        assert_eq!(lab.fetch(&url).await.code, Code::Completed, "{url}");
        assert_eq!(person.asked().len(), 1, "{url}");
    }
}

#[tokio::test]
async fn a_path_approval_covers_its_queries_and_a_url_approval_only_itself() {
    let server = serving("text/plain", "page");
    let rows = [(Covers::Exact, [0, 1, 1]), (PATH, [0, 0, 1]), (HOST, [0, 0, 0])];
    for (covers, expected) in rows {
        let person = Person::who_says(Answer::Session(covers));
        let lab = Lab::open(&grant(&[&server], ASK), Some(person.clone())).await;
        lab.text(&at(UNNAMED, &server, "/one?a")).await;
        assert_eq!(person.asked().len(), 1);
        let mut asked = Vec::new();
        for path in ["/one?a", "/one?b", "/two"] {
            lab.text(&at(UNNAMED, &server, path)).await;
            asked.push(person.asked().len());
        }
        assert_eq!(asked, expected, "{covers:?}");
    }
}

/// The policy still applies: an approval covers calls and grants nothing.
#[tokio::test]
async fn a_host_approval_does_not_widen_the_grant() {
    let server = serving("text/plain", "page");
    let person = Person::who_says(Answer::Always(HOST));
    let limited = format!("{ASK}, paths = [\"/docs/\"]");
    let lab = Lab::open(&grant(&[&server], &limited), Some(person.clone())).await;
    text(&lab.fetch(&at(UNNAMED, &server, "/docs/a")).await);
    assert_eq!(person.asked().len(), 1);
    text(&lab.fetch(&at(UNNAMED, &server, "/docs/b")).await);
    let refused = lab.fetch(&at(UNNAMED, &server, "/admin")).await;
    assert_eq!(refused.code, Code::DependencyNotGranted, "{}", refused.message);
    assert!(person.asked().is_empty());
    assert_eq!(server.texts().len(), 2);
}

#[tokio::test]
async fn an_approval_for_one_session_does_not_cover_another() {
    let server = serving("text/plain", "page");
    let person = Person::who_says(Answer::Session(HOST));
    let lab = Lab::open(&grant(&[&server], ASK), Some(person.clone())).await;
    let fetch = async |session: &str, path: &str| {
        let url = at(UNNAMED, &server, path);
        let request = Request::new("web.fetch", json!({ "url": url }).to_string()).session(session);
        text(&lab.host.call(request).await);
        person.asked().len()
    };
    assert_eq!(fetch("one", "/a").await, 1);
    assert_eq!(fetch("one", "/b").await, 0);
    assert_eq!(fetch("two", "/b").await, 1);
    assert!(lab.text(&at(NAMED, &server, "/")).await.ends_with("\n\npage\n"));
    assert!(person.asked().is_empty());
}
