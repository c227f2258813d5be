//! The call that is running, as its tool sees it.

use serde::Serialize;
use serde_json::Value;

use crate::host;
use crate::http::Client;
use crate::log::Level;
use crate::{Directory, Failure, Permission, Service, Store, Writer};

/// Who asked for the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Of this call alone.
    pub id: String,
    /// Shared by the calls of one conversation.
    pub session: String,
    /// The message that asked for the call, where the caller named it.
    pub message: Option<String>,
    /// The agent that asked, where the caller named it.
    pub agent: Option<String>,
}

/// How far a call has come. What is absent stays as it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// A few words for people.
    pub title: Option<String>,
    /// One JSON object for programs.
    pub metadata: Option<Value>,
    /// From 0 to 1.
    pub fraction: Option<f32>,
}

impl Progress {
    /// A title: a few words for people.
    pub fn title(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// How much is done, from 0 to 1.
    #[must_use]
    pub fn fraction(mut self, fraction: f32) -> Self {
        self.fraction = Some(fraction);
        self
    }

    /// Metadata: a struct or `json!({...})`. Anything but an object is left out.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.metadata = serde_json::to_value(&metadata).ok().filter(Value::is_object);
        self
    }
}

/// The call that is running. A tool reaches its host through this, and only through this.
#[derive(Debug)]
pub struct Context {
    host: host::Host,
}

impl Context {
    pub(crate) fn new(host: host::Host) -> Self {
        Self { host }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn host(&self) -> &host::Host {
        &self.host
    }

    /// Who asked.
    #[must_use]
    pub fn call(&self) -> Call {
        self.host.call()
    }

    /// Reports progress. The host drops what exceeds the call's quota.
    pub fn progress(&self, progress: Progress) {
        self.host.report(progress);
    }

    /// Whether the caller no longer wants the answer. The call is stopped a short while after this turns true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Leaves the tool with `?` once the caller no longer wants the answer.
    ///
    /// # Errors
    /// The call was cancelled.
    pub fn check_cancelled(&self) -> Result<(), Failure> {
        if self.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) }
    }

    /// Asks in the middle of a call whether something may be done. A yes gives no handle that the call does not have.
    ///
    /// # Errors
    /// The policy or a person said no; the text says why.
    pub fn ask(&self, permission: Permission, resource: &str, reason: &str) -> Result<(), Failure> {
        self.host.ask(permission, resource, reason).map_err(Failure::Denied)
    }

    /// Asks as [`Context::ask`] does, and proposes what a remembered approval may cover: at most 4 directories that the
    /// resource is in, the narrowest first. The person sees them as the plugin's proposal.
    ///
    /// ```no_run
    /// # use portcullis_sdk::prelude::*;
    /// # fn pay(context: &Context) -> Result<(), Failure> {
    /// let (today, reason) = ("payments/2026-11-23/**", "it is over the daily limit");
    /// context.ask_with_patterns(Permission::Execute, "payments/2026-11-23/acme/20", reason, &[today])
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Context::ask`].
    pub fn ask_with_patterns(
        &self,
        permission: Permission,
        resource: &str,
        reason: &str,
        patterns: &[&str],
    ) -> Result<(), Failure> {
        self.host.ask_with_patterns(permission, resource, reason, patterns).map_err(Failure::Denied)
    }

    /// The directory that the policy bound to a key of the manifest.
    ///
    /// # Errors
    /// The manifest does not ask for the key, or the policy binds nothing to it for this tool.
    pub fn directory(&self, key: &str) -> Result<Directory, Failure> {
        self.host.directory(key)
    }

    /// The HTTP client that the policy bound to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn client(&self, key: &str) -> Result<Client, Failure> {
        self.host.client(key).map(Client::new)
    }

    /// The store that the policy bound to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn store(&self, key: &str) -> Result<Store, Failure> {
        self.host.store(key).map(Store::new)
    }

    /// The service of the embedding application that the policy bound to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`], and the application could not make it.
    pub fn service(&self, key: &str) -> Result<Service, Failure> {
        self.host.service(key).map(Service::new)
    }

    /// Writes the beginning of the call's text answer while the tool is still at work. Opened again, it goes on where
    /// the text ends.
    ///
    /// # Errors
    /// There is no answer to write.
    pub fn writer(&self) -> Result<Writer, Failure> {
        self.host.text().map(Writer::new)
    }

    /// What the policy sets under `config` for this plugin.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<String> {
        self.host.setting(key)
    }

    /// Writes a line into the record of the call. The host drops what exceeds the call's quota.
    pub fn log(&self, level: Level, message: impl AsRef<str>) {
        self.host.log(level, message.as_ref());
    }
}
