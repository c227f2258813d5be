//! Every way to write a forbidden destination, against live servers. N02 to N05, N10, N11, N14, N28, X02.

use crate::network::lab::{Grant, Lab, answered, denied, is_denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};

/// One URL per line, a tab, and why it is forbidden.
const FORBIDDEN: &str = include_str!("../../data/forbidden-destinations.txt");

/// Number of URLs per call: the arguments of a call have a limit.
const AT_ONCE: usize = 60;

/// The hosts that these tests grant. None of them is in the list.
const GOOD: &str = "good.example";

fn forbidden() -> impl Iterator<Item = (&'static str, &'static str)> {
    FORBIDDEN.lines().map(|line| line.split_once('\t').unwrap_or_else(|| panic!("no reason: {line}")))
}

/// Returns whether a line is forbidden only because of its path.
fn is_of_paths(why: &str) -> bool {
    why.starts_with("path")
}

/// The ways in which a careless library parses a URL, each as scheme, authority and path.
fn parts(url: &str) -> Vec<(String, String, String)> {
    let (scheme, rest) = url.split_once(':').unwrap_or(("http", url));
    let rest = rest.trim_start_matches(['/', '\\']);
    let mut parts = Vec::new();
    for ends in [&['/'][..], &['/', '?', '#'], &['/', '\\', '?', '#']] {
        let end = rest.find(ends).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let part = (scheme.to_owned(), authority.to_owned(), path);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Returns whether the careless parser made a granted destination of a line.
fn is_plain(scheme: &str, authority: &str, path: &str) -> bool {
    let ports = ["", ":80", ":443"].map(|port| format!("{GOOD}{port}"));
    // Without a scheme it is https.
    ["http", "https", ""].contains(&scheme) && ports.iter().any(|plain| plain == authority) && path == "/"
}

/// Returns the errands of those lines, each with its line.
fn errands(port: u16, of_paths: bool) -> Vec<(String, Value)> {
    let mut errands = Vec::new();
    for (url, why) in forbidden().filter(|(_, why)| is_of_paths(why) == of_paths) {
        for (scheme, authority, path) in parts(url) {
            if !of_paths && is_plain(&scheme, &authority, &path) {
                continue;
            }
            // With its own port, and with the port of the listener.
            let name = authority.rsplit_once('@').map_or(authority.as_str(), |(_, host)| host);
            let bare = name.ends_with(']') || !name.contains(':');
            let listened = format!("{authority}:{port}");
            let listened = bare.then_some(listened).filter(|_| !is_plain(&scheme, &authority, &path));
            for authority in [Some(authority), listened].into_iter().flatten() {
                let errand = json!({ "client": "api", "scheme": scheme, "authority": authority, "path": path });
                errands.push((format!("{url:?} ({why})"), errand));
            }
        }
    }
    errands
}

#[test]
fn there_are_at_least_two_hundred() {
    let mut urls: Vec<_> = forbidden().map(|(url, _)| url).collect();
    let count = urls.len();
    assert!(count >= 200, "{count}");
    urls.sort_unstable();
    urls.dedup();
    assert_eq!(urls.len(), count, "the list has a duplicate");
}

/// Builds a grant of good hosts at three ports, with the loopback address, where a server listens.
async fn narrow(server: &Server) -> Lab {
    let grant = Grant::to(&[GOOD, "*.good.example"], server).set("schemes", "[\"http\", \"https\"]");
    let lab = Lab::open(grant.set("ports", &format!("[80, 443, {}]", server.port()))).await;
    lab.dns.point(GOOD, &["127.0.0.1"]);
    lab
}

/// A grant of good hosts reaches none of the forbidden ones, and no other name is resolved.
#[tokio::test]
async fn forbidden_spellings_under_a_narrow_grant() {
    let server = Server::plain(Behaviour::ok());
    let lab = narrow(&server).await;
    try_all(&lab, errands(server.port(), false)).await;
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
    answered(&lab.one(to(GOOD, &server, "/")).await, 200);
}

/// The same for the paths of a good host, under a grant of one path.
#[tokio::test]
async fn n19_forbidden_paths_under_a_grant_of_one_path() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&[GOOD], &server).set("schemes", "[\"http\", \"https\"]").set("paths", "[\"/v1/\"]");
    let lab = Lab::open(grant.set("ports", &format!("[80, 443, {}]", server.port()))).await;
    lab.dns.point(GOOD, &["127.0.0.1"]);
    try_all(&lab, errands(server.port(), true)).await;
    server.saw_nothing();
    answered(&lab.one(to(GOOD, &server, "/v1/a")).await, 200);
}

/// A grant that names as many of the forbidden hosts as possible, but no address: their addresses are denied.
#[tokio::test]
async fn forbidden_spellings_under_a_grant_without_addresses() {
    let server = Server::plain(Behaviour::ok());
    let mut hosts = vec![GOOD.to_owned()];
    for (url, _) in forbidden() {
        let host = parts(url)[0].1.split(':').next().unwrap_or_default().to_owned();
        if can_be_named(&host) && !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    for some in hosts.chunks(60) {
        let names: Vec<_> = some.iter().map(String::as_str).collect();
        let grant = Grant::to(&names, &server).set("schemes", "[\"http\", \"https\"]").without("addresses");
        let lab = Lab::open(grant.set("ports", &format!("[80, 443, {}]", server.port()))).await;
        for name in &names {
            lab.dns.point(name, &["127.0.0.1", "::1"]);
        }
        try_all(&lab, errands(server.port(), false)).await;
    }
    server.saw_nothing();
}

/// Returns whether a policy can name the host.
fn can_be_named(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let labels =
        host.split('.').all(|label| (1..64).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-'));
    let last = host.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    host.len() <= 253 && host.bytes().all(plain) && labels && !number
}

async fn try_all(lab: &Lab, errands: Vec<(String, Value)>) {
    for some in errands.chunks(AT_ONCE) {
        let results = lab.send(some.iter().map(|(_, errand)| errand.clone()).collect()).await;
        for ((url, errand), result) in some.iter().zip(&results) {
            assert!(is_denied(result), "{url}: {errand} returned {result}");
        }
    }
}

/// Names that look like another host. The servers listen where a lenient parser would connect.
#[tokio::test]
async fn n02_n03_spellings_of_a_granted_address_are_not_granted() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["127.0.0.1"], &server)).await;
    for name in [
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "0177.1",
        "127.1",
        "127.0.1",
        "127.000.000.001",
        "127.0.0.01",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "127.0.0.1%00.evil.test",
        "127.0.0.1#evil.test",
        "127.0.0.1,evil.test",
        "evil.test@127.0.0.1",
        "evil.test:80@127.0.0.1",
        "user:pass@127.0.0.1",
        "@127.0.0.1",
        "127.0.0.1\t",
        " 127.0.0.1",
        "127.0.0.1 ",
        "127.0.0.1\u{200b}",
    ] {
        let result = lab.one(to(name, &server, "/")).await;
        assert!(is_denied(&result), "{name:?} returned {result}");
    }
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
    answered(&lab.one(to("127.0.0.1", &server, "/")).await, 200);
}

/// No placeholder syntax has a meaning in a request.
#[tokio::test]
async fn x02_placeholders_are_plain_text() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::good(&server).await;
    for token in ["{{TOKEN}}", "{}", "${TOKEN}", "$TOKEN", "%TOKEN%", "{api}", "<TOKEN>"] {
        denied(&lab.one(to(&format!("{token}.good.test"), &server, "/")).await);
        denied(&lab.one(json!({ "client": "api", "authority": format!("good.test:{token}"), "path": "/" })).await);
        denied(&lab.one(json!({ "client": "api", "authority": format!("{token}@good.test"), "path": "/" })).await);
        denied(&lab.one(with(to("good.test", &server, "/"), &json!({ "scheme": token }))).await);
    }
    server.saw_nothing();
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
}
