//! `mcp-server-fetch` of PyPI: it reaches the hosts of its section through the proxy of the host, and nothing else.

use super::pages::{GRANTED, NO_CLIENT, OTHER, PATIENT, PageList, PageSite, call, read_only, recorded, writable};
use crate::office::{installed, succeeded};
use portcullis::{Code, Host, Reply};
use portcullis_tests::assert_verifies;
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGES: PageList = &[
    ("/robots.txt", "User-agent: *\nDisallow: /private\n"),
    ("/page", "<html><body><article><h1>A page</h1><p>It has a paragraph of text.</p></article></body></html>"),
    ("/private", "<html><body><article><p>This page is private.</p></article></body></html>"),
];

/// The line that keeps the server from finding npm. With npm, it runs `npm install` before it converts a page.
const NO_NPM: &str = "environment = { PATH = \"/nonexistent\" }";

fn python() -> PathBuf {
    installed("PORTCULLIS_TEST_PYTHON_SERVERS")
}

/// Returns what a program prints, without the line's end.
fn printed(program: impl AsRef<OsStr>, arguments: &[&str]) -> String {
    succeeded(&Command::new(program).args(arguments).output().unwrap()).trim_end().to_owned()
}

/// Opens a host with the server. Its section has the arguments of the program, and these lines.
async fn open(pages: &PageSite, arguments: &[&str], lines: &[String]) -> Host {
    let python = python();
    let environment = python.parent().and_then(Path::parent).unwrap();
    let library = PathBuf::from(printed(&python, &["-c", "import sys; print(sys.base_prefix)"]));
    let command = [&[python.to_str().unwrap(), "-m", "mcp_server_fetch"], arguments].concat();
    let directories = [read_only("environment", environment), read_only("library", &library)];
    let mut section = vec![format!("command = {command:?}"), PATIENT.to_owned()];
    section.extend(directories.into_iter().flatten());
    pages.open("fetch", &[section.as_slice(), lines].concat()).await
}

async fn fetch(host: &Host, url: &str) -> Reply {
    call(host, "fetch.fetch", json!({ "url": url })).await
}

#[tokio::test]
async fn a_page_is_fetched_and_each_request_is_recorded() {
    let pages = PageSite::new(PAGES);
    let host = open(&pages, &[], &[pages.network(GRANTED), NO_NPM.to_owned()]).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/page")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert!(reply.message.contains("# A page\n\nIt has a paragraph of text."), "{}", reply.message);
    let requests = ["/robots.txt", "/page"].map(|path| format!("GET {} 200", pages.url(GRANTED, path)));
    assert_eq!(recorded(&host, &reply), requests);
    assert_eq!(pages.received(), ["/robots.txt", "/page"]);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_page_is_fetched_over_https_through_a_tunnel() {
    let pages = PageSite::with_tls(PAGES);
    let desk = pages.site.directory("desk");
    let trusted = format!("environment = {{ PATH = \"/nonexistent\", SSL_CERT_FILE = {:?} }}", desk.join("ca.pem"));
    let lines = [pages.network(GRANTED), trusted, writable("desk", &desk)];
    let host = open(&pages, &[], &lines).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/page")).await;
    assert!(reply.message.contains("It has a paragraph of text."), "{}", reply.message);
    let tunnel = format!("CONNECT {} 200", pages.url(GRANTED, "/"));
    assert_eq!(recorded(&host, &reply), [tunnel.clone(), tunnel]);
    let reply = fetch(&host, &pages.url(OTHER, "/page")).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    let refused = format!("CONNECT {} the policy does not name the host {OTHER}", pages.url(OTHER, "/"));
    assert_eq!(recorded(&host, &reply), [refused]);
    assert_eq!(pages.received(), ["/robots.txt", "/page"]);
}

#[tokio::test]
async fn a_page_that_robots_txt_disallows_is_fetched_only_if_the_policy_says_so() {
    let pages = PageSite::new(PAGES);
    let lines = [pages.network(GRANTED), NO_NPM.to_owned()];
    let host = open(&pages, &[], &lines).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/private")).await;
    let is_told = reply.message.contains("autonomous fetching of this page is not allowed");
    assert_eq!((reply.code, is_told), (Code::ToolFailed, true), "{}", reply.message);
    assert_eq!(pages.received(), ["/robots.txt"]);
    drop(host);
    let host = open(&pages, &["--ignore-robots-txt"], &lines).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/private")).await;
    assert!(reply.message.contains("This page is private."), "{}", reply.message);
    assert_eq!(pages.received(), ["/robots.txt", "/private"]);
}

#[tokio::test]
async fn a_host_that_the_policy_does_not_name_is_refused() {
    let (pages, beside) = (PageSite::new(PAGES), Server::plain(Behaviour::ok()));
    let (named, port) = (pages.network(GRANTED), beside.port());
    for (arguments, path, told) in
        [(&[][..], "/robots.txt", "received status 403"), (&["--ignore-robots-txt"][..], "/page", "status code 403")]
    {
        let host = open(&pages, arguments, &[named.clone(), NO_NPM.to_owned()]).await;
        let targets = [
            (pages.url(OTHER, ""), format!("the policy does not name the host {OTHER}")),
            (format!("http://{GRANTED}:{port}"), format!("the policy grants no port {port}")),
        ];
        for (origin, reason) in targets {
            let reply = fetch(&host, &format!("{origin}/page")).await;
            assert_eq!((reply.code, reply.message.contains(told)), (Code::ToolFailed, true), "{}", reply.message);
            assert_eq!(recorded(&host, &reply), [format!("GET {origin}{path} {reason}")]);
        }
    }
    pages.web.saw_nothing();
    beside.saw_nothing();
}

/// The variable `no_proxy` names the loopback addresses, because the program's network has its own ones.
#[tokio::test]
async fn a_loopback_address_of_the_machine_is_reached_only_without_no_proxy() {
    let pages = PageSite::new(PAGES);
    let url = pages.url("127.0.0.1", "/page");
    let refusing = open(&pages, &[], &[pages.network("127.0.0.1"), NO_NPM.to_owned()]).await;
    let reply = fetch(&refusing, &url).await;
    assert!(reply.message.contains("is not a public address"), "the server checks addresses: {}", reply.message);
    drop(refusing);
    let direct = open(&pages, &["--allow-private-ips"], &[pages.network("127.0.0.1"), NO_NPM.to_owned()]).await;
    let reply = fetch(&direct, &url).await;
    assert_eq!((reply.code, recorded(&direct, &reply)), (Code::ToolFailed, vec![]), "{}", reply.message);
    pages.web.saw_nothing();
    drop(direct);
    let proxied = "environment = { PATH = \"/nonexistent\", NO_PROXY = \"\", no_proxy = \"\" }".to_owned();
    let host = open(&pages, &["--allow-private-ips"], &[pages.network("127.0.0.1"), proxied]).await;
    let reply = fetch(&host, &url).await;
    assert!(reply.message.contains("It has a paragraph of text."), "{}", reply.message);
}

#[tokio::test]
async fn without_network_no_page_is_fetched() {
    let pages = PageSite::new(PAGES);
    let host = open(&pages, &["--ignore-robots-txt"], &[NO_NPM.to_owned()]).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/page")).await;
    assert_eq!((reply.code, reply.message.contains("403")), (Code::ToolFailed, true), "{}", reply.message);
    assert_eq!(recorded(&host, &reply), [format!("GET {} {NO_CLIENT}", pages.url(GRANTED, "/page"))]);
    pages.web.saw_nothing();
}

/// To convert a page, the server uses a program of npm, which it installs during the first call.
#[tokio::test]
async fn the_packages_that_the_server_installs_during_a_call_are_refused() {
    let pages = PageSite::new(PAGES);
    let node = PathBuf::from(printed("node", &["-p", "process.execPath"]));
    let programs = node.parent().unwrap();
    assert!(programs.join("npm").exists(), "npm is beside {}", node.display());
    // A server that is not confined may have installed them in the environment of the tests.
    let desk = pages.site.directory("desk");
    copy_without_node_modules(&PathBuf::from(printed(python(), &["-c", CONVERTER])), &desk.join("readabilipy"));
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let mut lines = vec![
        pages.network(GRANTED),
        format!("environment = {{ PATH = {path:?}, PYTHONPATH = {desk:?} }}"),
        writable("desk", &desk),
    ];
    lines.extend(read_only("node", programs.parent().unwrap()));
    let host = open(&pages, &[], &lines).await;
    let reply = fetch(&host, &pages.url(GRANTED, "/page")).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    let mut elsewhere = recorded(&host, &reply);
    elsewhere.retain(|request| !request.contains(GRANTED));
    let is_refused = |request: &String| request.contains("the policy does not name the host");
    assert!(!elsewhere.is_empty() && elsewhere.iter().all(is_refused), "{elsewhere:?}");
    assert!(!desk.join("readabilipy/javascript/node_modules").exists());
    let raw = call(&host, "fetch.fetch", json!({ "url": pages.url(GRANTED, "/page"), "raw": true })).await;
    assert!(raw.message.contains("<h1>A page</h1>"), "a raw page needs no conversion: {}", raw.message);
}

/// Prints the folder of the Python package that converts pages.
const CONVERTER: &str =
    "import importlib.util; print(importlib.util.find_spec('readabilipy').submodule_search_locations[0])";

fn copy_without_node_modules(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten().filter(|entry| entry.file_name() != "node_modules") {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_without_node_modules(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
