//! Redirects: on the same host they are followed, and others are reported.

use crate::web::lab::{Lab, NAMED, UNNAMED, at, grant, serving};
use portcullis::Code;
use portcullis_tests::net::{Behaviour, Server};

/// Starts a server that redirects `/1` to `/2` and so on, up to a page.
fn stairs(last: usize) -> Server {
    Server::plain(Behaviour::answer(move |request| {
        let path = String::from_utf8_lossy(request).split(' ').nth(1).unwrap_or_default().to_owned();
        let step: usize = path.trim_start_matches('/').parse().unwrap_or(0);
        match step < last {
            true => Behaviour::whole(302, &[("location", &format!("/{}", step + 1))], ""),
            false => Behaviour::whole(200, &[("content-type", "text/plain")], "arrived"),
        }
    }))
}

#[tokio::test]
async fn up_to_five_redirects_on_the_host_are_followed() {
    let server = stairs(6);
    let lab = Lab::of(&server).await;
    let text = lab.text(&at(NAMED, &server, "/1")).await;
    assert!(text.starts_with("Redirected from: ") && text.ends_with("\n\narrived\n"), "{text}");
    assert!(text.contains(&format!("\nURL: {}\n", at(NAMED, &server, "/6"))), "{text}");

    let reply = lab.fetch(&at(NAMED, &server, "/0")).await;
    assert_eq!(reply.code, Code::ToolFailed);
    assert!(reply.message.contains("more than 5 redirects"), "{}", reply.message);
    assert_eq!(server.texts().len(), 12);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_reported_and_not_followed() {
    let target = serving("text/plain", "secret of another host");
    for name in [UNNAMED, "127.0.0.1"] {
        let to = at(name, &target, "/next");
        let server = Server::plain(Behaviour::redirect(301, to.clone()));
        let lab = Lab::open(&grant(&[&server, &target], ""), None).await;
        let from = at(NAMED, &server, "/");
        let text = lab.text(&from).await;
        assert!(text.starts_with(&format!("{from} redirects to {to}\n")) && text.contains("call `fetch`"), "{text}");
    }
    target.saw_nothing();
}

#[tokio::test]
async fn a_narrowed_call_does_not_follow_redirects_beyond_its_url() {
    let server = stairs(2);
    let lab = Lab::open(&grant(&[&server], ", narrow = \"/url\""), None).await;
    let text = lab.text(&at(NAMED, &server, "/1")).await;
    assert!(text.starts_with(&format!("{} redirects to {}\n", at(NAMED, &server, "/1"), at(NAMED, &server, "/2"))));
    assert_eq!(server.texts().len(), 1);
    assert!(lab.text(&at(NAMED, &server, "/2")).await.ends_with("\n\narrived\n"));
}
