//! One hostile guest against a whole host: what every attack has in common is asserted here, once.

use crate::{Manifest, Site, allow_all, assert_verifies, guest_of, outcome_of};
use portcullis::plugins::{Contract, LoadError};
use portcullis::{Code, Host, Reply, Request};
use std::fmt::Debug;
use std::fs;
use std::time::{Duration, Instant};

/// How much longer than its limit anything may take: the largest bulk instruction, and a machine that does other
/// things meanwhile.
pub const GRACE: Duration = Duration::from_secs(3);

/// How long a plugin may describe itself, twice over: it is asked in two instances.
const DESCRIBE: Duration = Duration::from_secs(4);

/// A hostile guest beside a good one.
pub struct Attack {
    site: Site,
    name: String,
    time: Duration,
    limits: String,
    arguments: String,
}

impl Attack {
    /// The guest of a name, which may be written as an identifier, in a version of the contract.
    pub fn by(contract: Contract, name: &str) -> Self {
        Self::with(contract, &Manifest::of(&name.replace('_', "-")), name)
    }

    /// A guest that says this of itself.
    pub fn with(contract: Contract, manifest: &Manifest, name: &str) -> Self {
        let name = name.replace('_', "-");
        Self::bytes(&name, &guest_of(contract, &name, manifest))
    }

    /// Bytes that are to be a plugin.
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

    /// Sets another limit, as in a policy.
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

    /// The policy of the host.
    pub fn policy(&self) -> String {
        allow_all(&format!("time = \"{} ms\"\n{}", self.time.as_millis(), self.limits))
    }

    /// Opens the host.
    pub async fn open(&self) -> Host {
        self.site.open(&self.policy()).await
    }

    /// The request of the attack.
    pub fn request(&self) -> Request {
        Request::new(format!("{}.run", self.name), self.arguments.as_bytes())
    }

    /// Calls the guest, and asserts that the call ends with this code, in its time, recorded, and without harm.
    pub async fn ends(self, code: Code) -> Reply {
        let host = self.open().await;
        let reply = self.call(&host).await;
        assert_eq!(reply.code, code, "{}\n{}", reply.message, outcome_of(&host, &reply.id));
        self.leaves_no_trace(&host).await;
        reply
    }

    /// Calls the good guest under another manifest: the one attack that no good plugin stands beside.
    pub async fn call_alone(self, code: Code) {
        let host = self.open().await;
        assert_eq!(self.call(&host).await.code, code);
        assert_verifies(&host);
    }

    /// Calls the guest on a host, and asserts what is asserted of every call.
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

    /// Asserts that the guest is refused at load, for this reason, in its time, and without harm.
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

    /// Asserts that a host is as good as before: the good plugin answers, the record verifies, and nothing in it could
    /// fool a terminal.
    pub async fn leaves_no_trace(&self, host: &Host) {
        assert_good(host).await;
        assert_verifies(host);
        let record = fs::read_to_string(self.site.state().join("audit.jsonl")).expect("the record is UTF-8");
        assert!(!record.chars().any(|character| character.is_control() && character != '\n'));
    }

    /// The site.
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

/// Asserts that the good plugin answers.
async fn assert_good(host: &Host) {
    let reply = host.call(Request::new("good.run", r#"{"still":"here"}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"still":"here"}"#));
}
