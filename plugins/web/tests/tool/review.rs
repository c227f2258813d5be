//! The plugin's review of a call before it runs.

use portcullis_plugin_web::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing;

fn opinion(url: &str) -> Verdict {
    let context = testing::Context::new().plays_server("fetch", |_| panic!("a request was sent"));
    let context = context.names_host("fetch", "docs.example");
    testing::review(&PLUGIN, "fetch", json!({ "url": url }), &context)
}

#[test]
fn a_host_that_the_policy_names_needs_no_approval() {
    for url in ["https://docs.example/", "HTTPS://DOCS.example:443/a?b#c", "https://docs.example./x"] {
        assert_eq!(opinion(url), Verdict::Clear, "{url}");
    }
}

#[test]
fn any_other_host_needs_approval() {
    for (url, host) in [
        ("https://other.example/", "other.example"),
        ("https://docs.example.evil.example/", "docs.example.evil.example"),
        ("https://127.0.0.1/", "127.0.0.1"),
    ] {
        assert_eq!(opinion(url), Verdict::ask(format!("the policy does not name the host {host}")), "{url}");
    }
}

#[test]
fn an_unusable_url_is_refused() {
    for url in ["", "docs.example", "file:///etc/passwd", "javascript:alert(1)", "https://", "https://me@docs.example/"]
    {
        assert!(matches!(opinion(url), Verdict::Refuse(_)), "{url}: {:?}", opinion(url));
    }
}

#[test]
fn a_call_without_a_client_is_refused() {
    let verdict = testing::review(&PLUGIN, "fetch", json!({ "url": "https://a.example/" }), &testing::Context::new());
    let Verdict::Refuse(text) = &verdict else { panic!("{verdict:?}") };
    assert!(
        text.ends_with("`http.fetch = { hosts = [\"a.example\"], narrow = \"/url\", unnamed = \"ask\" }`"),
        "{text}"
    );
}
