//! A site with small plugins and a console in this process, and a browser that is signed in to it.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use portcullis::approvals::{OpenQuestion, Status};
use portcullis::policy::{Layer, Pause};
use portcullis::policy::{Principal, Unattended};
use portcullis::{Approvals, Host, Reply, Request, open_approvals, open_audit};
use portcullis_console::{ConsoleOptions, HostSource, PauseSwitch, ResumePreview, Running, serve};
use portcullis_tests::{Manifest, Site, guest, shipped_plugin};
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Every call needs approval.
pub(crate) const POLICY: &str = "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"60 s\"\n\
    [plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\nreason = \"a person looks first\"\n";

/// A pause that is in no file. `program.rs` tests the pause of the real program.
#[derive(Debug, Default)]
struct PauseOfTest(Mutex<bool>);

impl PauseSwitch for PauseOfTest {
    fn pause_of_files(&self) -> Option<Pause> {
        self.0.lock().unwrap().then(|| Pause { layer: Layer::User, reason: "paused by a test".into() })
    }

    fn pause(&self, _by: Option<&Principal>) -> Result<(), String> {
        *self.0.lock().unwrap() = true;
        Ok(())
    }

    fn preview(&self) -> Result<ResumePreview, String> {
        Ok(ResumePreview { path: "policy.toml".to_owned(), difference: String::new(), sha256: String::new() })
    }

    fn resume(&self, _sha256: &str) -> Result<(), String> {
        *self.0.lock().unwrap() = false;
        Ok(())
    }
}

/// A site, its console, and the host of the console.
pub(crate) struct ConsoleDesk {
    pub(crate) site: Site,
    pub(crate) host: Host,
    running: Running,
}

/// A browser with a cookie.
#[derive(Clone)]
pub(crate) struct SignedIn {
    pub(crate) address: SocketAddr,
    pub(crate) cookie: String,
}

impl ConsoleDesk {
    pub(crate) async fn new() -> Self {
        Self::with(Site::new()).await
    }

    /// Opens the console of a site, whose plugins are `good` and the shipped files plugin.
    pub(crate) async fn with(site: Site) -> Self {
        site.plugin("files", &shipped_plugin("files"));
        site.directory("work");
        fs::write(site.path("policy.toml"), POLICY).unwrap();
        let host = site.builder(POLICY).answered_elsewhere().share_live().open().await.unwrap();
        // The console reads the state directory by itself, as it does for the hosts of other processes.
        let approvals = open_approvals(&site.state()).await.unwrap();
        let audit = open_audit(&site.state()).await.unwrap();
        let policy_files = vec![site.path("policy.toml")];
        let options = ConsoleOptions {
            state: site.state(),
            approvals,
            audit,
            host: HostSource::of(host.clone()),
            policy_files,
            pause: Arc::new(PauseOfTest::default()),
            may_resume: false,
        };
        let running = serve(0, options).await.unwrap();
        host.keep_unreachable(running.address());
        Self { site, host, running }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Returns the path of a new login link.
    pub(crate) fn link(&self) -> String {
        let link = self.running.link().unwrap();
        let origin = format!("http://{}", self.address());
        link.strip_prefix(&origin).unwrap().to_owned()
    }

    /// Signs a browser in.
    pub(crate) async fn sign_in(&self) -> SignedIn {
        let response = self.request("GET", &self.link()).send(self.address()).await.is(200);
        let cookie = response.header("Set-Cookie").unwrap().split(';').next().unwrap().to_owned();
        SignedIn { address: self.address(), cookie }
    }

    /// Returns a request of a browser that is not signed in.
    pub(crate) fn request(&self, method: &str, target: &str) -> Ask {
        Ask::new(method, target).with("Host", &self.address().to_string())
    }

    /// Makes a call that waits for its answer in this process.
    pub(crate) async fn ask(&self, request: Request) -> (String, JoinHandle<Reply>) {
        let known = self.open().await;
        let host = self.host.clone();
        let call = tokio::spawn(async move { host.call(request).await });
        let asked = timeout(PATIENCE, async {
            loop {
                let open = self.open().await;
                if let Some(new) = open.iter().find(|open| known.iter().all(|known| known.id != open.id)) {
                    return new.id.clone();
                }
            }
        });
        (asked.await.unwrap(), call)
    }

    /// Makes a call whose process has ended before an answer.
    pub(crate) async fn leave_behind(&self, request: Request) -> String {
        let known = self.open().await;
        self.host.call(request.unattended(Unattended::Pending)).await;
        let open = self.open().await;
        open.into_iter().find(|open| known.iter().all(|known| known.id != open.id)).unwrap().id
    }

    /// Returns the requests that wait for an answer.
    pub(crate) async fn open(&self) -> Vec<OpenQuestion> {
        let listing = self.approvals().list().await.unwrap();
        listing.questions.into_iter().filter(|open| open.status == Status::Pending).collect()
    }

    pub(crate) async fn status(&self, id: &str) -> Status {
        self.approvals().question(id).await.unwrap().status
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        self.host.approvals()
    }
}

impl SignedIn {
    /// Returns a request of the console's own page.
    pub(crate) fn request(&self, method: &str, target: &str) -> Ask {
        let request = Ask::new(method, target).with("Host", &self.address.to_string());
        request.with("Cookie", &self.cookie).with("Sec-Fetch-Site", "same-origin")
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.request("GET", target).send(self.address).await
    }

    /// Returns a form of the console's own page.
    pub(crate) fn form(&self, target: &str, fields: &[(&str, &str)]) -> Ask {
        let encode = |text: &str| {
            let byte = |byte: u8| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            };
            text.bytes().map(byte).collect::<String>()
        };
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let request = self.request("POST", target).with("Origin", &format!("http://{}", self.address));
        request.with("Content-Type", "application/x-www-form-urlencoded").body(body.join("&"))
    }

    pub(crate) async fn post(&self, target: &str, fields: &[(&str, &str)]) -> Answer {
        self.form(target, fields).send(self.address).await
    }

    /// Answers a request as its page shows it now.
    pub(crate) async fn answer(&self, id: &str, answer: &str, more: &[(&str, &str)]) -> Answer {
        let page = self.get(&format!("/inbox/{id}")).await.is(200);
        let (csrf, request) = (page.field("csrf"), page.field("request"));
        let fields = [("csrf", csrf.as_str()), ("request", &request), ("answer", answer)];
        self.post("/inbox/answer", &[&fields[..], more].concat()).await
    }

    /// Returns what the next page tells this browser.
    pub(crate) async fn told(&self) -> String {
        let page = self.get("/remembered").await;
        let notices = page.body.split("id=\"notices\"").nth(1).unwrap();
        notices.split("</div>").next().unwrap().to_owned()
    }
}

/// Builds a call that echoes its arguments.
pub(crate) fn echo(number: usize) -> Request {
    Request::new("good.run", format!(r#"{{"n":{number}}}"#))
}

/// Builds a call that writes a file.
pub(crate) fn write(path: &str, content: &str) -> Request {
    Request::json("files.write", &serde_json::json!({ "path": path, "content": content }))
}

/// Returns a site with another plugin that echoes its arguments.
pub(crate) fn site_with(manifest: &Manifest) -> Site {
    let site = Site::new();
    site.plugin(&manifest.name, &guest("good", manifest));
    site
}
