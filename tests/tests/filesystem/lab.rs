//! A directory under attack, its surroundings, and a host that grants it to the probe.

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::{Site, Snapshot, allow_all, assert_verifies, built_guest, outcome_of, snapshot};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// The content of every file outside the grant, which no result may contain.
pub(crate) const SECRET: &str = "SECRET-7f3a";

/// The grant of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    /// The policy grants read-write, and the tool declares `write`.
    ReadWrite,
    /// The policy grants read-only, and the tool declares `write`.
    ReadOnly,
    /// The policy grants read-write, and the tool only declares `read`.
    Narrowed,
}

impl Grant {
    pub(crate) const ALL: [Self; 3] = [Self::ReadWrite, Self::ReadOnly, Self::Narrowed];
    pub(crate) const WITHOUT_WRITE: [Self; 2] = [Self::ReadOnly, Self::Narrowed];

    fn access(self) -> &'static str {
        match self {
            Self::ReadWrite | Self::Narrowed => "read-write",
            Self::ReadOnly => "read-only",
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Self::ReadWrite | Self::ReadOnly => "probe.run",
            Self::Narrowed => "probe.look",
        }
    }
}

/// A host, and the files inside and around its grant.
pub(crate) struct Lab {
    pub(crate) site: Site,
    pub(crate) host: Host,
    grant: Grant,
    /// The path to which each call is narrowed.
    place: Option<&'static str>,
}

impl Lab {
    /// Opens a host that grants `world/grant`, with these limits.
    pub(crate) async fn open(grant: Grant, limits: &str) -> Self {
        Self::with(grant, limits, "").await
    }

    /// Returns the expected result of a read: the text, and whether the end was reached. WASI reports the end when
    /// there is no more data.
    pub(crate) async fn with(grant: Grant, limits: &str, more: &str) -> Self {
        Self::held(grant, limits, more, "world/grant", None).await
    }

    /// Does the same, with every call narrowed to one path below the grant.
    pub(crate) async fn narrowed(grant: Grant, limits: &str, place: &'static str) -> Self {
        Self::held(grant, limits, "", "world/grant", Some(place)).await
    }

    /// Does the same, with another directory for the workspace, narrowed if a path is given.
    pub(crate) async fn held(grant: Grant, limits: &str, more: &str, root: &str, place: Option<&'static str>) -> Self {
        Self::bound(grant, (limits, more, ""), root, place).await
    }

    /// Returns a host that grants `world/grant` with these keys of the binding, narrowed if a place is given.
    pub(crate) async fn masked(grant: Grant, keys: &str, place: Option<&'static str>) -> Self {
        Self::bound(grant, ("", "", keys), "world/grant", place).await
    }

    /// Does the same, with more policy lines for the plugin.
    pub(crate) async fn masked_beside(keys: &str, more: &str) -> Self {
        Self::bound(Grant::ReadWrite, ("", more, keys), "world/grant", None).await
    }

    async fn bound(
        grant: Grant,
        (limits, more, keys): (&str, &str, &str),
        root: &str,
        place: Option<&'static str>,
    ) -> Self {
        let site = Site::new();
        site.plugin("probe", &built_guest("probe"));
        build(&site);
        site.warm();
        site.directory(root);
        let access = grant.access();
        let narrow = if place.is_some() { ", narrow = \"/path\"" } else { "" };
        let plugin = format!(
            "[plugin.probe]\ndirectory.workspace = {{ path = \"{root}\", access = \"{access}\"{narrow}{keys} }}\n{more}\n"
        );
        let host = site.open(&format!("{}{plugin}", allow_all(limits))).await;
        if let Some(refusal) = host.catalog().refusal("probe") {
            panic!("the probe was refused: {}", refusal.error);
        }
        Self { site, host, grant, place }
    }

    /// Returns a path in the grant.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.site.path("world/grant").join(path)
    }

    /// Returns a snapshot of everything in and around the grant.
    pub(crate) fn world(&self) -> Snapshot {
        snapshot(&self.site.path("world"))
    }

    /// Returns a snapshot of everything around the grant.
    pub(crate) fn outside(&self) -> Snapshot {
        let mut world = self.world();
        // A change to the grant changes nothing of the parent that a snapshot contains.
        world.retain(|path, _| !path.starts_with(b"grant/") && path != b"grant");
        world
    }

    /// Makes the probe perform steps. Any outcome is accepted.
    pub(crate) async fn call(&self, steps: &Value) -> Reply {
        let arguments = match self.place {
            Some(place) => json!({ "steps": steps, "path": place }),
            None => json!({ "steps": steps }),
        };
        let reply = self.host.call(Request::new(self.grant.tool(), arguments.to_string())).await;
        assert!(!reply.message.contains(SECRET), "{:?}: a secret leaked: {}", self.grant, reply.message);
        outcome_of(&self.host, &reply.id);
        assert_verifies(&self.host);
        reply
    }

    /// Makes the probe perform steps. Returns the result of each.
    pub(crate) async fn take(&self, steps: Value) -> Vec<Value> {
        let reply = self.call(&steps).await;
        assert_eq!(reply.code, Code::Completed, "{:?}: {}", self.grant, reply.message);
        let Some(Output::Json(text)) = reply.output else { panic!("no JSON") };
        assert!(!text.contains(SECRET), "{:?}: a secret leaked: {text}", self.grant);
        serde_json::from_str(&text).unwrap()
    }

    /// Makes the probe perform steps that must all fail and change nothing.
    pub(crate) async fn refuses(&self, steps: Vec<Value>) {
        let before = self.world();
        let results = self.take(Value::Array(steps.clone())).await;
        for (step, result) in steps.iter().zip(&results) {
            let error = result["error"].as_str();
            assert!(
                error.is_some_and(|error| !error.contains("no such op")),
                "{:?}: {step} returned {result}",
                self.grant
            );
        }
        assert_eq!(results.len(), steps.len());
        assert_eq!(self.world(), before, "{:?}: a file was changed", self.grant);
    }
}

/// Creates `world/`: a grant, and files next to it that are not granted.
fn build(site: &Site) {
    site.directory("world/grant/dir");
    site.directory("world/outside/sub");
    site.directory("world/grant-sibling");
    let grant = site.path("world/grant");
    fs::write(grant.join("file.txt"), "inside").unwrap();
    fs::write(grant.join("dir/inner.txt"), "inside").unwrap();
    for secret in ["outside/secret.txt", "outside/sub/secret.txt", "grant-sibling/secret.txt", "secret.txt"] {
        fs::write(site.path("world").join(secret), SECRET).unwrap();
    }
    for (link, target) in [
        ("out", "../outside"),
        ("abs", "/etc"),
        ("up", ".."),
        ("secret-link", "../outside/secret.txt"),
        ("chain", "dir/hop"),
        ("dir/hop", "../../outside/secret.txt"),
        ("magic-root", "/proc/self/root"),
        ("magic-directory", "/proc/self/cwd"),
        ("magic-descriptor", "/proc/self/fd/0"),
        ("sibling", "../grant-sibling"),
        ("dangling", "../outside/planted"),
        ("itself", "itself"),
        ("good-link", "dir/inner.txt"),
    ] {
        symlink(target, grant.join(link)).unwrap();
    }
}
