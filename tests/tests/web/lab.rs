//! A host with the plugin, and helpers to observe what it fetches.

use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Code, Host, Output, Question, Reply, Request};
use portcullis_tests::net::{Behaviour, Dns, Server};
use portcullis_tests::{Site, allow_all, assert_verifies, outcome_of, shipped_plugin};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The host that the policy names.
pub(crate) const NAMED: &str = "docs.test";

/// A host that it does not name.
pub(crate) const UNNAMED: &str = "other.test";

/// Builds the binding of the plugin's client: `NAMED` at these servers, and more TOML fields.
pub(crate) fn grant(servers: &[&Server], more: &str) -> String {
    let ports: Vec<_> = servers.iter().map(|server| server.port()).collect();
    format!(
        "[plugin.web]\nhttp.fetch = {{ hosts = [\"{NAMED}\"], schemes = [\"http\"], ports = {ports:?}, \
         addresses = [\"127.0.0.0/8\"]{more} }}\n"
    )
}

/// A host, and the files around it.
pub(crate) struct Lab {
    #[expect(dead_code, reason = "its files stay for as long as the host")]
    site: Site,
    #[expect(dead_code, reason = "it answers for as long as it is there")]
    dns: Dns,
    pub(crate) host: Host,
}

impl Lab {
    /// Opens a host that may fetch from a server.
    pub(crate) async fn of(server: &Server) -> Self {
        Self::open(&grant(&[server], ""), None).await
    }

    /// Opens a host with these policy lines for the plugin, and an approver.
    pub(crate) async fn open(granted: &str, person: Option<Arc<Person>>) -> Self {
        let site = bare();
        site.warm();
        let dns = Dns::start();
        for name in [NAMED, UNNAMED] {
            dns.point(name, &["127.0.0.1"]);
        }
        let limits = allow_all("");
        let policy = format!("{limits}[network]\nname-servers = [\"{}\"]\n{granted}", dns.address());
        let builder = site.builder(&policy);
        let builder = match person {
            Some(person) => builder.approver(person),
            None => builder,
        };
        let host = builder.open().await.unwrap_or_else(|error| panic!("{error}\n{policy}"));
        if let Some(refusal) = host.catalog().refusal("web") {
            panic!("the plugin was refused: {}", refusal.error);
        }
        Self { site, dns, host }
    }

    /// Calls the tool. Any outcome is accepted. Asserts what must be true for every call.
    pub(crate) async fn call(&self, arguments: &Value) -> Reply {
        let reply = self.host.call(Request::new("web.fetch", arguments.to_string())).await;
        outcome_of(&self.host, &reply.id);
        assert_verifies(&self.host);
        reply
    }

    /// Fetches a page.
    pub(crate) async fn fetch(&self, url: &str) -> Reply {
        self.call(&json!({ "url": url })).await
    }

    /// Returns the text of a fetched page.
    pub(crate) async fn text(&self, url: &str) -> String {
        text(&self.fetch(url).await)
    }
}

/// Returns the URL of a server's page, with the name of its host.
pub(crate) fn at(name: &str, server: &Server, path: &str) -> String {
    format!("http://{name}:{}{path}", server.port())
}

/// Returns the text of a completed call.
#[track_caller]
pub(crate) fn text(reply: &Reply) -> String {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Text(text)) = &reply.output else { panic!("no text") };
    text.clone()
}

/// Starts a server that answers every request with this body and type.
pub(crate) fn serving(content_type: &'static str, body: impl Into<Vec<u8>>) -> Server {
    let body = body.into();
    Server::plain(Behaviour::answer(move |_| Behaviour::whole(200, &[("content-type", content_type)], &body)))
}

/// An approver that gives every request the same answer, and records the requests.
pub(crate) struct Person {
    answer: Answer,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    pub(crate) fn who_says(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

fn bare() -> Site {
    let site = Site::new();
    site.plugin("web", &shipped_plugin("web"));
    site
}
