//! Remembered approvals of URLs: they cover a path, or a scheme, host and port, and nothing that looks similar.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{Destination, OFFERS_MAX, Pattern, RESOURCE_PATH_BYTES};
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;

fn offers(arguments: &Value) -> Vec<Pattern> {
    Pattern::offers(arguments.as_object().unwrap(), &json!({}))
}

fn shown(arguments: &Value) -> Vec<String> {
    offers(arguments).iter().map(ToString::to_string).collect()
}

/// Returns the offers for the path and for the host of a URL.
fn around(url: &str) -> [Pattern; 2] {
    offers(&json!({ "url": url })).try_into().unwrap_or_else(|offers| panic!("{url}: {offers:?}"))
}

fn covers(offer: &Pattern, url: &str) -> bool {
    offer.covers(json!({ "url": url }).as_object().unwrap())
}

#[test]
fn offers_go_from_the_path_of_a_url_to_its_host_and_no_further() {
    let rows: [(Value, &[&str]); 9] = [
        (
            json!({ "url": "https://example.com/a/b?c=d#e" }),
            &["url = https://example.com:443/a/b with any query", "url = every path of https://example.com:443"],
        ),
        (
            json!({ "uri": "HTTP://Example.COM.:80", "limit": 5 }),
            &[
                "limit = 5, uri = http://example.com:80/ with any query",
                "limit = 5, uri = every path of http://example.com:80",
            ],
        ),
        (
            json!({ "endpoint": "https://bücher.example:8443/ä b" }),
            &[
                "endpoint = https://xn--bcher-kva.example:8443/%C3%A4%20b with any query",
                "endpoint = every path of https://xn--bcher-kva.example:8443",
            ],
        ),
        (
            json!({ "resource": "http://[0:0::1]:8080/" }),
            &["resource = http://[::1]:8080/ with any query", "resource = every path of http://[::1]:8080"],
        ),
        (
            json!({ "url": "https://example.com/a", "body": "x" }),
            &[
                "any body, url = \"https://example.com/a\"",
                "any body, url = https://example.com:443/a with any query",
                "any body, url = every path of https://example.com:443",
            ],
        ),
        (
            json!({ "url": "https://example.com/a", "path": "src/a/b", "content": "x" }),
            &[
                "any content, path = \"src/a/b\", url = \"https://example.com/a\"",
                "any content, path = \"src/a/b\", url = https://example.com:443/a with any query",
                "any content, path = \"src/a/b\", url = every path of https://example.com:443",
                "any content, path = \"src/a/**\", url = \"https://example.com/a\"",
            ],
        ),
        (json!({ "query": "https://example.com/a" }), &[]),
        (json!({ "url": "example.com/a" }), &[]),
        (json!({ "url": "https://example.com/a", "headers": {} }), &[]),
    ];
    for (arguments, expected) in rows {
        assert_eq!(shown(&arguments), expected, "{arguments}");
        assert!(expected.len() <= OFFERS_MAX);
        for offer in offers(&arguments) {
            assert!(offer.covers(arguments.as_object().unwrap()), "{offer}");
            let stored = serde_json::to_string(&offer).unwrap();
            assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), offer, "{stored}");
        }
    }
}

#[test]
fn a_schema_says_which_other_argument_is_a_url_and_no_payload_is_one() {
    let schema = json!({ "properties": {
        "page": { "type": "string", "format": "uri" },
        "text": { "type": "string", "format": "uri", "contentMediaType": "text/uri-list" },
    } });
    let offers = |arguments: Value| -> Vec<String> {
        let offers = Pattern::offers(arguments.as_object().unwrap(), &schema);
        offers.iter().map(ToString::to_string).collect()
    };
    let origin = "every path of https://example.com:443";
    assert_eq!(offers(json!({ "page": "https://example.com/" }))[1], format!("page = {origin}"));
    assert_eq!(offers(json!({ "text": "https://example.com/" }))[1], format!("text = {origin}"));
    let both = offers(json!({ "page": "https://example.com/", "text": "https://other.example/" }));
    assert_eq!(both[1], format!("page = {origin}, text = \"https://other.example/\""));
}

/// A URL whose host is approved, other spellings of URLs of that host, and URLs of other hosts or without a host.
const HOSTS: [(&str, &[&str], &[&str]); 5] = [
    (
        "https://example.com/a",
        &[
            "https://example.com",
            "https://example.com/",
            "https://example.com/b?c#d",
            "https://example.com?c",
            "https://EXAMPLE.com:443/b",
            "HTTPS://example.com./b",
        ],
        &[
            "http://example.com/a",
            "https://example.com:444/a",
            "https://example.com:0443/a",
            "https://example.com:/a",
            "https://example.com../a",
            "https://sub.example.com/a",
            "https://example.com.evil.test/a",
            "https://example.comevil.test/a",
            "https://examp1e.com/a",
            "https://ex\u{430}mple.com/a",
            "https://xn--exmple-4nf.com/a",
            "https://\u{ff45}xample.com/a",
            "https://example.com\u{200b}/a",
            "https://example\u{3002}com/a",
            "https://user@example.com/a",
            "https://example.com@evil.test/a",
            "https://example.com:443@evil.test/a",
            "https://example.com%2eevil.test/a",
            "https://ex%61mple.com/a",
            "https://evil.test/https://example.com/a",
            "https://evil.test#https://example.com/a",
            "https://evil.test\\@example.com/a",
            "https://example.com\\@evil.test/a",
            "https:example.com/a",
            "https:/example.com/a",
            "https:///example.com/a",
            "//example.com/a",
            "example.com/a",
            " https://example.com/a",
            "https://example.com/a\n",
            "https://exam\tple.com/a",
            "https://example.com/../a",
            "https://example.com//a",
            "wss://example.com/a",
            "",
        ],
    ),
    (
        "http://[::1]:8080/a",
        &["http://[0:0:0:0:0:0:0:1]:8080/b", "http://[::0001]:8080/"],
        &[
            "http://[::1]/a",
            "http://[::2]:8080/a",
            "http://127.0.0.1:8080/a",
            "http://[::ffff:127.0.0.1]:8080/a",
            "http://[::1%25lo]:8080/a",
            "http://::1:8080/a",
            "http://localhost:8080/a",
        ],
    ),
    (
        "http://127.0.0.1/a",
        &["http://127.0.0.1:80/b", "http://127.0.0.1./b"],
        &["http://127.1/a", "http://0x7f.0.0.1/a", "http://2130706433/a", "http://0177.0.0.1/a", "http://127.0.0.10/a"],
    ),
    ("https://bücher.example/a", &["https://xn--bcher-kva.example/b"], &["https://bucher.example/a"]),
    ("https://example.com:8443/a", &["https://example.com:8443/b"], &["https://example.com/a"]),
];

#[test]
fn an_approved_host_is_its_scheme_name_and_port_however_a_url_spells_them() {
    for (approved, covered, others) in HOSTS {
        let [_, host] = around(approved);
        for url in covered {
            assert!(covers(&host, url), "{host}: {url}");
        }
        for url in others {
            assert!(!covers(&host, url), "{host}: {url:?}");
        }
    }
}

#[test]
fn an_approved_path_has_any_query_and_is_no_other_path() {
    let [path, _] = around("https://example.com/docs/a?b");
    for url in ["https://example.com/docs/a", "https://EXAMPLE.com:443/docs/a?c=d", "https://example.com/docs/a#b"] {
        assert!(covers(&path, url), "{url}");
    }
    for url in [
        "https://example.com/docs",
        "https://example.com/docs/",
        "https://example.com/docs/a/",
        "https://example.com/docs/a/b",
        "https://example.com/docs/A",
        "https://example.com/docs/%61",
        "https://example.com/docs%2fa",
        "https://example.com/docs/./a",
        "https://example.com/x/../docs/a",
        "https://example.com/docs/a;b",
        "http://example.com/docs/a",
    ] {
        assert!(!covers(&path, url), "{url}");
    }
    let long = |bytes: usize| format!("https://example.com/{}", "a".repeat(bytes - "https://example.com:443/".len()));
    assert_eq!(offers(&json!({ "url": long(RESOURCE_PATH_BYTES) })).len(), 2);
    assert_eq!(
        shown(&json!({ "url": long(RESOURCE_PATH_BYTES + 1) })),
        ["url = every path of https://example.com:443"]
    );
}

#[test]
fn a_stored_scope_of_urls_is_in_its_one_plain_spelling() {
    let stored = |constraint: Value| serde_json::from_value::<Pattern>(json!({ "arguments": { "url": constraint } }));
    assert!(stored(json!({ "origin": "https://example.com:443" })).is_ok());
    assert!(stored(json!({ "path": "https://example.com:443/a" })).is_ok());
    for origin in [
        "https://example.com",
        "https://example.com:443/",
        "https://example.com:443/a",
        "https://EXAMPLE.com:443",
        "https://example.com.:443",
        "https://*.example.com:443",
        "https://*:443",
        "https://:443",
        "https://",
        "",
    ] {
        assert!(stored(json!({ "origin": origin })).is_err(), "{origin}");
    }
    let long = format!("https://example.com:443/{}", "a".repeat(RESOURCE_PATH_BYTES));
    for path in [
        "https://example.com/a",
        "https://example.com:443",
        "https://example.com:443/a?b",
        "https://example.com:443/**?",
        &long,
    ] {
        assert!(stored(json!({ "path": path })).is_err(), "{path}");
    }
    for other in [json!("any"), json!({ "origin": 1 }), json!({ "origin": "https://a.test:443", "path": "x" })] {
        assert!(stored(other.clone()).is_err(), "{other}");
    }
}

/// Generates hosts that look similar, as names and as addresses.
fn any_host() -> impl Strategy<Value = String> {
    let hosts = vec![
        "example.com",
        "EXAMPLE.com",
        "example.com.",
        "example.com..",
        "examp1e.com",
        "ex\u{430}mple.com",
        "xn--exmple-4nf.com",
        "sub.example.com",
        "example.com.evil.test",
        "evil.test",
        "user@example.com",
        "example.com@evil.test",
        "ex%61mple.com",
        "bücher.example",
        "BÜCHER.example",
        "xn--bcher-kva.example",
        "bu\u{308}cher.example",
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "[::1]",
        "[0:0::1]",
        "[::ffff:127.0.0.1]",
        "[::1",
        "",
    ];
    prop::sample::select(hosts).prop_map(str::to_owned)
}

/// Generates URLs that differ in one part or another.
fn any_url() -> impl Strategy<Value = String> {
    let schemes = prop::sample::select(vec!["https://", "HTTPS://", "http://", "https:/", "https:\\\\", "ftp://", ""]);
    let ports = prop::sample::select(vec!["", "", ":443", ":80", ":8443", ":0443", ":", ":99999"]);
    let paths = prop::sample::select(vec!["", "/", "/a", "/a/b", "/A", "/a/", "/%61", "//a", "/../a", "/a%2fb", "\\a"]);
    let queries = prop::sample::select(vec!["", "?", "?b=c", "?b=c&d", "#e", "?@evil.test", "?b#e"]);
    (schemes, any_host(), ports, paths, queries)
        .prop_map(|(scheme, host, port, path, query)| format!("{scheme}{host}{port}{path}{query}"))
}

/// Returns scheme, host and port as another URL parser reads them, or none if the URL has a user. A final dot is not
/// part of the name.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let url = Url::parse(url).ok().filter(|url| url.username().is_empty() && url.password().is_none())?;
    let host = url.host_str()?;
    let host = host.strip_suffix('.').unwrap_or(host);
    Some((url.scheme().to_owned(), host.to_owned(), url.port_or_known_default()?))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4096, ..ProptestConfig::default() })]

    /// The oracle is a parser that the host does not use for decisions.
    #[test]
    fn an_approved_host_covers_only_what_another_parser_takes_to_the_same_host(
        approved in any_url(), other in any_url(),
    ) {
        let offers = offers(&json!({ "url": approved }));
        let Some(host) = offers.last() else { return Ok(()) };
        prop_assert!(covers(host, &approved), "{}", host);
        let same = origin(&approved) == origin(&other);
        if covers(host, &other) {
            prop_assert!(same, "{} covers {}", host, other);
        } else {
            // A URL that is not covered has another host, or is one that the network would not send.
            prop_assert!(!same || Destination::from_url(&other).is_err(), "{} does not cover {}", host, other);
        }
        let shown = host.to_string();
        let shown = shown.strip_prefix("url = every path of ").unwrap();
        prop_assert_eq!(origin(shown), origin(&approved));
        prop_assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()), "{}", shown);
    }

    #[test]
    fn an_approved_path_is_never_wider_than_its_host(approved in any_url(), other in any_url()) {
        let offers = offers(&json!({ "url": approved }));
        let [path, host] = offers.as_slice() else { return Ok(()) };
        prop_assert!(covers(path, &approved));
        if covers(path, &other) {
            prop_assert!(covers(host, &other));
            let place = |url: &str| Url::parse(url).unwrap().path().to_owned();
            prop_assert_eq!(place(&approved), place(&other));
        }
    }
}
