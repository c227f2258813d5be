//! A web server with a few pages, and a site for a host whose policy has a server package.

use portcullis::text::WithCauses;
use portcullis::{Host, Reply, Request};
use portcullis_tests::net::{Authority, Behaviour, Dns, Server};
use portcullis_tests::{Site, outcome_of};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The rule that allows every call.
const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The host name that the policy of a test names.
pub(crate) const GRANTED: &str = "pages.test";

/// A host name of the same web server, which no policy names.
pub(crate) const OTHER: &str = "other.test";

/// The line of a section with enough time for a call on a busy machine.
pub(crate) const PATIENT: &str = "limits = { time = \"2 min\" }";

/// Why a request of a server without `network` fails.
pub(crate) const NO_CLIENT: &str = "no HTTP client is granted to this call";

/// The directories of the system, which every confined program sees.
const SYSTEM: [&str; 2] = ["/usr", "/bin"];

/// The pages of a web server, by their paths.
pub(crate) type PageList = &'static [(&'static str, &'static str)];

/// A web server with pages, and a site for the host.
pub(crate) struct PageSite {
    pub(crate) site: Site,
    pub(crate) web: Server,
    dns: Dns,
    scheme: &'static str,
}

impl PageSite {
    /// Starts a web server with these pages.
    pub(crate) fn new(pages: PageList) -> Self {
        Self::of(Site::new(), Server::plain(serving(pages)), "http")
    }

    /// Starts a web server with TLS. The certificate of its authority is in the file `desk/ca.pem`.
    pub(crate) fn with_tls(pages: PageList) -> Self {
        let (site, authority) = (Site::new(), Authority::new("Portcullis tests"));
        fs::write(site.directory("desk").join("ca.pem"), authority.pem()).unwrap();
        Self::of(site, Server::tls(authority.serves(&[GRANTED, OTHER]), serving(pages)), "https")
    }

    fn of(site: Site, web: Server, scheme: &'static str) -> Self {
        // The host starts this program again to confine the server.
        portcullis::init();
        let dns = Dns::start();
        for name in [GRANTED, OTHER] {
            dns.point(name, &["127.0.0.1"]);
        }
        Self { site, web, dns, scheme }
    }

    /// Returns the URL of a page at a host name.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.web.port())
    }

    /// Returns the line of a section that gives a server one host name of the web server.
    pub(crate) fn network(&self, host: &str) -> String {
        let (scheme, port) = (self.scheme, self.web.port());
        format!(
            "network = {{ hosts = [{host:?}], schemes = [{scheme:?}], ports = [{port}], addresses = [\"127.0.0.0/8\"] }}"
        )
    }

    /// Opens a host whose policy has a server with these lines in its section. The server must start.
    pub(crate) async fn open(&self, server: &str, lines: &[String]) -> Host {
        let mut policy = format!("[network]\nname-servers = [\"{}\"]\n[server.{server}]\n", self.dns.address());
        for line in lines {
            let _ = writeln!(policy, "{line}");
        }
        let host = self.site.open(&(policy + ALLOW)).await;
        let catalog = host.catalog();
        let refused = catalog.refused().iter().map(|refused| WithCauses(&*refused.error).to_string());
        let refused: Vec<String> = refused.collect();
        assert!(refused.is_empty() && catalog.plugin(server).is_some(), "{refused:?}");
        host
    }

    /// Returns the paths of the requests that the web server received, in their order.
    pub(crate) fn received(&self) -> Vec<String> {
        let path = |request: &String| request.split(' ').nth(1).unwrap_or_default().to_owned();
        self.web.texts().iter().map(path).collect()
    }
}

fn serving(pages: PageList) -> Behaviour {
    Behaviour::answer(|request| {
        let request = String::from_utf8_lossy(request);
        let path = request.split(' ').nth(1).unwrap_or_default();
        match pages.iter().find(|(place, _)| *place == path) {
            Some((_, page)) => {
                let kind = if page.starts_with('<') { "text/html; charset=utf-8" } else { "text/plain" };
                Behaviour::whole(200, &[("content-type", kind)], page)
            }
            None => Behaviour::whole(404, &[("content-type", "text/plain")], "no such page"),
        }
    })
}

/// Returns the line of a section that gives a server a directory, read-only. The system needs none.
pub(crate) fn read_only(key: &str, path: &Path) -> Option<String> {
    let is_system = SYSTEM.iter().any(|system| path.starts_with(system));
    (!is_system).then(|| format!("directory.{key} = {{ path = {path:?} }}"))
}

/// Returns the line of a section that gives a server a directory in which it can write.
pub(crate) fn writable(key: &str, path: &Path) -> String {
    format!("directory.{key} = {{ path = {path:?}, access = \"read-write\" }}")
}

pub(crate) async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::new(tool, arguments.to_string())).await
}

/// Returns the requests in the audit log's outcome of a call, each with its status or the reason why it failed.
pub(crate) fn recorded(host: &Host, reply: &Reply) -> Vec<String> {
    let outcome = outcome_of(host, &reply.id);
    let requests = outcome["http"]["requests"].as_array().cloned().unwrap_or_default();
    let line = |request: &Value| {
        let ended = if request["error"].is_null() { &request["status"] } else { &request["error"] };
        let ended = ended.as_str().map_or_else(|| ended.to_string(), str::to_owned);
        format!("{} {} {ended}", request["method"].as_str().unwrap(), request["url"].as_str().unwrap())
    };
    requests.iter().map(line).collect()
}
