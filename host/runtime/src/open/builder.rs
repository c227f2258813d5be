//! The settings of a host that is about to be opened.

use crate::approvals::Channel;
use crate::approver::Approver;
use crate::catalog::{Observer, Silent};
use crate::concurrency::CALLS_DEFAULT;
use crate::hooks::Hook;
use crate::host::Host;
use crate::inject::Injection;
use crate::outputs::OUTPUTS_BYTES_DEFAULT;
use crate::policy_source::{PolicySources, UserPolicy};
use portcullis_policy::Unattended;
use portcullis_sandbox::{Compiler, TimeSource};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Opens a host.
pub struct HostBuilder {
    pub(super) plugins: PathBuf,
    pub(super) state: PathBuf,
    pub(super) policy: PolicySources,
    pub(super) compiler: Compiler,
    pub(super) channel: Option<Channel>,
    pub(super) approval_options: String,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) calls: u32,
    pub(super) shares_sessions: bool,
    pub(super) time: Option<Arc<dyn TimeSource>>,
    pub(super) seed: Option<u64>,
    pub(super) outputs_bytes: u64,
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
    /// Begins a host for the plugins of a directory, keeping its key, cache and record in another. Its policy denies
    /// everything, it has no approver, and plugins are compiled by `compiler`.
    pub fn builder(plugins: impl Into<PathBuf>, state: impl Into<PathBuf>, compiler: Compiler) -> HostBuilder {
        HostBuilder::new(plugins.into(), state.into(), compiler)
    }
}

impl HostBuilder {
    fn new(plugins: PathBuf, state: PathBuf, compiler: Compiler) -> Self {
        Self {
            plugins,
            state,
            policy: PolicySources::default(),
            compiler,
            channel: None,
            approval_options: String::new(),
            observer: Arc::new(Silent),
            hooks: Vec::new(),
            calls: CALLS_DEFAULT,
            shares_sessions: false,
            time: None,
            seed: None,
            outputs_bytes: OUTPUTS_BYTES_DEFAULT,
            only_for: None,
            background_after: None,
            injection: Injection::default(),
        }
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

    /// Who answers when the policy says ask, beside whoever answers through [`Host::approvals`].
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(Channel::Approver(approver));
        self
    }

    /// Nobody answers here: a call waits for an answer through [`Host::approvals`], of this process or another.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(Channel::Elsewhere);
        self
    }

    /// Sets the options that `portcullis approvals approve` needs to find this host's state, plugins and policy, if
    /// they are not the defaults. Messages that name the command append them.
    #[must_use]
    pub fn approval_options<'a>(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.approval_options = options.into_iter().fold(String::new(), |line, option| line + " " + option);
        self
    }

    /// Nobody is there while a call is made: it stays behind as pending, or is denied. Without this and without any
    /// other channel, as the policy says.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(Channel::Nobody(unattended));
        self
    }

    /// Loads only what a call of one tool needs: its plugin, and the plugins that a rule of the policy names together
    /// with it. The others cost nothing, whatever is wrong with them. [`Host::reload`] loads them.
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
    /// [`Host::catalog_changes`] tells of it, and the audit log records it. [`Host::reload`] does not wait for a plugin
    /// that has to be compiled either. What the policy says wrongly of such a plugin refuses that plugin, because the
    /// host is open by then. Dropping the last clone of the host ends what is still being compiled.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), portcullis::OpenError> {
    /// use portcullis::{Compiler, Host};
    /// use std::time::Duration;
    ///
    /// let builder = Host::builder("plugins", "state", Compiler::InProcess);
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

    /// Who hears of what takes time while plugins load.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Adds a hook, which is asked after those that were added before it.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Sets how many calls run at one time; more wait. Each principal has its turn, and so has each plugin of a
    /// principal. From four on, one in eight is kept free for other principals, and of the rest one in eight for other
    /// plugins.
    #[must_use]
    pub fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Orders the calls of a session also with those that other processes make on the same state directory, where they
    /// set this as well. Otherwise a session is taken to be of this host alone. A call then takes one more file lock.
    #[must_use]
    pub fn share_sessions(mut self) -> Self {
        self.shares_sessions = true;
        self
    }

    /// What all kept outputs of the state directory may take together, in bytes; [`OUTPUTS_BYTES_DEFAULT`] unless said.
    /// A session has half of it at the most. The oldest make room.
    #[must_use]
    pub fn outputs_bytes(mut self, bytes: u64) -> Self {
        self.outputs_bytes = bytes;
        self
    }

    /// Gives guests this time in place of the system's: for tests, and for what has to come out the same twice. Limits
    /// and the record keep the system's time.
    #[must_use]
    pub fn time_source(mut self, time: Arc<dyn TimeSource>) -> Self {
        self.time = Some(time);
        self
    }

    /// Gives guests randomness that follows from a seed, the same for every call: for tests, and never for a guest that
    /// makes keys.
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
        let builder = Host::builder("the-plugins", "the-state", Compiler::InProcess).policy_text("canary", "canary");
        let builder = builder.project_policy("project.toml").approval_options(["canary"]).only_for("canary");
        let shown = format!("{builder:?}");
        for named in ["the-plugins", "the-state", "project.toml"] {
            assert!(shown.contains(named), "{shown}");
        }
        assert!(!shown.contains("canary"), "{shown}");
    }
}
