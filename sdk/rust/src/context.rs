//! The running call.

use crate::host;
use crate::http::Client;
use crate::log::Level;
use crate::{Blob, Call, Directory, Failure, Permission, Progress, Service, Store, Toolset, Writer};

/// The running call. This is a tool's only way to reach its host.
#[derive(Debug)]
pub struct Context {
    host: host::Host,
}

impl Context {
    pub(crate) fn new(host: host::Host) -> Self {
        Self { host }
    }

    pub(crate) fn host(&self) -> &host::Host {
        &self.host
    }

    /// Returns who asked for the call.
    #[must_use]
    pub fn call(&self) -> Call {
        self.host.call()
    }

    /// Reports progress. The host drops reports over the call's quota.
    pub fn progress(&self, progress: Progress) {
        self.host.report(progress);
    }

    /// Returns whether the caller has cancelled the call. The host stops the call shortly after this becomes true.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Returns an error once the caller has cancelled the call, so that `?` leaves the tool.
    ///
    /// # Errors
    /// The call was cancelled.
    pub fn check_cancelled(&self) -> Result<(), Failure> {
        if self.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) }
    }

    /// Asks during a call whether an action is allowed. Approval gives the call no handle that it does not have.
    ///
    /// # Errors
    /// The policy or an approver denied it; the text says why.
    pub fn ask(&self, permission: Permission, resource: &str, reason: &str) -> Result<(), Failure> {
        self.host.ask(permission, resource, reason).map_err(Failure::Denied)
    }

    /// Asks like [`Context::ask`], and proposes what a remembered approval may cover: at most 4 directories that
    /// contain the resource, the narrowest first. The approver sees them as the plugin's proposal.
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

    /// Returns the directory that the policy binds to a key of the manifest.
    ///
    /// # Errors
    /// The manifest does not ask for the key, or the policy does not bind it for this tool.
    pub fn directory(&self, key: &str) -> Result<Directory, Failure> {
        self.host.directory(key).map(|(path, handle)| Directory::new(path, handle))
    }

    /// Returns the HTTP client that the policy binds to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn client(&self, key: &str) -> Result<Client, Failure> {
        self.host.client(key).map(Client::new)
    }

    /// Returns the store that the policy binds to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn store(&self, key: &str) -> Result<Store, Failure> {
        self.host.store(key).map(Store::new)
    }

    /// Returns the service of the embedding application that the policy binds to a key of the manifest.
    ///
    /// # Errors
    /// As [`Context::directory`], or the application could not create it.
    pub fn service(&self, key: &str) -> Result<Service, Failure> {
        self.host.service(key).map(Service::new)
    }

    /// Returns the tools of other plugins that the policy binds to a key of the manifest. Nothing is called yet.
    ///
    /// # Errors
    /// As [`Context::directory`].
    pub fn tools(&self, key: &str) -> Result<Toolset, Failure> {
        self.host.tools(key).map(Toolset::new)
    }

    /// Keeps a file for people beside the answer, such as a transcript. The caller gets its name, media type and size,
    /// and a reference to read it with. Only a call that succeeds keeps its files. A tool cannot keep files beside a
    /// text that it writes with [`Context::writer`], or beside JSON with an output schema.
    ///
    /// # Errors
    /// There are already 8 files, or the answer cannot have any.
    pub fn keep(&self, file: Blob) -> Result<(), Failure> {
        self.host.keep(file).map_err(Failure::Failed)
    }

    /// Opens the call's text answer for writing while the tool runs. If opened again, the writer appends to the text.
    ///
    /// # Errors
    /// There is no answer to write.
    pub fn writer(&self) -> Result<Writer, Failure> {
        self.host.text().map(Writer::new)
    }

    /// Returns a setting of the policy's `config` for this plugin.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<String> {
        self.host.setting(key)
    }

    /// Writes a line into the audit log of the call. The host drops lines over the call's quota.
    pub fn log(&self, level: Level, message: impl AsRef<str>) {
        self.host.log(level, message.as_ref());
    }
}
