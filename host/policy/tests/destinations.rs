//! Destinations: each has one plain spelling, and every spelling in a table is refused.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use portcullis_policy::{
    AddressError, AddressRange, Binding, Destination, DestinationError, Host, HttpBinding, HttpRefusal, Policy,
    URL_BYTES, is_global,
};
use proptest::prelude::*;

/// Spellings that must be refused, each with its fault. The network's own tests send them for real.
const FORBIDDEN: &str = include_str!("../../../tests/data/forbidden-destinations.txt");

/// A typical grant: the hosts of one owner, restricted further.
const GRANT: &str = "hosts = ['good.example', '*.good.example'], schemes = ['https', 'http'], ports = [443, 80], \
                     paths = ['/v1/']";

fn client(body: &str) -> HttpBinding {
    let policy = Policy::parse(&format!("[plugin.a]\nhttp.b = {{ {body} }}\n"));
    let policy = policy.unwrap_or_else(|error| panic!("{error}\n{body}"));
    match &policy.bindings(&"a".parse().unwrap())[&"b".parse().unwrap()] {
        Binding::Http(client) => (**client).clone(),
        other => panic!("not a client: {other:?}"),
    }
}

fn url(text: &str) -> Destination {
    Destination::from_url(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The check that stops a request.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StoppedBy {
    Parse,
    Address,
    Grant,
}

/// Returns which check stops a request. Addresses must be stopped as such, because an approval of a host does not check
/// names.
fn stopped_by(text: &str, grant: &HttpBinding) -> Option<StoppedBy> {
    let Ok(destination) = Destination::from_url(text) else { return Some(StoppedBy::Parse) };
    match destination.host() {
        Host::Address(address) => (!grant.permits(destination.host(), *address)).then_some(StoppedBy::Address),
        Host::Name(_) => grant.covers("GET", &destination).is_err().then_some(StoppedBy::Grant),
    }
}

#[test]
fn every_forbidden_spelling_is_stopped() {
    let grant = client(GRANT);
    let mut seen = BTreeSet::new();
    let mut stopped: BTreeMap<StoppedBy, usize> = BTreeMap::new();
    for line in FORBIDDEN.lines() {
        let (text, why) = line.split_once('\t').unwrap();
        assert!(seen.insert(text), "twice: {text:?}");
        match stopped_by(text, &grant) {
            Some(by) => *stopped.entry(by).or_default() += 1,
            None => panic!("{text:?} goes to {}: {why}", url(text)),
        }
    }
    assert!(seen.len() >= 200, "{}", seen.len());
    assert!(stopped[&StoppedBy::Parse] >= 200 && stopped[&StoppedBy::Address] >= 60, "{stopped:?}");
    assert!(stopped[&StoppedBy::Grant] >= 20, "{stopped:?}");
}

/// The spellings above are stopped because of their spelling. The same destinations in plain spelling are not.
#[test]
fn the_plain_spellings_are_permitted() {
    let grant = client(GRANT);
    let rows = [
        ("https://good.example/v1/a", "https://good.example/v1/a"),
        ("HTTPS://Good.Example:443/v1/a", "https://good.example/v1/a"),
        ("https://good.example./v1/a", "https://good.example/v1/a"),
        ("https://www.good.example/v1/a?b=c#d", "https://www.good.example/v1/a?b=c"),
        ("http://good.example:80/v1", "http://good.example/v1"),
        ("http://good.example:443/v1", "http://good.example:443/v1"),
        ("https://good.example/v1/a b?c d", "https://good.example/v1/a%20b?c%20d"),
        ("https://good.example/v1/é?ü", "https://good.example/v1/%C3%A9?%C3%BC"),
        ("https://good.example/v1/a;b=c//d...e/.f", "https://good.example/v1/a;b=c//d...e/.f"),
        ("https://good.example/v1/?u=https%3A%2F%2Fx%2f..", "https://good.example/v1/?u=https%3A%2F%2Fx%2f.."),
        ("https://good.example/v1/{\"a\"}?'b'|c", "https://good.example/v1/%7B%22a%22%7D?%27b%27|c"),
        ("https://good.example/v1/@user:tag", "https://good.example/v1/@user:tag"),
    ];
    for (text, plain) in rows {
        let destination = url(text);
        assert_eq!(destination.to_string(), plain);
        assert_eq!(grant.covers("GET", &destination), Ok(()), "{text}");
    }
}

#[test]
fn a_name_in_another_script_becomes_punycode_and_punycode_stays() {
    let rows = [
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://BÜCHER.example:8443/", "https://xn--bcher-kva.example:8443/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://gооd.example/", "https://xn--gd-fmca.example/"),
    ];
    for (text, plain) in rows {
        assert_eq!(url(text).to_string(), plain);
    }
}

#[test]
fn the_parts_of_a_destination_are_those_of_the_decision() {
    let plain = url("https://docs.rs/a/b?c=d");
    assert_eq!((plain.authority(), plain.path_with_query()), ("docs.rs".to_owned(), "/a/b?c=d".to_owned()));
    assert_eq!((plain.port(), plain.path(), plain.query()), (443, "/a/b", Some("c=d")));
    let bare = url("http://docs.rs:8080");
    assert_eq!((bare.authority(), bare.path_with_query()), ("docs.rs:8080".to_owned(), "/".to_owned()));
    assert_eq!((bare.port(), bare.query()), (8080, None));
    let address = url("http://[2606:4700:0:0::1111]:80/?");
    assert_eq!(address.to_string(), "http://[2606:4700::1111]/?");
    assert_eq!(*address.host(), Host::Address("2606:4700::1111".parse().unwrap()));
    assert_eq!(*url("http://8.8.8.8").host(), Host::Address("8.8.8.8".parse().unwrap()));
    assert!(url("https://docs.rs/x").same_origin(&plain));
    for other in ["http://docs.rs:443/", "https://docs.rs:444/", "https://a.docs.rs/"] {
        assert!(!url(other).same_origin(&plain), "{other}");
    }
}

/// Scheme, authority and path of a refused request, and the error.
const REFUSED_PARTS: &[(&str, &str, &str, DestinationError)] = &[
    ("ftp", "a.example", "/", DestinationError::Scheme),
    ("", "a.example", "/", DestinationError::Scheme),
    ("https ", "a.example", "/", DestinationError::Scheme),
    ("https", "", "/", DestinationError::NoHost),
    ("https", ".", "/", DestinationError::NoHost),
    ("https", ":443", "/", DestinationError::NoHost),
    ("https", "u@a.example", "/", DestinationError::User),
    ("https", "@", "/", DestinationError::User),
    ("https", "a%2eexample", "/", DestinationError::HostCharacter),
    ("https", "a.example\\", "/", DestinationError::HostCharacter),
    ("https", "a.example#", "/", DestinationError::HostCharacter),
    ("https", "a.example?", "/", DestinationError::HostCharacter),
    ("https", "a.example/x", "/", DestinationError::HostCharacter),
    ("https", "a .example", "/", DestinationError::HostCharacter),
    ("https", "a\t.example", "/", DestinationError::HostCharacter),
    ("https", "a\r\nb.example", "/", DestinationError::HostCharacter),
    ("https", "a\0.example", "/", DestinationError::HostCharacter),
    ("https", "ä.example", "/", DestinationError::HostCharacter),
    ("https", "a..example", "/", DestinationError::HostName),
    ("https", "a.example..", "/", DestinationError::HostName),
    ("https", ".a.example", "/", DestinationError::HostName),
    ("https", "-a.example", "/", DestinationError::HostName),
    ("https", "a!.example", "/", DestinationError::HostName),
    ("https", "xn--a.example", "/", DestinationError::HostPunycode),
    ("https", "xn--localhost-", "/", DestinationError::HostName),
    ("https", "xn--good-ecp.b.xn--0", "/", DestinationError::HostPunycode),
    ("https", "127.1", "/", DestinationError::HostAddress),
    ("https", "0177.0.0.1", "/", DestinationError::HostAddress),
    ("https", "0x7f.0.0.1", "/", DestinationError::HostAddress),
    ("https", "2130706433", "/", DestinationError::HostAddress),
    ("https", "a.0x7f", "/", DestinationError::HostAddress),
    ("https", "[::1", "/", DestinationError::HostAddress6),
    ("https", "[::1]a", "/", DestinationError::HostAddress6),
    ("https", "[1.2.3.4]", "/", DestinationError::HostAddress6),
    ("https", "[fe80::1%1]", "/", DestinationError::HostCharacter),
    ("https", "a.example:", "/", DestinationError::Port),
    ("https", "a.example:0", "/", DestinationError::Port),
    ("https", "a.example:080", "/", DestinationError::Port),
    ("https", "a.example:65536", "/", DestinationError::Port),
    ("https", "a.example:+80", "/", DestinationError::Port),
    ("https", "a.example:80:80", "/", DestinationError::Port),
    ("https", "[::1]:", "/", DestinationError::Port),
    ("https", "a.example", "//evil.example/", DestinationError::PathStart),
    ("https", "a.example", "*", DestinationError::PathStart),
    ("https", "a.example", "x", DestinationError::PathStart),
    ("https", "a.example", "?x", DestinationError::PathStart),
    ("https", "a.example", "http://evil.example/", DestinationError::PathStart),
    ("https", "a.example", "/a b", DestinationError::PathCharacter),
    ("https", "a.example", "/a#b", DestinationError::PathCharacter),
    ("https", "a.example", "/a\\b", DestinationError::PathCharacter),
    ("https", "a.example", "/a\r\nHost: b", DestinationError::PathCharacter),
    ("https", "a.example", "/a?b\u{7f}", DestinationError::PathCharacter),
    ("https", "a.example", "/é", DestinationError::PathCharacter),
    ("https", "a.example", "/%", DestinationError::PathEscape),
    ("https", "a.example", "/%2", DestinationError::PathEscape),
    ("https", "a.example", "/%+1", DestinationError::PathEscape),
    ("https", "a.example", "/a?b=%g0", DestinationError::PathEscape),
    ("https", "a.example", "/a/..%2fb", DestinationError::PathDots),
    ("https", "a.example", "/a%5C%2e%2E", DestinationError::PathDots),
    ("https", "a.example", "/a%00", DestinationError::PathHidden),
    ("https", "a.example", "/a%0d%0ab", DestinationError::PathHidden),
    ("https", "a.example", "/a%c0%afb", DestinationError::PathHidden),
    ("https", "a.example", "/a/../b", DestinationError::PathDots),
    ("https", "a.example", "/.", DestinationError::PathDots),
    ("https", "a.example", "/a/%2E%2e", DestinationError::PathDots),
    ("https", "a.example", "/..;x/b", DestinationError::PathDots),
    ("https", "a.example", "/..?x", DestinationError::PathDots),
];

#[test]
fn every_refusal_of_the_parts_of_a_request_has_its_own_error() {
    let refusal = |scheme, authority: &str, path: &str| Destination::from_parts(scheme, authority, path).unwrap_err();
    for (scheme, authority, path, expected) in REFUSED_PARTS {
        assert_eq!(refusal(scheme, authority, path), *expected, "{scheme} {authority} {path}");
    }
    let label = "a".repeat(63);
    for name in [format!("{label}a"), [label.as_str(); 4].join(".")] {
        assert_eq!(refusal("https", &name, "/"), DestinationError::HostName, "{name}");
    }
    let long = format!("/{}", "a".repeat(URL_BYTES));
    assert_eq!(refusal("https", "a.example", &long), DestinationError::TooLong);
    let longest = format!("/{}", "a".repeat(URL_BYTES - "httpsa.example/".len()));
    assert!(Destination::from_parts("https", "a.example", &longest).is_ok());
}

#[test]
fn every_refusal_of_a_url_has_its_own_error() {
    use DestinationError as E;
    let rows = [
        ("docs.rs", E::Syntax),
        ("https:docs.rs", E::Syntax),
        ("https:/docs.rs", E::Syntax),
        ("localhost:80", E::Scheme),
        ("file:///etc/passwd", E::Scheme),
        ("https://a@docs.rs/", E::User),
        ("https:///docs.rs/", E::NoHost),
        (" https://docs.rs/", E::Unescaped),
        ("https://docs.rs/\n", E::Unescaped),
        ("https://do\tcs.rs/", E::Unescaped),
        ("ht\ntps://docs.rs/", E::Unescaped),
        ("https://docs.rs\\a", E::Unescaped),
        ("https://docs.rs/?a\\b", E::Unescaped),
        ("https://docs.rs/\u{85}", E::Unescaped),
        ("https://docs.rs/a/../b", E::PathDots),
        ("https://docs.rs//a", E::PathStart),
        ("https://ｄocs.rs/", E::HostLetters),
        ("https://do\u{ad}cs.rs/", E::HostLetters),
        ("https://１.1.1.1/", E::HostLetters),
        ("https://é%2ers/", E::HostCharacter),
    ];
    for (text, expected) in rows {
        assert_eq!(Destination::from_url(text), Err(expected), "{text:?}");
    }
    assert_eq!(Destination::from_url(&format!("https://a/{}", "a".repeat(URL_BYTES))), Err(E::TooLong));
    assert!(E::PathHidden.to_string().contains("%00"));
}

#[test]
fn a_location_is_resolved_against_where_it_was_received() {
    let base = url("https://docs.rs:8443/a/b/c?d=e");
    let rows = [
        ("/x", "https://docs.rs:8443/x"),
        ("x?y", "https://docs.rs:8443/a/b/x?y"),
        ("../x", "https://docs.rs:8443/a/x"),
        ("?y", "https://docs.rs:8443/a/b/c?y"),
        ("", "https://docs.rs:8443/a/b/c?d=e"),
        ("#f", "https://docs.rs:8443/a/b/c?d=e"),
        ("//evil.example/x", "https://evil.example/x"),
        ("http://evil.example/x", "http://evil.example/x"),
        ("/ä", "https://docs.rs:8443/%C3%A4"),
    ];
    for (location, expected) in rows {
        assert_eq!(base.join(location).unwrap().to_string(), expected, "{location:?}");
    }
    let refused = [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https:/evil.example",
        "https:evil.example",
        "///evil.example",
        "//u@evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        " /x",
        "http://127.1/",
        "//127.1/",
        "/a%2f..",
        "data:,x",
    ];
    for location in refused {
        assert!(base.join(location).is_err(), "{location:?}");
    }
    assert!(base.join(&"a".repeat(URL_BYTES + 1)).is_err());
}

/// Addresses next to each range of the registries, and addresses of providers.
const GLOBAL: &str = "\
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 \
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 \
    192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 \
    203.0.112.255 203.0.114.0 223.255.255.255 2000:: 2001:200:: 2001:db7:ffff::1 2001:db9::1 2003::1 \
    2606:4700::1111 2620:4f:7fff::1 2620:4f:8001::1 2a00:1450::1 3ffe::1 3fff:1000::1";

/// The first and last addresses of each range that is not public internet, and known addresses in it.
const SPECIAL: &str = "\
    0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1 \
    127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 \
    192.0.0.0 192.0.0.9 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.0 \
    192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 \
    224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255 :: ::1 ::2 ::8.8.8.8 ::ffff:8.8.8.8 \
    ::ffff:127.0.0.1 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1 1fff:ffff:: 2001::1 \
    2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8:: \
    2001:db8:ffff::1 2002::1 2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000:: 5f00::1 fc00::1 \
    fd00:ec2::254 fdff::1 fe80::1 fec0::1 ff00::1 ff02::1 ffff::1";

#[test]
fn only_addresses_of_the_public_internet_are_global() {
    for text in GLOBAL.split_whitespace() {
        assert!(is_global(text.parse().unwrap()), "{text}");
    }
    for text in SPECIAL.split_whitespace() {
        assert!(!is_global(text.parse().unwrap()), "{text}");
    }
    assert!(GLOBAL.split_whitespace().count() > 30 && SPECIAL.split_whitespace().count() > 60);
}

#[test]
fn a_range_contains_only_the_addresses_with_its_prefix() {
    let rows = [
        ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false),
        ("127.0.0.1", "::ffff:127.0.0.1", true),
        ("127.0.0.1", "::127.0.0.1", false),
        ("127.0.0.0/8", "127.255.255.255", true),
        ("127.0.0.0/8", "128.0.0.0", false),
        ("10.1.2.0/23", "10.1.3.255", true),
        ("10.1.2.0/23", "10.1.4.0", false),
        ("10.1.2.3/32", "10.1.2.3", true),
        ("::1", "::1", true),
        ("::1", "::2", false),
        ("::1", "127.0.0.1", false),
        ("fd00::/16", "fd00:ffff::1", true),
        ("fd00::/16", "fd01::1", false),
        ("fd00::1/128", "fd00::1", true),
    ];
    for (range, address, expected) in rows {
        let range = AddressRange::new(range).unwrap();
        assert_eq!(range.contains(address.parse().unwrap()), expected, "{range} and {address}");
    }
    for (text, shown) in [("10.0.0.0/8", "10.0.0.0/8"), ("::1/128", "::1"), ("FD00::/16", "fd00::/16")] {
        assert_eq!(AddressRange::new(text).unwrap().to_string(), shown);
    }
}

#[test]
fn every_refusal_of_a_range_has_its_own_error() {
    let rows = [
        ("", AddressError::Spelling),
        ("localhost", AddressError::Spelling),
        ("127.1", AddressError::Spelling),
        ("127.0.0.01", AddressError::Spelling),
        ("127.0.0.1/", AddressError::Spelling),
        ("127.0.0.1/33", AddressError::Spelling),
        ("127.0.0.0/08", AddressError::Spelling),
        ("127.0.0.0/+8", AddressError::Spelling),
        ("127.0.0.0/8/8", AddressError::Spelling),
        ("127.0.0.1:80", AddressError::Spelling),
        ("[::1]", AddressError::Spelling),
        ("fe80::1%eth0", AddressError::Spelling),
        ("::1/129", AddressError::Spelling),
        ("10.0.0.1/8", AddressError::HostBits),
        ("fd00::1/64", AddressError::HostBits),
        ("0.0.0.0/0", AddressError::TooBroad),
        ("0.0.0.0/7", AddressError::TooBroad),
        ("::/0", AddressError::TooBroad),
        ("fc00::/7", AddressError::TooBroad),
        ("::ffff:127.0.0.1", AddressError::Mapped),
        ("::ffff:0:0/96", AddressError::Mapped),
    ];
    for (text, expected) in rows {
        assert_eq!(AddressRange::new(text), Err(expected), "{text:?}");
    }
}

#[test]
fn a_connection_goes_only_to_permitted_addresses() {
    let address = |text: &str| -> IpAddr { text.parse().unwrap() };
    let plain = client("hosts = ['good.example', '127.0.0.1', '[::1]'], addresses = ['10.0.0.0/8']");
    let rows = [
        ("good.example", "8.8.8.8", true),
        ("good.example", "10.1.2.3", true),
        ("good.example", "::ffff:10.1.2.3", true),
        ("good.example", "127.0.0.1", false),
        ("good.example", "::1", false),
        ("good.example", "169.254.169.254", false),
        ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false),
        ("127.0.0.1", "::1", false),
        ("[::1]", "::1", true),
        ("127.0.0.2", "127.0.0.2", false),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1", false),
    ];
    for (host, to, expected) in rows {
        let destination = url(&format!("https://{host}/"));
        assert_eq!(plain.permits(destination.host(), address(to)), expected, "{host} at {to}");
    }
    let secret = "schemes = ['http'], ports = [80], addresses = ['10.0.0.0/8'], \
                  secret = { basic = 'u', from = 'env:A' }";
    let in_clear = client(&format!("hosts = ['good.example'], {secret}"));
    let host = url("http://good.example/").host().clone();
    assert!(in_clear.permits(&host, address("10.1.2.3")) && !in_clear.permits(&host, address("8.8.8.8")));
}

#[test]
fn each_part_of_a_request_needs_its_grant() {
    let grant = client(
        "hosts = ['good.example', '8.8.8.8', '[2606:4700::1111]'], schemes = ['https'], ports = [443, 8443], \
         methods = ['GET', 'HEAD'], paths = ['/api/', '/docs'], narrow = '/url', unnamed = 'ask'",
    );
    let at = |method: &str, text: &str| grant.covers(method, &url(text)).map_err(|refusal| refusal.to_string());
    for text in ["https://good.example/api", "https://good.example:8443/docs/x?y", "https://8.8.8.8/api/x"] {
        assert_eq!(at("GET", text), Ok(()), "{text}");
    }
    assert_eq!(at("HEAD", "https://[2606:4700:0::1111]/api/x"), Ok(()));
    let rows = [
        ("GET", "https://evil.example/api", "the policy does not name the host evil.example"),
        ("GET", "https://8.8.4.4/api", "the policy does not name the host 8.8.4.4"),
        ("GET", "http://good.example:443/api", "the policy grants no http requests"),
        ("GET", "https://good.example:6379/api", "the policy grants no port 6379"),
        ("POST", "https://good.example/api", "the policy grants no \"POST\" requests"),
        ("get", "https://good.example/api", "the policy grants no \"get\" requests"),
        ("G\u{1b}[2J", "https://good.example/api", "the policy grants no \"G\\u{1b}[2J\" requests"),
        ("GET", "https://good.example/apix", "the policy grants no path \"/apix\""),
        ("GET", "https://good.example/", "the policy grants no path \"/\""),
        ("GET", "https://good.example/api/a%2Fb", "the policy grants no path \"/api/a%2Fb\""),
        ("GET", "https://good.example/api/a%5cb", "the policy grants no path \"/api/a%5cb\""),
    ];
    for (method, text, refusal) in rows {
        assert_eq!(at(method, text), Err(refusal.to_owned()));
    }
    let unnamed = |method: &str, text: &str| grant.covers_unnamed(method, &url(text));
    assert_eq!(unnamed("GET", "https://evil.example/api"), Ok(()));
    assert_eq!(unnamed("GET", "https://evil.example:1/api"), Err(HttpRefusal::Port(1)));
    assert!(unnamed("POST", "https://evil.example/api").is_err());
    assert!(unnamed("GET", "http://evil.example:443/api").is_err());
    assert!(unnamed("GET", "https://evil.example/").is_err());
}

/// Hosts that are similar to the granted ones.
fn any_host() -> impl Strategy<Value = String> {
    let label = prop::sample::select(vec!["good", "example", "evil", "www", "a-b", "xn--bcher-kva", "127", "0", "com"]);
    prop::collection::vec(label, 1..5).prop_map(|labels| labels.join("."))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_parsed_destination_is_shown_as_text_that_parses_to_it(
        scheme in "https?", host in any_host(), port in prop::option::of(1..u16::MAX),
        path in "(/[!-~]{0,8}){0,4}", query in prop::option::of("[!-~]{0,12}"),
    ) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let text = format!("{path}{query}");
        if let Ok(destination) = Destination::from_parts(&scheme, &format!("{host}{port}"), &text) {
            prop_assert_eq!(Destination::from_url(&destination.to_string()), Ok(destination.clone()));
            let (authority, path) = (destination.authority(), destination.path_with_query());
            prop_assert_eq!(Destination::from_parts(&scheme, &authority, &path), Ok(destination));
        }
    }

    #[test]
    fn any_parsed_url_is_shown_as_text_that_parses_to_it(text in "https?://\\PC{0,40}") {
        if let Ok(destination) = Destination::from_url(&text) {
            prop_assert_eq!(Destination::from_url(&destination.to_string()), Ok(destination.clone()));
            prop_assert!(destination.to_string().is_ascii());
        }
    }

    #[test]
    fn a_grant_never_covers_a_host_outside_of_it(host in any_host()) {
        let grant = client("hosts = ['good.example', '*.good.example']");
        if let Ok(destination) = Destination::from_url(&format!("https://{host}/")) {
            let above = host.split_once('.').map(|(_, above)| above);
            let inside = host == "good.example" || above == Some("good.example");
            prop_assert_eq!(grant.covers("GET", &destination).is_ok(), inside, "{}", host);
        }
    }

    #[test]
    fn a_grant_never_covers_a_path_outside_of_it(path in "(/(v1|v10|v1;a|V1|a|\\.\\.|%2e%2e|%2f|\\.\\.;|)){0,4}") {
        let grant = client("hosts = ['good.example'], paths = ['/v1/']");
        if let Ok(destination) = Destination::from_url(&format!("https://good.example{path}")) {
            let inside = (path == "/v1" || path.starts_with("/v1/")) && !path.contains("%2f");
            prop_assert_eq!(grant.covers("GET", &destination).is_ok(), inside, "{}", path);
            prop_assert!(!path.contains("..") && !path.contains("%2e"));
        }
    }
}
