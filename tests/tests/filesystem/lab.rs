//! A directory to attack, what lies around it, and a host that grants it to the probe.

use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::{Site, Snapshot, allow_all, assert_verifies, built_guest, outcome_of, snapshot};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// What no result may hold: the content of every file outside of the grant.
pub(crate) const SECRET: &str = "SECRET-7f3a";

/// How the directory is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    /// The policy says read-write, and the tool declares write.
    ReadWrite,
    /// The policy says read-only, and the tool declares write.
    ReadOnly,
    /// The policy says read-write, and the tool declares read alone.
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

/// A host and the world around its grant.
pub(crate) struct Lab {
    pub(crate) site: Site,
    pub(crate) host: Host,
    grant: Grant,
    /// What each call is narrowed to.
    place: Option<&'static str>,
}

impl Lab {
    /// A host that grants `world/grant`, with these limits.
    pub(crate) async fn open(grant: Grant, limits: &str) -> Self {
        Self::with(grant, limits, "").await
    }

    /// The same with more lines for the plugin.
    pub(crate) async fn with(grant: Grant, limits: &str, more: &str) -> Self {
        Self::held(grant, limits, more, "world/grant", None).await
    }

    /// The same with every call narrowed to one place below the grant.
    pub(crate) async fn narrowed(grant: Grant, limits: &str, place: &'static str) -> Self {
        Self::held(grant, limits, "", "world/grant", Some(place)).await
    }

    /// The same with another directory for the workspace, and narrowed where a place is given.
    pub(crate) async fn held(grant: Grant, limits: &str, more: &str, root: &str, place: Option<&'static str>) -> Self {
        Self::bound(grant, (limits, more, ""), root, place).await
    }

    /// Returns a host that grants `world/grant` with these keys of the binding, narrowed if a place is given.
    pub(crate) async fn masked(grant: Grant, keys: &str, place: Option<&'static str>) -> Self {
        Self::bound(grant, ("", "", keys), "world/grant", place).await
    }

    /// The same with more lines for the plugin.
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

    /// A path in the grant.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.site.path("world/grant").join(path)
    }

    /// Everything in and around the grant.
    pub(crate) fn world(&self) -> Snapshot {
        snapshot(&self.site.path("world"))
    }

    /// Everything around the grant.
    pub(crate) fn outside(&self) -> Snapshot {
        let mut world = self.world();
        // The parent changes with the grant in nothing that the snapshot holds of a directory.
        world.retain(|path, _| !path.starts_with(b"grant/") && path != b"grant");
        world
    }

    /// Lets the probe take steps, however that ends.
    pub(crate) async fn call(&self, steps: &Value) -> Reply {
        let arguments = match self.place {
            Some(place) => json!({ "steps": steps, "path": place }),
            None => json!({ "steps": steps }),
        };
        let reply = self.host.call(Request::new(self.grant.tool(), arguments.to_string())).await;
        assert!(!reply.message.contains(SECRET), "{:?}: a secret got out: {}", self.grant, reply.message);
        outcome_of(&self.host, &reply.id);
        assert_verifies(&self.host);
        reply
    }

    /// Lets the probe take steps, and returns what came of each.
    pub(crate) async fn take(&self, steps: Value) -> Vec<Value> {
        let reply = self.call(&steps).await;
        assert_eq!(reply.code, Code::Completed, "{:?}: {}", self.grant, reply.message);
        let Some(Output::Json(text)) = reply.output else { panic!("no JSON") };
        assert!(!text.contains(SECRET), "{:?}: a secret got out: {text}", self.grant);
        serde_json::from_str(&text).unwrap()
    }

    /// Lets the probe take steps that must all fail, and leave everything as it was.
    pub(crate) async fn refuses(&self, steps: Vec<Value>) {
        let before = self.world();
        let results = self.take(Value::Array(steps.clone())).await;
        for (step, result) in steps.iter().zip(&results) {
            let error = result["error"].as_str();
            assert!(
                error.is_some_and(|error| !error.contains("no such op")),
                "{:?}: {step} came to {result}",
                self.grant
            );
        }
        assert_eq!(results.len(), steps.len());
        assert_eq!(self.world(), before, "{:?}: something was changed", self.grant);
    }
}

/// Makes `world/`: a grant, and beside it what is not granted.
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
