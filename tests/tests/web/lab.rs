//! A host with the plugin, and what a test needs to look at what it fetched.

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

/// What a policy binds to the plugin's client: `NAMED` at these servers, and more fields as TOML has them.
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
    /// A host that may fetch from a server.
    pub(crate) async fn of(server: &Server) -> Self {
        Self::open(&grant(&[server], ""), None).await
    }

    /// A host with what a policy says of the plugin, and with somebody to ask.
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

    /// Calls the tool, however that ends, and asserts what holds of every call.
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

    /// The text that a page comes out as.
    pub(crate) async fn text(&self, url: &str) -> String {
        text(&self.fetch(url).await)
    }
}

/// Where a server's page is, by the name of its host.
pub(crate) fn at(name: &str, server: &Server, path: &str) -> String {
    format!("http://{name}:{}{path}", server.port())
}

/// The text of a completed call.
#[track_caller]
pub(crate) fn text(reply: &Reply) -> String {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Text(text)) = &reply.output else { panic!("no text") };
    text.clone()
}

/// A server that answers everything with a body of a type.
pub(crate) fn serving(content_type: &'static str, body: impl Into<Vec<u8>>) -> Server {
    let body = body.into();
    Server::plain(Behaviour::answer(move |_| Behaviour::whole(200, &[("content-type", content_type)], &body)))
}

/// Somebody who answers every question alike, and remembers what they were asked.
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
