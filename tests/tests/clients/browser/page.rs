//! A page in a browser, the server that it is loaded from, and its report.

use super::target::{Head, answer};
use crate::office::{PATIENCE, installed};
use serde_json::{Map, Value};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use tempfile::TempDir;

/// Another address of this machine, for a server at the port of the attacked server.
const BESIDE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The page, and the data that it gets.
#[derive(Clone)]
pub(super) struct Stage {
    html: Arc<str>,
    told: Arc<str>,
}

impl Stage {
    pub(super) fn new(html: &str, told: &Value) -> Self {
        Self { html: html.into(), told: told.to_string().into() }
    }
}

/// An open page. Closed on drop.
pub(super) struct Page {
    browser: Child,
    reports: Receiver<String>,
    _profile: TempDir,
}

impl Page {
    /// Opens the page at a host name, from a server at a free port of this machine.
    pub(super) fn open(host: &str, stage: &Stage) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self::of(host, listener, stage, None)
    }

    /// Opens the page at a host name and the port of another server. All further requests to that name and port reach
    /// the other server, as after DNS rebinding.
    pub(super) fn open_before(host: &str, stage: &Stage, port: u16) -> Self {
        let listener = TcpListener::bind((BESIDE, port)).unwrap();
        Self::of(host, listener, stage, Some((Ipv4Addr::LOCALHOST, port).into()))
    }

    fn of(host: &str, listener: TcpListener, stage: &Stage, behind: Option<SocketAddr>) -> Self {
        let address = listener.local_addr().unwrap();
        let (sender, reports) = mpsc::channel();
        serve(listener, stage.clone(), behind, sender);
        let profile = TempDir::new().unwrap();
        let browser = browse(&profile, &format!("http://{host}:{}/", address.port()), address.ip());
        Self { browser, reports, _profile: profile }
    }

    /// Waits for the page's report.
    pub(super) fn report(&self) -> Map<String, Value> {
        let report = self.reports.recv_timeout(PATIENCE).expect("the page sends a report");
        serde_json::from_str(&report).unwrap()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

/// Starts the browser at a page. It resolves every name except the loopback ones to `address`, so that no request
/// leaves the machine.
fn browse(profile: &TempDir, page: &str, address: IpAddr) -> Child {
    let mut browser = Command::new(installed("PORTCULLIS_TEST_BROWSER"));
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-proxy-server"]);
    browser.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    // Browsers are starting to ask the user before a page may reach the local network. The server must not rely on it.
    browser.arg("--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests");
    browser.arg(format!("--host-resolver-rules=MAP * {address}, EXCLUDE 127.0.0.1, EXCLUDE localhost"));
    browser.arg(format!("--user-data-dir={}", profile.path().display())).arg("--remote-debugging-port=0");
    browser.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    browser.spawn().unwrap()
}

fn serve(listener: TcpListener, stage: Stage, behind: Option<SocketAddr>, reports: Sender<String>) {
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (stage, reports) = (stage.clone(), reports.clone());
            // The browser may open and drop a connection, which is not an error.
            thread::spawn(move || _ = attend(stream, &stage, behind, &reports));
        }
    });
}

/// Answers one request: with the page, its data, an acknowledgement of its report, or the other server's response.
fn attend(
    mut stream: TcpStream,
    stage: &Stage,
    behind: Option<SocketAddr>,
    reports: &Sender<String>,
) -> io::Result<()> {
    let head = Head::read(&mut stream)?;
    match (head.method.as_str(), head.path.as_str(), behind) {
        ("GET", "/", _) => answer(&mut stream, "text/html; charset=utf-8", &stage.html, &[]),
        ("GET", "/told", _) => answer(&mut stream, "application/json", &stage.told, &[]),
        ("POST", "/report", _) => {
            let report = head.body(&mut stream)?;
            // If the test has failed, no one receives the report.
            let _ = reports.send(report);
            answer(&mut stream, "text/plain", "", &[])
        }
        (_, _, Some(behind)) => forward(stream, &head, behind),
        _ => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    }
}

/// Forwards a request and its response unchanged, except that the connection closes after it, so that the next request
/// is inspected again.
fn forward(mut stream: TcpStream, head: &Head, behind: SocketAddr) -> io::Result<()> {
    let mut server = TcpStream::connect(behind)?;
    let lines = head.lines.iter().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let lines: String = lines.map(|line| format!("{line}\r\n")).collect();
    let body = head.body(&mut stream)?;
    write!(server, "{lines}Connection: close\r\n\r\n{body}")?;
    io::copy(&mut server, &mut stream)?;
    stream.shutdown(Shutdown::Both)
}
