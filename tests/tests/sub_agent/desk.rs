//! A host with the plugin and tools for it to call, and helpers to look at what a run left.

use portcullis::outputs::Reader;
use portcullis::policy::Principal;
use portcullis::{Code, Host, Reply, Request};
use portcullis_tests::net::Server;
use portcullis_tests::{BlockOn, Site, shipped_plugin};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The key of the model, which must appear only on the wire.
pub(crate) const KEY: &str = "sk-3xAmPl3K3y0fNob0dy";

/// The tools that the policy binds.
const TOOLS: &str = r#"{ tools = ["files.*", "good.*"], calls = 200 }"#;

/// A policy whose parts a test can replace.
pub(crate) struct Plan {
    format: &'static str,
    path: &'static str,
    slot: &'static str,
    settings: String,
    tools: String,
}

impl Plan {
    /// Plans a sub-agent that talks Chat Completions.
    pub(crate) fn new() -> Self {
        Self {
            format: "openai",
            path: "/v1/chat/completions",
            slot: "header = \"authorization\", value = \"Bearer {}\"",
            settings: String::new(),
            tools: TOOLS.to_owned(),
        }
    }

    pub(crate) fn anthropic() -> Self {
        let slot = "header = \"x-api-key\", value = \"{}\"";
        Self { format: "anthropic", path: "/v1/messages", slot, ..Self::new() }
    }

    pub(crate) fn ollama() -> Self {
        Self { format: "ollama", path: "/api/chat", ..Self::new() }
    }

    /// Adds settings, as TOML.
    pub(crate) fn settings(self, settings: &str) -> Self {
        Self { settings: format!(", {settings}"), ..self }
    }

    /// Replaces the binding of the tools.
    pub(crate) fn tools(self, binding: &str) -> Self {
        Self { tools: binding.to_owned(), ..self }
    }

    fn policy(&self, server: &Server) -> String {
        let Self { format, path, slot, settings, tools } = self;
        let port = server.port();
        format!(
            r#"
[approvals]
repeats = 1000000
[limits]
time = "20 s"
[plugin.files]
directory.workspace = {{ path = "work", access = "read-write" }}
[plugin.agent]
config = {{ format = "{format}", url = "http://127.0.0.1:{port}{path}", model = "m", system = "be brief"{settings} }}
tools.tools = {tools}
[plugin.agent.http.model]
hosts = ["127.0.0.1"]
schemes = ["http"]
ports = [{port}]
methods = ["POST"]
addresses = ["127.0.0.1"]
paths = ["{path}"]
request-bytes = "2 MiB"
requests = 100
requests-per-minute = 1000
secret = {{ {slot}, from = "file:key" }}
[[rule]]
tool = "{{agent,good}}.*"
decision = "allow"
[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
[[rule]]
tool = "files.write"
when = {{ path = "open/**" }}
decision = "allow"
"#
        )
    }

    /// Opens a host for a model.
    pub(crate) async fn open(&self, server: &Server) -> Desk {
        let site = Site::new();
        for plugin in ["files", "agent"] {
            site.plugin(plugin, &shipped_plugin(plugin));
        }
        let work = site.directory("work");
        fs::write(work.join("a.txt"), "alpha\n").unwrap();
        fs::write(work.join("b.txt"), "beta\n").unwrap();
        fs::write(site.path("key"), KEY).unwrap();
        fs::set_permissions(site.path("key"), fs::Permissions::from_mode(0o600)).unwrap();
        site.warm();
        let host = site.open(&self.policy(server)).await;
        if let Some(refusal) = host.catalog().refusal("agent") {
            panic!("the plugin was refused: {}", refusal.error);
        }
        Desk { site, host }
    }
}

/// A host, and the files around it.
pub(crate) struct Desk {
    pub(crate) site: Site,
    pub(crate) host: Host,
}

impl Desk {
    /// Opens a host with the usual policy.
    pub(crate) async fn open(server: &Server) -> Self {
        Plan::new().open(server).await
    }

    /// Gives the sub-agent a task.
    pub(crate) async fn run(&self) -> Reply {
        self.run_with(&json!({})).await
    }

    /// Does the same with more arguments.
    pub(crate) async fn run_with(&self, more: &Value) -> Reply {
        let mut arguments = json!({ "task": "the task" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.host.call(Request::new("agent.run", arguments.to_string())).await
    }

    /// Returns a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.site.path("work").join(name)).ok()
    }

    /// Returns the transcript of the last run, as the caller can read it.
    pub(crate) fn transcript(&self) -> Value {
        let principal = Principal::default();
        let reader = Reader { session: "default", principal: &principal };
        let kept = self.host.outputs().list(reader).block_on().unwrap().remove(0);
        assert_eq!(kept.tool, "agent.run");
        let bytes = self.host.outputs().read(reader, &kept.reference.id, 0, 8 << 20).block_on().unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Returns everything that the state directory holds, as text.
    pub(crate) fn state(&self) -> String {
        texts_below(&self.site.state())
    }
}

fn texts_below(directory: &std::path::Path) -> String {
    let mut texts = String::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            texts += &texts_below(&entry.path());
        } else if kind.is_file() {
            texts += &String::from_utf8_lossy(&fs::read(entry.path()).unwrap());
        }
    }
    texts
}

/// Returns how a completed run ended, and its text.
#[track_caller]
pub(crate) fn ended(reply: &Reply) -> (&str, &str) {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let metadata = reply.metadata.as_ref().unwrap();
    (metadata["end"].as_str().unwrap(), &reply.message)
}
