//! One hostile guest against a whole host, with the assertions that all attacks share.

use crate::{Manifest, Site, allow_all, assert_verifies, guest_of, outcome_of};
use portcullis::plugins::{Contract, LoadError};
use portcullis::{Code, Host, Reply, Request};
use std::fmt::Debug;
use std::fs;
use std::time::{Duration, Instant};

/// Maximum time over a limit: the largest bulk instruction, on a busy machine.
pub const GRACE: Duration = Duration::from_secs(3);

/// Maximum time for the refusal of a plugin: twice the limit of `describe`, which runs in two instances.
const DESCRIBE: Duration = Duration::from_secs(4);

/// A hostile guest next to a good one.
pub struct Attack {
    site: Site,
    name: String,
    time: Duration,
    limits: String,
    arguments: String,
}

impl Attack {
    /// Selects the guest with this name, which may be written as an identifier, in a version of the contract.
    pub fn by(contract: Contract, name: &str) -> Self {
        Self::with(contract, &Manifest::of(&name.replace('_', "-")), name)
    }

    /// Selects a guest with this manifest.
    pub fn with(contract: Contract, manifest: &Manifest, name: &str) -> Self {
        let name = name.replace('_', "-");
        Self::bytes(&name, &guest_of(contract, &name, manifest))
    }

    /// Uses these bytes as the plugin.
    pub fn bytes(name: &str, bytes: &[u8]) -> Self {
        let site = Site::new();
        site.plugin(name, bytes);
        let arguments = "{}".to_owned();
        Self { site, name: name.to_owned(), time: Duration::from_secs(20), limits: String::new(), arguments }
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets another limit, with the policy's syntax.
    #[must_use]
    pub fn limit(mut self, line: &str) -> Self {
        self.limits = format!("{}\n{line}", self.limits);
        self
    }

    /// Sets the arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: &str) -> Self {
        arguments.clone_into(&mut self.arguments);
        self
    }

    /// Returns the policy of the host.
    pub fn policy(&self) -> String {
        allow_all(&format!("time = \"{} ms\"\n{}", self.time.as_millis(), self.limits))
    }

    /// Opens the host.
    pub async fn open(&self) -> Host {
        self.site.open(&self.policy()).await
    }

    /// Returns the request of the attack.
    pub fn request(&self) -> Request {
        Request::new(format!("{}.run", self.name), self.arguments.as_bytes())
    }

    /// Calls the guest. Asserts the call's code, its time, its audit entries, and that the host is unharmed.
    pub async fn ends(self, code: Code) -> Reply {
        let host = self.open().await;
        let reply = self.call(&host).await;
        assert_eq!(reply.code, code, "{}\n{}", reply.message, outcome_of(&host, &reply.id));
        self.leaves_no_trace(&host).await;
        reply
    }

    /// Calls the good guest under another manifest. This is the only attack without a good plugin next to it.
    pub async fn call_alone(self, code: Code) {
        let host = self.open().await;
        assert_eq!(self.call(&host).await.code, code);
        assert_verifies(&host);
    }

    /// Calls the guest on a host, and makes the assertions for every call.
    pub async fn call(&self, host: &Host) -> Reply {
        self.loads(host);
        let began = Instant::now();
        let reply = host.call(self.request()).await;
        let took = began.elapsed();
        assert!(took <= self.time + GRACE, "{} took {took:?} of {:?}", self.name, self.time);
        let outcome = outcome_of(host, &reply.id);
        assert_eq!(outcome["code"], reply.code.as_str());
        assert_eq!(outcome["outcome"], reply.outcome().as_str());
        reply
    }

    /// Asserts that the guest is refused at load, with this error, within the time limit, and that the host is
    /// unharmed.
    pub async fn refused(self, expected: impl Fn(&LoadError) -> bool) -> String {
        let began = Instant::now();
        let host = self.open().await;
        let took = began.elapsed();
        assert!(took <= DESCRIBE + GRACE, "{} took {took:?} to be refused", self.name);
        let catalog = host.catalog();
        let refusal = catalog.refusal(&self.name);
        let refusal = refusal.unwrap_or_else(|| panic!("{} was not refused", self.name));
        assert!(expected(&refusal.error), "{:?}", refusal.error);
        let reply = host.call(self.request()).await;
        assert_eq!(reply.code, Code::PluginRefused);
        self.leaves_no_trace(&host).await;
        refusal.error.to_string()
    }

    /// Asserts that a host is unharmed: the good plugin works, the audit log verifies, and nothing in it can deceive a
    /// terminal.
    pub async fn leaves_no_trace(&self, host: &Host) {
        assert_good(host).await;
        assert_verifies(host);
        let record = fs::read_to_string(self.site.state().join("audit.jsonl")).expect("the audit log is UTF-8");
        assert!(!record.chars().any(|character| character.is_control() && character != '\n'));
    }

    /// Returns the site.
    pub fn site(&self) -> &Site {
        &self.site
    }

    fn loads(&self, host: &Host) {
        if let Some(refusal) = host.catalog().refusal(&self.name) {
            panic!("{} was refused: {}", self.name, refusal.error);
        }
    }
}

impl Debug for Attack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.name)
    }
}

/// Asserts that the good plugin works.
async fn assert_good(host: &Host) {
    let reply = host.call(Request::new("good.run", r#"{"still":"here"}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"still":"here"}"#));
}
