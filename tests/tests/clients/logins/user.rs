//! A user with a browser: follows redirects and keeps cookies, but stops at the address of the login.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use tokio::task::spawn_blocking;

/// Maximum redirects of a login.
const REDIRECTS_MAX: usize = 10;

/// Maximum tries of a request that is not answered.
const TRIES_MAX: usize = 3;

/// Opens a page, and returns the address on the loopback interface to which the browser would return.
pub(crate) async fn agree(page: &str, redirect: &str) -> String {
    let (page, redirect) = (page.to_owned(), redirect.to_owned());
    spawn_blocking(move || follow(page, Some(&redirect))).await.unwrap()
}

/// Opens a page, and every one to which it leads, also that of the login. Returns what the last page shows.
pub(crate) async fn visit(page: &str) -> String {
    let page = page.to_owned();
    spawn_blocking(move || follow(page, None)).await.unwrap()
}

/// Sends a request without a body, and returns the body of the answer.
pub(crate) async fn request(method: &'static str, url: String) -> String {
    spawn_blocking(move || exchange(method, &url, &BTreeMap::new()).1).await.unwrap()
}

fn follow(mut url: String, redirect: Option<&str>) -> String {
    // By the name and the path, as the authorization server sets some of the same name.
    let mut cookies = BTreeMap::new();
    for _ in 0..REDIRECTS_MAX {
        if redirect.is_some_and(|redirect| url.starts_with(redirect)) {
            return url;
        }
        let (head, body) = exchange("GET", &url, &cookies);
        for line in head.lines() {
            let Some(cookie) = line.strip_prefix("set-cookie: ").or(line.strip_prefix("Set-Cookie: ")) else {
                continue;
            };
            let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
            let path = attributes.split(';').find_map(|part| part.trim().strip_prefix("path=")).unwrap_or("/");
            let (name, value) = pair.split_once('=').unwrap();
            cookies.insert((name.to_owned(), path.to_owned()), value.to_owned());
        }
        let location =
            head.lines().find_map(|line| line.strip_prefix("location: ").or(line.strip_prefix("Location: ")));
        let location = match location {
            Some(location) => location,
            None if redirect.is_none() => return body,
            None => panic!("no redirect: {head}\n{body}"),
        };
        let origin: String = url.split('/').take(3).collect::<Vec<_>>().join("/");
        url = if location.starts_with('/') { origin + location } else { location.to_owned() };
    }
    panic!("too many redirects");
}

/// Returns the head and the body of the answer. Like a browser, asks again if the connection ends without one.
fn exchange(method: &str, url: &str, cookies: &BTreeMap<(String, String), String>) -> (String, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let plain_path = path.split('?').next().unwrap();
    let sent = cookies.iter().filter(|((_, path), _)| plain_path.starts_with(path.as_str()));
    let sent: Vec<String> = sent.map(|((name, _), value)| format!("{name}={value}")).collect();
    let cookie = if sent.is_empty() { String::new() } else { format!("Cookie: {}\r\n", sent.join("; ")) };
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{cookie}Content-Length: 0\r\nConnection: close\r\n\r\n");
    for _ in 0..TRIES_MAX {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            return (head.to_owned(), body.to_owned());
        }
    }
    panic!("no answer from {url}");
}
