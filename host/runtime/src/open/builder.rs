//! The builder that holds the settings of a host and opens it.

use crate::approvals::ApproverChannel;
use crate::approver::Approver;
use crate::catalog::{NamedPluginDirectory, Observer, Silent};
use crate::concurrency::CALLS_DEFAULT;
use crate::hooks::Hook;
use crate::host::Host;
use crate::inject::Injection;
use crate::metrics::CallObserver;
use crate::outputs::OUTPUTS_BYTES_DEFAULT;
use crate::places::StatePlace;
use crate::policy_source::{PolicySources, UserPolicy};
use crate::results::ResultsBudget;
use portcullis_policy::Unattended;
use portcullis_sandbox::{Compiler, TimeSource};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A builder that opens a [`Host`].
pub struct HostBuilder {
    pub(super) plugins: Vec<NamedPluginDirectory>,
    pub(super) state: StatePlace,
    pub(super) policy: PolicySources,
    pub(super) compiler: Compiler,
    pub(super) channel: Option<ApproverChannel>,
    pub(super) approval_options: String,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) call_observer: Option<Arc<dyn CallObserver>>,
    pub(super) calls: u32,
    pub(super) shares_sessions: bool,
    pub(super) shares_live: bool,
    pub(super) time: Option<Arc<dyn TimeSource>>,
    pub(super) seed: Option<u64>,
    pub(super) outputs_bytes: u64,
    pub(super) results_budget: Option<ResultsBudget>,
    pub(super) only_for: Option<String>,
    pub(super) background_after: Option<Duration>,
    pub(crate) injection: Injection,
}

impl fmt::Debug for HostBuilder {
    /// Leaves out the text of the policy and what the embedder passes, which may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut builder = formatter.debug_struct("HostBuilder");
        builder.field("plugins", &self.plugins).field("state", &self.state);
        builder.field("policy_files", &self.policy.files().collect::<Vec<_>>());
        builder.field("channel", &self.channel).field("hooks", &self.hooks.len()).field("calls", &self.calls);
        builder.finish_non_exhaustive()
    }
}

impl Host {
    /// Returns a builder for a host of the plugins in one directory. The host keeps its key, cache, ledger and audit
    /// log in another, `state`. By default, the policy denies everything, there is no approver, and plugins are
    /// compiled in a child process of this program. `main` must therefore begin with [`init`](crate::init).
    pub fn builder(plugins: impl Into<PathBuf>, state: impl Into<StatePlace>) -> HostBuilder {
        HostBuilder::new(plugins.into(), state.into())
    }
}

impl HostBuilder {
    fn new(plugins: PathBuf, state: StatePlace) -> Self {
        Self {
            plugins: vec![NamedPluginDirectory { path: plugins, required: true }],
            state,
            policy: PolicySources::default(),
            compiler: Compiler::default(),
            channel: None,
            approval_options: String::new(),
            observer: Arc::new(Silent),
            hooks: Vec::new(),
            call_observer: None,
            calls: CALLS_DEFAULT,
            shares_sessions: false,
            shares_live: false,
            time: None,
            seed: None,
            outputs_bytes: OUTPUTS_BYTES_DEFAULT,
            results_budget: None,
            only_for: None,
            background_after: None,
            injection: Injection::default(),
        }
    }

    /// Adds a further plugin directory, which need not exist. Earlier directories win: if two have a file of the same
    /// name, the file in the later directory is refused, even if the earlier file is refused too. So a directory that
    /// comes with a project can add plugins, but cannot replace those of the user. The host looks again for a directory
    /// that does not exist.
    ///
    /// ```
    /// use portcullis::Host;
    ///
    /// let builder = Host::builder("/home/ann/plugins", "state").further_plugins("./plugins");
    /// ```
    #[must_use]
    pub fn further_plugins(mut self, directory: impl Into<PathBuf>) -> Self {
        self.plugins.push(NamedPluginDirectory { path: directory.into(), required: false });
        self
    }

    /// Opens the host even if the first plugin directory does not exist either. It then has only the host's own tools
    /// until the directory exists.
    #[must_use]
    pub fn plugins_may_be_missing(mut self) -> Self {
        self.plugins.iter_mut().for_each(|directory| directory.required = false);
        self
    }

    /// Names a directory where the user keeps policies, other than the one that is in force. As for the policy in
    /// force, no grant may let a plugin change it. It need not exist.
    #[must_use]
    pub fn policy_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.policy.directories.push(directory.into());
        self
    }

    /// Sets where plugins are compiled. The default is [`Compiler::Worker`], a child process of this program with
    /// limits on time and memory. [`Compiler::InProcess`] cannot be stopped, so use it only for your own plugins, as in
    /// tests.
    ///
    /// ```
    /// use portcullis::{Compiler, Host};
    ///
    /// // A test program has no main of its own that could begin with `portcullis::init()`.
    /// let builder = Host::builder("plugins", "state").compiler(Compiler::InProcess);
    /// ```
    #[must_use]
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = compiler;
        self
    }

    /// Reads the policy from a file. The host does not open if the file does not exist. The file replaces any policy
    /// that was set before, and [`HostBuilder::policy_file_if_exists`] and [`HostBuilder::policy_text`] do the same.
    #[must_use]
    pub fn policy_file(self, path: impl Into<PathBuf>) -> Self {
        self.user_policy(UserPolicy::File { path: path.into(), required: true })
    }

    /// Reads the policy from a file if the file exists. Otherwise the policy denies everything.
    #[must_use]
    pub fn policy_file_if_exists(self, path: impl Into<PathBuf>) -> Self {
        self.user_policy(UserPolicy::File { path: path.into(), required: false })
    }

    /// Takes the policy from text. Its relative paths start from `base`. If the text is not a valid policy,
    /// [`HostBuilder::open`] returns the error before it creates or changes anything.
    #[must_use]
    pub fn policy_text(self, text: &str, base: impl Into<PathBuf>) -> Self {
        self.user_policy(UserPolicy::Text { text: text.to_owned(), base: base.into() })
    }

    fn user_policy(mut self, policy: UserPolicy) -> Self {
        self.policy.user = Some(policy);
        self
    }

    /// Adds a project's policy, if the project has one. It only narrows until the user trusts this file with the places
    /// of its grants ([`crate::Approvals::trust_policy`]). Until then its allow rules, grants and wider limits have no
    /// effect.
    #[must_use]
    pub fn project_policy(mut self, path: impl Into<PathBuf>) -> Self {
        self.policy.project = Some(path.into());
        self
    }

    /// Sets what `~` and `$HOME` stand for at the beginning of a path of the policy. The library reads no environment,
    /// so without this a policy with such a path is refused. A path that is not absolute counts as unknown.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.policy.home = Some(home.into()).filter(|home| home.is_absolute());
        self
    }

    /// Sets the approver that answers approval requests, in addition to answers through [`Host::approvals`].
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(ApproverChannel::Approver(approver));
        self
    }

    /// Sets that no approver is attached. A call waits for an answer through [`Host::approvals`], from this process or
    /// another one.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(ApproverChannel::Elsewhere);
        self
    }

    /// Sets the options that `portcullis approvals approve` needs to find this host's state, plugins and policy, if
    /// they are not the defaults. Messages that name the command append them.
    #[must_use]
    pub fn approval_options<'a>(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.approval_options = options.into_iter().fold(String::new(), |line, option| line + " " + option);
        self
    }

    /// Sets what happens to approval requests when no one can answer while the call waits: the call ends as pending and
    /// its request stays open, or it is denied. By default, a host without another channel follows the policy's
    /// `unattended`.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(ApproverChannel::NoApprover(unattended));
        self
    }

    /// Loads only what a call of one tool needs: its plugin, and the plugins that a rule of the policy names together
    /// with it. The others are not read, so errors in them have no effect. [`Host::reload`] loads them.
    #[must_use]
    pub fn only_for(mut self, tool: impl Into<String>) -> Self {
        self.only_for = Some(tool.into());
        self
    }

    /// Opens the host without the plugins that are not ready after this time, and loads them while it runs, as many at
    /// a time as the machine has cores. A plugin is ready if its description is in the cache. Otherwise it is compiled
    /// first, which takes a minute for an interpreter. Without this, the host opens when all plugins are loaded or
    /// refused.
    ///
    /// [`Host::loading`] names the plugins that are not ready. Each enters the catalog as with a reload:
    /// [`Host::catalog_changes`] reports it, and the audit log records it. [`Host::reload`] does not wait for a plugin
    /// that has to be compiled either. If the policy has an error about such a plugin, the plugin is refused, because
    /// the host is open by then. Dropping the last clone of the host ends what is still being compiled.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), portcullis::OpenError> {
    /// use portcullis::Host;
    /// use std::time::Duration;
    ///
    /// let builder = Host::builder("plugins", "state");
    /// let host = builder.load_in_background(Duration::from_secs(3)).open().await?;
    /// println!("{} plugins are not ready yet", host.loading().len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn load_in_background(mut self, after: Duration) -> Self {
        self.background_after = Some(after);
        self
    }

    /// Sets the observer of slow steps while plugins load.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Adds a hook. Hooks are asked in the order in which they were added.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Sets the observer of calls that have ended.
    #[must_use]
    pub fn call_observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.call_observer = Some(observer);
        self
    }

    /// Sets the maximum number of calls that run at the same time. Other calls wait. Slots go to principals in turn,
    /// and within a principal to plugins in turn. With four slots or more, one in eight is reserved for other
    /// principals, and one in eight of the rest for other plugins.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Orders the calls of a session across all processes that use the same state directory and set this too. By
    /// default, the host assumes that only it uses a session. With this, each call takes one more file lock.
    #[must_use]
    pub fn share_sessions(mut self) -> Self {
        self.shares_sessions = true;
        self
    }

    /// Shares the calls of the host with [`LiveReader`](crate::live::LiveReader)s of the same user, in this and other
    /// processes. Without a reader, a call costs a lock and a pointer more. If the feed cannot be served, the host
    /// opens without it, and [`Host::live_fault`] returns the reason.
    #[must_use]
    pub fn share_live(mut self) -> Self {
        self.shares_live = true;
        self
    }

    /// Sets the maximum size of all kept outputs in the state directory, in bytes. The default is
    /// [`OUTPUTS_BYTES_DEFAULT`]. One session gets at most half of it. The oldest outputs are removed to make room.
    #[must_use]
    pub fn outputs_bytes(mut self, bytes: u64) -> Self {
        self.outputs_bytes = bytes;
        self
    }

    /// Sets a budget for the results of each conversation. Calls with the same session and principal are one
    /// conversation. When its results exceed the budget, [`Reply::trimmed`](crate::Reply) names the older ones to
    /// replace, and [`Host::results`] lists all of them. A result that may be replaced later is kept when its call
    /// ends, within [`HostBuilder::outputs_bytes`]. There is no budget by default, and nothing is counted.
    #[must_use]
    pub fn results_budget(mut self, budget: ResultsBudget) -> Self {
        self.results_budget = Some(budget);
        self
    }

    /// Sets the time that guests see, for tests and reproducible results. Limits and the audit log still use the
    /// system's time.
    #[must_use]
    pub fn time_source(mut self, time: Arc<dyn TimeSource>) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the seed of the randomness that guests see. It is the same for every call. Use it for tests, never for a
    /// guest that creates keys.
    #[must_use]
    pub fn random_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_text_of_a_builder_names_its_places_and_holds_no_text_of_a_policy() {
        let builder = Host::builder("the-plugins", "the-state").policy_text("canary", "canary");
        let builder = builder.project_policy("project.toml").approval_options(["canary"]).only_for("canary");
        let shown = format!("{builder:?}");
        for named in ["the-plugins", "the-state", "project.toml"] {
            assert!(shown.contains(named), "{shown}");
        }
        assert!(!shown.contains("canary"), "{shown}");
    }
}
