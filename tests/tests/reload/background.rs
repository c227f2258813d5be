//! Plugins that load while the host runs: a ready plugin serves, a compiled plugin is announced, and neither a reload
//! nor a new policy waits for the compilation.

use crate::reload::desk::{ALLOW, PATIENCE, call, file, lines, put, put_bytes, tools, until, word};
use crate::reload::policy::write;
use portcullis::plugins::{LoadError, Observer};
use portcullis::policy::PluginName;
use portcullis::policy_files::GrantError;
use portcullis::{Code, Compiler, Host, HostBuilder, OpenError};
use portcullis_tests::{Manifest, Site, guest, outcomes, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Interval at which a test checks another process.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A compile worker that compiles nothing until the gate is open.
struct Gate {
    open: PathBuf,
    /// Contains a file for each worker that has started, named after its process ID.
    begun: PathBuf,
}

impl Gate {
    fn closed(site: &Site) -> Self {
        Self { open: site.path("gate"), begun: site.directory("begun") }
    }

    fn compiler(&self) -> Compiler {
        let (open, begun, program) = (self.open.display(), self.begun.display(), program());
        let wait = format!(": > {begun}/$$; while ! [ -e {open} ]; do /bin/sleep 0.02; done");
        let line = format!("{wait}; exec {} portcullis-compile-worker", program.display());
        Compiler::Program { program: "/bin/sh".into(), arguments: vec!["-c".into(), line.into()] }
    }

    fn open(&self) {
        fs::write(&self.open, "").unwrap();
    }

    /// Returns the process IDs of the workers that have started.
    fn workers(&self) -> Vec<u32> {
        let workers = fs::read_dir(&self.begun).unwrap();
        workers.map(|worker| worker.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    /// Waits until this many workers have started.
    async fn has_begun(&self, count: usize) {
        eventually("a worker begins", || self.workers().len() >= count).await;
        assert_eq!(self.workers().len(), count);
    }
}

async fn eventually(what: &str, is: impl Fn() -> bool) {
    let looked = async {
        while !is() {
            sleep(LOOK_INTERVAL).await;
        }
    };
    timeout(PATIENCE, looked).await.unwrap_or_else(|_| panic!("timeout: {what}"));
}

/// Makes a site with the good plugin, which is already compiled, and a slow one, which is not.
async fn with_slow() -> (Site, Gate) {
    let site = Site::new();
    drop(site.open(ALLOW).await);
    put(&site, "slow", "slow");
    let gate = Gate::closed(&site);
    (site, gate)
}

/// Opens a host that does not wait for compilation.
async fn open(builder: HostBuilder) -> Host {
    builder.load_in_background(Duration::ZERO).open().await.unwrap()
}

fn loading(host: &Host) -> Vec<String> {
    host.loading().iter().map(ToString::to_string).collect()
}

async fn until_ready(host: &Host, plugin: &str) {
    until(&mut host.catalog_changes(), plugin, |catalog| catalog.plugin(plugin).is_some()).await;
}

#[tokio::test]
async fn a_host_opens_with_ready_plugins_and_adds_the_others_later() {
    let (site, gate) = with_slow().await;
    let host = open(site.builder_with(ALLOW, gate.compiler())).await;
    gate.has_begun(1).await;
    assert_eq!((tools(&host), loading(&host)), (vec!["good.run".to_owned()], vec!["slow".to_owned()]));
    word(call(&host, "good").await);

    let refused = call(&host, "slow").await;
    assert_eq!((refused.code, refused.code.outcome().as_str()), (Code::PluginLoading, "refused"));
    assert!(refused.retry_after.is_some() && refused.message.contains("still being compiled"), "{}", refused.message);
    let recorded = outcomes(&host);
    let recorded = recorded.iter().find(|outcome| outcome["call"] == refused.id.as_str()).unwrap();
    assert_eq!(recorded["code"], "plugin-loading", "{recorded}");
    assert_eq!(call(&host, "slower").await.code, Code::UnknownTool);

    let mut changes = host.catalog_changes();
    assert!(!changes.has_changed().unwrap(), "nothing is announced before something is ready");
    gate.open();
    until(&mut changes, "slow", |catalog| catalog.plugin("slow").is_some()).await;
    assert_eq!(word(call(&host, "slow").await), "slow");
    eventually("nothing loads", || loading(&host).is_empty()).await;
    assert_eq!(lines(&host), [("added".to_owned(), "slow".to_owned(), true)]);
    assert!(host.reload().await.unwrap().is_empty(), "the reload must find nothing new");
}

/// A plugin that becomes ready within the wait is in the catalog when the host opens.
#[tokio::test]
async fn a_plugin_that_becomes_ready_within_the_wait_is_in_the_first_catalog() {
    let (site, gate) = with_slow().await;
    gate.open();
    put_bytes(&site, "unfit", &guest("many-memories", &Manifest::of("unfit")));
    let builder = site.builder_with(ALLOW, gate.compiler()).load_in_background(PATIENCE);
    let host = builder.open().await.unwrap();
    assert_eq!((tools(&host).len(), loading(&host).len()), (2, 0));
    assert!(host.catalog().refusal("unfit").is_some());
    assert_eq!(lines(&host), []);
    assert!(host.reload().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_plugin_that_cannot_be_used_is_refused_after_its_compilation() {
    let (site, gate) = with_slow().await;
    put_bytes(&site, "slow", &guest("many-memories", &Manifest::of("slow")));
    let host = open(site.builder_with(ALLOW, gate.compiler())).await;
    assert_eq!(call(&host, "slow").await.code, Code::PluginLoading);
    gate.open();
    until(&mut host.catalog_changes(), "slow", |catalog| catalog.refusal("slow").is_some()).await;
    assert_eq!(call(&host, "slow").await.code, Code::PluginRefused);
    eventually("nothing loads", || loading(&host).is_empty()).await;
    assert!(host.reload().await.unwrap().is_empty());
    gate.has_begun(1).await;
}

#[tokio::test]
async fn a_reload_neither_loses_nor_duplicates_a_loading_plugin() {
    let (site, gate) = with_slow().await;
    let host = open(site.builder_with(ALLOW, gate.compiler())).await;
    gate.has_begun(1).await;
    for _ in 0..3 {
        assert!(host.reload().await.unwrap().is_empty());
    }
    assert_eq!(loading(&host), ["slow"]);
    gate.has_begun(1).await;

    // Add another file, replace the one that loads, and remove one.
    put(&site, "late", "late");
    assert!(host.reload().await.unwrap().is_empty());
    put(&site, "slow", "newer");
    put(&site, "gone", "gone");
    assert!(host.reload().await.unwrap().is_empty());
    assert_eq!(loading(&host), ["gone", "late", "slow"]);
    fs::remove_file(file(&site, "gone")).unwrap();
    assert!(host.reload().await.unwrap().is_empty());
    assert_eq!(loading(&host), ["late", "slow"]);

    gate.open();
    until_ready(&host, "slow").await;
    until_ready(&host, "late").await;
    assert_eq!(word(call(&host, "slow").await), "newer");
    assert_eq!(word(call(&host, "late").await), "late");
    assert_eq!(call(&host, "gone").await.code, Code::UnknownTool);
    eventually("nothing loads", || loading(&host).is_empty()).await;
    assert!(host.reload().await.unwrap().is_empty());
    let mut added: Vec<_> = lines(&host).into_iter().map(|(event, plugin, _)| (event, plugin)).collect();
    added.sort();
    assert_eq!(added, [("added", "late"), ("added", "slow")].map(|(event, name)| (event.to_owned(), name.to_owned())));
}

/// The old plugin serves until the new one is compiled, as in a host without background loading.
#[tokio::test]
async fn a_plugin_serves_while_its_next_version_is_compiled() {
    let (site, gate) = with_slow().await;
    gate.open();
    let host = site.builder_with(ALLOW, gate.compiler()).load_in_background(PATIENCE).open().await.unwrap();
    fs::remove_file(&gate.open).unwrap();
    put(&site, "slow", "newer");
    assert!(host.reload().await.unwrap().is_empty());
    assert_eq!(loading(&host), ["slow"]);
    assert_eq!(word(call(&host, "slow").await), "slow");
    let mut changes = host.catalog_changes();
    changes.mark_unchanged();
    gate.open();
    timeout(PATIENCE, changes.changed()).await.unwrap().unwrap();
    assert_eq!(word(call(&host, "slow").await), "newer");
    assert_eq!(lines(&host), [("replaced".to_owned(), "slow".to_owned(), true)]);
}

#[tokio::test]
async fn a_policy_takes_effect_while_a_plugin_is_compiled_and_applies_to_it() {
    let (site, gate) = with_slow().await;
    write(&site, ALLOW);
    let builder = Host::builder(site.plugins(), site.state()).compiler(gate.compiler());
    let host = open(builder.policy_file(site.path("policy.toml"))).await;
    gate.has_begun(1).await;
    write(&site, &format!("{ALLOW}[[rule]]\ntool = \"{{good,slow}}.run\"\ndecision = \"deny\"\n"));
    assert!(host.reload().await.unwrap().policy.is_some());
    assert_eq!(call(&host, "good").await.code, Code::PolicyDenied);
    assert_eq!(host.policy_warnings(), [], "the policy names no plugin that is not installed");
    gate.open();
    until_ready(&host, "slow").await;
    assert_eq!(call(&host, "slow").await.code, Code::PolicyDenied);
}

/// A host that waits for its plugins rejects such a policy. A deny rule that never matches would be a hole.
#[tokio::test]
async fn a_rule_with_a_misspelled_tool_refuses_a_plugin_that_is_added_later() {
    let (site, gate) = with_slow().await;
    let policy = format!("{ALLOW}[[rule]]\ntool = \"slow.rum\"\ndecision = \"deny\"\n");
    let host = open(site.builder_with(&policy, gate.compiler())).await;
    gate.open();
    until(&mut host.catalog_changes(), "slow", |catalog| catalog.refusal("slow").is_some()).await;
    let refused = host.catalog();
    let error = &refused.refusal("slow").unwrap().error;
    assert!(matches!(**error, LoadError::Grants(_)), "{error}");
    assert_eq!(call(&host, "slow").await.code, Code::PluginRefused);
    let waiting = site.builder(&policy).open().await.map(drop);
    assert!(matches!(waiting, Err(OpenError::Grants(GrantError::DeadRule { .. }))), "{waiting:?}");
}

/// Returns whether a process runs. A zombie does not.
fn runs(process: u32) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

#[tokio::test]
async fn closing_the_host_ends_running_compilations() {
    let (site, gate) = with_slow().await;
    let host = open(site.builder_with(ALLOW, gate.compiler())).await;
    gate.has_begun(1).await;
    let worker = gate.workers()[0];
    assert!(runs(worker));
    drop(host);
    eventually("the worker ends", || !runs(worker)).await;

    // A host that is dropped before it is open ends its compilations too.
    let builder = site.builder_with(ALLOW, gate.compiler()).load_in_background(PATIENCE);
    let opening = tokio::spawn(builder.open());
    gate.has_begun(2).await;
    let workers = gate.workers();
    assert!(workers.iter().any(|worker| runs(*worker)));
    opening.abort();
    eventually("the worker ends", || workers.iter().all(|worker| !runs(*worker))).await;
}

/// An observer that records the loading events.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        self.0.lock().unwrap().drain(..).collect()
    }
}

impl Observer for Heard {
    fn compiling(&self, _: &PluginName) {}

    fn compiled(&self, _: &PluginName) {}

    fn loading(&self, plugins: &[PluginName]) {
        let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
        self.note(format!("loading {}", names.join(" ")));
    }

    fn ready(&self, plugin: &PluginName, _: Duration) {
        self.note(format!("ready {plugin}"));
    }

    fn refused(&self, plugin: &PluginName, error: &LoadError, _: Duration) {
        assert!(!error.to_string().is_empty());
        self.note(format!("refused {plugin}"));
    }
}

#[tokio::test]
async fn an_observer_is_notified_of_loading_and_its_result() {
    let (site, gate) = with_slow().await;
    put_bytes(&site, "unfit", &guest("many-memories", &Manifest::of("unfit")));
    let heard = Arc::new(Heard::default());
    let host = open(site.builder_with(ALLOW, gate.compiler()).observer(Arc::clone(&heard) as _)).await;
    assert_eq!(heard.take(), ["loading slow unfit"]);
    gate.open();
    until_ready(&host, "slow").await;
    until(&mut host.catalog_changes(), "unfit", |catalog| catalog.refusal("unfit").is_some()).await;
    eventually("nothing loads", || loading(&host).is_empty()).await;
    let mut ended = heard.take();
    ended.sort();
    assert_eq!(ended, ["ready slow", "refused unfit"]);
    assert!(host.reload().await.unwrap().is_empty());
    assert_eq!(heard.take(), Vec::<String>::new());
}
