//! Parses any text as a URL, as parts of a request and as a grant: the result has one canonical form, another parser
//! finds the same destination, and a grant covers no host, path or port outside of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::{Binding, Destination, Host, HostPattern, HttpBinding, Policy, is_global};

// The first line is a URL or a scheme, the second an authority or a host pattern, the third a path or a location.
fuzz_target!(|input: &str| {
    let mut lines = input.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (url, host, path) = (next(), next(), next());
    let read = [
        Destination::from_url(url),
        Destination::from_parts(url, host, path),
        Destination::from_parts("https", host, path),
        Destination::from_url(&format!("http://{host}{path}")),
    ];
    for destination in read.into_iter().flatten() {
        is_plain(&destination);
        is_read_alike(&destination);
        if let Ok(next) = destination.join(path) {
            is_plain(&next);
            is_read_alike(&next);
        }
        if let Ok(pattern) = HostPattern::new(host) {
            matches_at_a_label(&pattern, &destination);
            covers_no_more(&pattern, path, &destination);
        }
    }
});

/// The canonical form is unique, and contains no hidden characters.
fn is_plain(destination: &Destination) {
    let shown = destination.to_string();
    assert_eq!(Destination::from_url(&shown).as_ref(), Ok(destination), "{shown:?}");
    let (scheme, authority) = (destination.scheme().to_string(), destination.authority());
    let again = Destination::from_parts(&scheme, &authority, &destination.path_with_query());
    assert_eq!(again.as_ref(), Ok(destination), "{shown:?}");
    assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()) && !shown.contains(['\\', '#']), "{shown:?}");
    assert!(!authority.contains(['@', '%', '/']) && destination.port() != 0, "{shown:?}");
    let path = destination.path();
    assert!(path.starts_with('/') && !path.starts_with("//"), "{shown:?}");
    assert!(!path.split('/').any(|segment| matches!(segment, "." | "..")), "{shown:?}");
    if let Host::Name(name) = destination.host() {
        assert!(name.parse::<std::net::IpAddr>().is_err() && !name.ends_with('.'), "{shown:?}");
    }
}

/// A browser's parser finds the same host, port and path.
fn is_read_alike(destination: &Destination) {
    let shown = destination.to_string();
    let Ok(parsed) = url::Url::parse(&shown) else { panic!("{shown:?} is no URL to others") };
    assert_eq!(parsed.host_str(), Some(destination.host().to_string().as_str()), "{shown:?}");
    assert_eq!(parsed.port_or_known_default(), Some(destination.port()), "{shown:?}");
    assert!(parsed.username().is_empty() && parsed.password().is_none() && parsed.fragment().is_none(), "{shown:?}");
    let segments = |path: &str| path.split('/').count();
    assert_eq!(segments(parsed.path()), segments(destination.path()), "{shown:?}");
}

/// A matched host is the written one, or one label below it.
fn matches_at_a_label(pattern: &HostPattern, destination: &Destination) {
    let host = destination.host().to_string();
    let inside = match pattern {
        HostPattern::Exact(name) => host == **name,
        HostPattern::OneLabelBelow(domain) => host.split_once('.').is_some_and(|(_, above)| *above == **domain),
    };
    assert!(inside || !pattern.matches(&host), "{pattern} matches {host}");
    assert!(!matches!((pattern, destination.host()), (HostPattern::OneLabelBelow(_), Host::Address(_))) || !inside);
}

/// A covered request is inside each part of the grant. If the grant names no private address, none is permitted.
fn covers_no_more(pattern: &HostPattern, prefix: &str, destination: &Destination) {
    let Some(grant) = grant(pattern, prefix) else { return };
    if let Host::Address(address) = destination.host() {
        let named = grant.hosts[0].to_string() == destination.host().to_string();
        assert_eq!(grant.permits(destination.host(), *address), named || is_global(*address));
    }
    if grant.covers("GET", destination).is_err() {
        return;
    }
    assert!(grant.names(destination) && grant.covers_unnamed("GET", destination).is_ok());
    assert_eq!((destination.scheme().as_str(), destination.port()), ("https", 443));
    let rest = destination.path().strip_prefix(prefix.trim_end_matches('/'));
    assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')), "{prefix:?} covers {destination}");
    assert!(grant.covers("POST", destination).is_err());
}

fn grant(pattern: &HostPattern, prefix: &str) -> Option<HttpBinding> {
    let escaped: String = prefix.chars().map(|character| format!("\\U{:08X}", u32::from(character))).collect();
    let policy = Policy::parse(&format!("[plugin.a]\nhttp.b = {{ hosts = ['{pattern}'], paths = [\"{escaped}\"] }}\n"));
    let (Ok(policy), Ok(plugin)) = (policy, "a".parse()) else { return None };
    match policy.bindings(&plugin).values().next() {
        Some(Binding::Http(grant)) => Some((**grant).clone()),
        other => panic!("not a client: {other:?}"),
    }
}
