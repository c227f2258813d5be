//! The guards: each rejects its attack, and what a real browser sends passes.

use crate::console::desk::{ConsoleDesk, echo};
use portcullis::approvals::Status;

/// Every page.
const PAGES: [&str; 9] =
    ["/", "/inbox", "/inbox/review", "/live", "/log", "/tools", "/remembered", "/policy", "/resume"];

/// Every address that changes something.
const FORMS: [&str; 6] = ["/inbox/answer", "/remembered/revoke", "/policy/explain", "/pause", "/resume", "/sign-out"];

#[tokio::test]
async fn a_link_works_once_and_its_cookie_is_for_this_site_only() {
    let desk = ConsoleDesk::new().await;
    let link = desk.link();
    let response = desk.request("GET", &link).send(desk.address()).await.is(200);
    let cookie = response.header("Set-Cookie").unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.split("; ").any(|known| known == attribute), "{cookie}");
    }
    let value = cookie.split(';').next().unwrap().split_once('=').unwrap().1;
    assert_eq!(value.len(), 43, "256 bits in base64: {cookie}");
    assert!(!response.body.contains(value), "the page must not contain the cookie");
    desk.request("GET", &link).send(desk.address()).await.is(401);
    desk.request("GET", "/login/").send(desk.address()).await.is(404);
    desk.request("GET", "/login/x").send(desk.address()).await.is(401);
}

#[tokio::test]
async fn no_page_and_no_form_works_without_the_cookie() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let other = format!("portcullis-console-{}=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", desk.address().port());
    for page in PAGES.iter().chain(&["/events", "/inbox/0", "/log/0"]) {
        desk.request("GET", page).send(desk.address()).await.is(401);
        desk.request("GET", page).with("Cookie", &other).send(desk.address()).await.is(401);
    }
    for form in FORMS {
        signed_in.form(form, &[]).without("Cookie").send(desk.address()).await.is(401);
    }
    for page in PAGES {
        assert!([200, 303].contains(&signed_in.get(page).await.status), "{page}");
    }
}

#[tokio::test]
async fn a_cookie_is_worth_nothing_to_another_console_and_after_signing_out() {
    let (desk, other) = (ConsoleDesk::new().await, ConsoleDesk::new().await);
    let signed_in = desk.sign_in().await;
    let value = signed_in.cookie.split_once('=').unwrap().1;
    let cookie = format!("portcullis-console-{}={value}", other.address().port());
    other.request("GET", "/inbox").with("Cookie", &cookie).send(other.address()).await.is(401);
    let csrf = signed_in.get("/policy").await.field("csrf");
    signed_in.post("/sign-out", &[("csrf", &csrf)]).await.is(401);
    signed_in.get("/policy").await.is(401);
}

/// DNS rebinding: the page's own name resolves to this address.
#[tokio::test]
async fn only_the_bound_address_is_a_name_of_the_console() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let port = desk.address().port();
    let names = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.1:{port}"),
        format!("127.0.0.1:{port},evil.example"),
        String::new(),
    ];
    for name in &names {
        for target in ["/policy", "/console.js", "/login/x"] {
            signed_in.request("GET", target).having("Host", name).send(desk.address()).await.is(421);
        }
        signed_in.form("/sign-out", &[]).having("Host", name).send(desk.address()).await.is(421);
    }
    signed_in.request("GET", "/policy").without("Host").send(desk.address()).await.is(421);
    let twice = signed_in.request("GET", "/policy").with("Host", "evil.example");
    assert!([400, 421].contains(&twice.send(desk.address()).await.status));
    signed_in.request("GET", "http://evil.example/policy").send(desk.address()).await.is(421);
    signed_in.get("/policy").await.is(200);
}

/// The cookie comes with every request of a page at another port of this machine, because its site is the same.
#[tokio::test]
async fn a_form_of_another_page_changes_nothing() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(echo(1)).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await.is(200);
    let (csrf, request) = (page.field("csrf"), page.field("request"));
    let fields = [("csrf", csrf.as_str()), ("request", &request), ("answer", "approve")];
    let form = signed_in.form("/inbox/answer", &fields);
    let own = format!("http://{}", desk.address());
    let attacks = [
        form.clone().without("Origin"),
        form.clone().having("Origin", "null"),
        form.clone().having("Origin", "http://evil.example"),
        form.clone().having("Origin", "http://127.0.0.1:1"),
        form.clone().having("Origin", &own.replace("http", "https")),
        form.clone().having("Origin", &format!("{own}/")),
        form.clone().with("Origin", "http://evil.example"),
        form.clone().having("Sec-Fetch-Site", "same-site"),
        form.clone().having("Sec-Fetch-Site", "cross-site"),
        signed_in.form("/inbox/answer", &fields[1..]),
        signed_in.form("/inbox/answer", &[("csrf", ""), fields[1], fields[2]]),
        signed_in.form("/inbox/answer", &[("csrf", &csrf.to_lowercase()), fields[1], fields[2]]),
    ];
    for attack in attacks {
        attack.send(desk.address()).await.is(403);
    }
    for kind in ["text/plain", "application/json", "multipart/form-data; boundary=x", ""] {
        form.clone().having("Content-Type", kind).send(desk.address()).await.is(415);
    }
    assert_eq!(desk.status(&id).await, Status::Pending);
    form.send(desk.address()).await.is(303);
    assert_eq!(call.await.unwrap().code.as_str(), "completed");
}

#[tokio::test]
async fn every_form_needs_the_token_and_the_console_s_own_page() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let csrf = signed_in.get("/policy").await.field("csrf");
    for form in FORMS {
        signed_in.post(form, &[]).await.is(403);
        let with_token = signed_in.form(form, &[("csrf", &csrf)]);
        with_token.clone().having("Origin", "http://127.0.0.1:1").send(desk.address()).await.is(403);
        with_token.having("Sec-Fetch-Site", "same-site").send(desk.address()).await.is(403);
    }
    let page = signed_in.get("/live").await.is(200).body;
    assert!(page.contains("Pause all calls"), "nothing is paused: {page}");
}

#[tokio::test]
async fn a_token_of_one_session_is_worth_nothing_in_another() {
    let desk = ConsoleDesk::new().await;
    let (one, other) = (desk.sign_in().await, desk.sign_in().await);
    let csrf = one.get("/policy").await.field("csrf");
    assert_ne!(csrf, other.get("/policy").await.field("csrf"));
    other.post("/policy/explain", &[("csrf", &csrf), ("tool", "good.run")]).await.is(403);
    one.post("/policy/explain", &[("csrf", &csrf), ("tool", "good.run")]).await.is(200);
}

#[tokio::test]
async fn another_page_can_only_navigate() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    // A browser that sends no fetch metadata still sends the origin of a page's script.
    let old = signed_in.request("GET", "/policy").without("Sec-Fetch-Site");
    old.clone().send(desk.address()).await.is(200);
    old.with("Origin", "http://127.0.0.1:1").send(desk.address()).await.is(403);
    for site in ["same-site", "cross-site"] {
        for (mode, dest) in [("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")] {
            for target in ["/inbox", "/policy", "/events", "/console.js"] {
                let request = signed_in.request("GET", target).having("Sec-Fetch-Site", site);
                let request = request.with("Sec-Fetch-Mode", mode).with("Sec-Fetch-Dest", dest);
                request.send(desk.address()).await.is(403);
            }
        }
        let navigation = signed_in.request("GET", "/policy").having("Sec-Fetch-Site", site);
        let navigation = navigation.with("Sec-Fetch-Mode", "navigate").with("Sec-Fetch-Dest", "document");
        navigation.send(desk.address()).await.is(200);
    }
}

#[tokio::test]
async fn nothing_changes_with_another_method() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let origin = format!("http://{}", desk.address());
    for form in FORMS {
        // One form has a page of its own at its address.
        signed_in.get(form).await.is(if PAGES.contains(&form) { 200 } else { 405 });
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
            let response = signed_in.request(method, form).with("Origin", &origin).send(desk.address()).await;
            assert!([404, 405].contains(&response.status), "{method} {form}: {response:?}");
            assert_eq!(response.header("Access-Control-Allow-Origin"), None);
        }
    }
    signed_in.get("/policy").await.is(200);
}

#[tokio::test]
async fn every_response_has_the_headers_that_keep_a_browser_from_harm() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let outside = desk.request("GET", "/policy").send(desk.address()).await;
    let wrong = signed_in.request("GET", "/policy").having("Host", "evil.example").send(desk.address()).await;
    let responses = [
        signed_in.get("/policy").await,
        signed_in.get("/console.js").await,
        signed_in.get("/console.css").await,
        signed_in.get("/nothing").await,
        signed_in.post("/sign-out", &[]).await,
        outside,
        wrong,
    ];
    for response in responses {
        let content = response.header("Content-Security-Policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "img-src 'self'",
            "connect-src 'self'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(content.split("; ").any(|known| known == part), "{part}: {content}");
        }
        assert!(!content.contains("unsafe"), "{content}");
        assert_eq!(response.header("X-Content-Type-Options"), Some("nosniff"));
        assert_eq!(response.header("Referrer-Policy"), Some("same-origin"));
        assert_eq!(response.header("Cache-Control"), Some("no-store"));
        assert_eq!(response.header("Cross-Origin-Opener-Policy"), Some("same-origin"));
        assert_eq!(response.header("Cross-Origin-Resource-Policy"), Some("same-origin"));
        assert_eq!(response.header("X-Frame-Options"), Some("DENY"));
        assert!(response.header("Permissions-Policy").unwrap().contains("camera=()"));
    }
}

#[tokio::test]
async fn pages_have_no_inline_script_and_no_inline_style() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, _call) = desk.ask(echo(1)).await;
    for page in PAGES.iter().map(|page| (*page).to_owned()).chain([format!("/inbox/{id}")]) {
        let body = signed_in.get(&page).await.body.to_lowercase();
        assert!(!body.contains(" style="), "{page}");
        for handler in ["onclick", "onload", "onerror", "onsubmit", "onchange", "onkeydown"] {
            assert!(!body.contains(&format!(" {handler}=")), "{page} {handler}");
        }
        for script in body.split("<script").skip(1) {
            assert!(script.starts_with(" type=\"module\" src=\"/console.js\"></script>"), "{page}: {script}");
        }
    }
}
