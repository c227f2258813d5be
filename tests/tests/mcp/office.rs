//! A site with the clerk plugin, whose notes show how often it ran, and servers for it.

use crate::asking::client::PATIENCE;
use portcullis::approvals::{OpenQuestion, Status};
use portcullis::{Approvals, Host, HostBuilder};
use portcullis_mcp::{ClientAnswers, Server, ServerOptions};
use portcullis_tests::{BlockOn, Site, built_guest, shipped_plugin};
use std::fs;
use std::time::Duration;
use tokio::time::Instant;

/// Each note needs approval, signing asks during the call, and everything else is allowed.
const RULES: &str = r#"
[defaults]
decision = "ask"
[[rule]]
tool = "clerk.sign"
when = { text = "**" }
decision = "allow"
[[rule]]
tool = "clerk.count"
decision = "allow"
[[rule]]
tool = "clerk.fail"
decision = "allow"
[[rule]]
tool = "clerk.wait"
decision = "allow"
"#;

/// A site, its host, and its server.
pub(crate) struct Office {
    site: Site,
    pub(crate) host: Host,
    pub(crate) server: Server,
}

impl Office {
    /// Makes an office in which a client's answers count.
    pub(crate) async fn open() -> Self {
        Self::with("", answered_by_clients()).await
    }

    /// Makes an office with these policy lines about approvals and limits.
    pub(crate) async fn with(approvals: &str, options: ServerOptions) -> Self {
        Self::opened(Site::new(), approvals, options, |builder| builder).await
    }

    /// Makes an office whose host is opened as `serve` opens it.
    pub(crate) async fn serving(approvals: &str, options: ServerOptions) -> Self {
        Self::opened(Site::new(), approvals, options, HostBuilder::answered_elsewhere).await
    }

    /// Makes an office in which the files plugin works on the clerk's notes.
    pub(crate) async fn with_files() -> Self {
        let site = Site::new();
        site.plugin("files", &shipped_plugin("files"));
        let files = "[plugin.files]\ndirectory.workspace = { path = \"desk\", access = \"read-write\" }";
        Self::opened(site, files, answered_by_clients(), |builder| builder).await
    }

    /// Makes an office in which the web plugin fetches from these ports of this machine.
    pub(crate) async fn with_web(ports: &[u16]) -> Self {
        let site = Site::new();
        site.plugin("web", &shipped_plugin("web"));
        let web = format!(
            "[plugin.web]\nhttp.fetch = {{ hosts = [\"127.0.0.1\"], schemes = [\"http\"], ports = {ports:?} }}\n\
             [limits]\ntime = \"20 s\""
        );
        Self::opened(site, &web, answered_by_clients(), |builder| builder).await
    }

    async fn opened(site: Site, approvals: &str, options: ServerOptions, open: fn(HostBuilder) -> HostBuilder) -> Self {
        site.plugin("clerk", &built_guest("clerk"));
        site.directory("desk");
        let desk = r#"directory.desk = { path = "desk", access = "read-write" }"#;
        let policy = format!("[approvals]\nrepeats = 1000000\n{approvals}\n[plugin.clerk]\n{desk}\n{RULES}");
        let host = open(site.builder(&policy)).open().await.unwrap();
        let server = Server::new(host.clone(), options).unwrap();
        Self { site, host, server }
    }

    /// Starts another server of the same host.
    pub(crate) fn server(&self, options: ServerOptions) -> Server {
        Server::new(self.host.clone(), options).unwrap()
    }

    /// Writes the notes as another program would.
    pub(crate) fn write_notes(&self, text: &str) {
        fs::write(self.site.path("desk/notes.txt"), text).unwrap();
    }

    /// Returns the clerk's notes in order.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.site.path("desk/notes.txt")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// Returns the open and settled approval requests.
    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        self.approvals().list_all().block_on().unwrap().questions
    }

    /// Returns the only open approval request.
    pub(crate) async fn question(&self) -> OpenQuestion {
        let late = Instant::now() + PATIENCE;
        loop {
            let open: Vec<_> = self.questions().into_iter().filter(|question| question.status.is_open()).collect();
            if let [question] = &open[..] {
                return question.clone();
            }
            assert!(Instant::now() < late, "{open:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the audit log contains this many calls with these outcomes, in order of their end.
    pub(crate) async fn ended(&self, outcomes: &[&str]) {
        let late = Instant::now() + PATIENCE;
        loop {
            let ended = self.outcomes();
            if ended == outcomes {
                return;
            }
            assert!(Instant::now() < late, "got {ended:?}, expected {outcomes:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the only open approval request is withdrawn.
    pub(crate) async fn withdrawn(&self) {
        let late = Instant::now() + PATIENCE;
        while self.questions()[0].status != Status::Withdrawn {
            assert!(Instant::now() < late, "{:?}", self.questions());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn outcomes(&self) -> Vec<String> {
        let outcomes = portcullis_tests::outcomes(&self.host);
        outcomes.iter().map(|line| line["code"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        self.host.approvals()
    }
}

/// Options in which the client answers for its user.
pub(crate) fn answered_by_clients() -> ServerOptions {
    ServerOptions { client_answers: ClientAnswers::Person, ..ServerOptions::default() }
}

/// Options in which only other channels answer.
pub(crate) fn answered_elsewhere() -> ServerOptions {
    ServerOptions::default()
}
