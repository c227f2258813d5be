//! Reloads the policy, tokens and keys of a server when their files change and at SIGHUP.

use super::access;
use super::console::SigningIn;
use super::ledger_notes::LedgerNotes;
use crate::arguments::HttpArguments;
use crate::context::Context;
use crate::opening::RuleGapNotes;
use portcullis::ledger_standing::LedgerStanding;
use portcullis::plugins::Catalog;
use portcullis::policy::Principal;
use portcullis::policy_files::PolicyStatus;
use portcullis::text::{OneLine, WithCauses};
use portcullis::{FileWatch, Host};
use portcullis_mcp::http::Running;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use tokio::task::block_in_place;

/// Digits of a policy's hash that distinguish two policies.
const HASH_DIGITS: usize = 12;

/// The files that a server follows, and what it needs to reload them.
pub(super) struct Following<'a> {
    pub(super) host: &'a Host,
    pub(super) context: &'a Context,
    pub(super) hangup: Signal,
    pub(super) status: watch::Receiver<PolicyStatus>,
    pub(super) ledger: watch::Receiver<LedgerStanding>,
    pub(super) ledger_notes: LedgerNotes,
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
    pub(super) gaps: RuleGapNotes,
    pub(super) access: Option<FollowedAccess<'a>>,
}

/// The files of tokens or keys of a server over HTTP.
pub(super) struct FollowedAccess<'a> {
    pub(super) running: &'a Running,
    pub(super) arguments: &'a HttpArguments,
    pub(super) operator: &'a Principal,
    pub(super) files: Vec<PathBuf>,
    /// Its console, if it has one.
    pub(super) console: Option<&'a SigningIn>,
    pub(super) changes: FileWatch,
}

impl<'a> Following<'a> {
    /// Starts to follow the policy and the plugins of a host.
    pub(super) fn begin(host: &'a Host, mut gaps: RuleGapNotes, hangup: Signal, context: &'a Context) -> Self {
        let (status, catalog) = (host.policy_status(), host.catalog_changes());
        // The catalog may have changed since the warnings were printed.
        gaps.note(context, host);
        let ledger = host.ledger_standing();
        Self {
            host,
            context,
            hangup,
            status,
            ledger,
            ledger_notes: LedgerNotes::default(),
            catalog,
            gaps,
            access: None,
        }
    }

    /// Follows the files until the future is dropped.
    pub(super) async fn follow(&mut self) -> Infallible {
        loop {
            tokio::select! {
                Ok(()) = self.status.changed() => self.tell_policy(),
                Ok(()) = self.ledger.changed() => self.ledger_notes.tell(&self.ledger.borrow_and_update()),
                // A plugin that came later may have tools that bypass a rule.
                Ok(()) = self.catalog.changed() => self.gaps.note(self.context, self.host),
                Some(()) = self.hangup.recv() => {
                    self.reload_policy().await;
                    self.reload_access();
                }
                () = changed(&mut self.access) => self.reload_access(),
            }
        }
    }

    async fn reload_policy(&mut self) {
        match self.host.reload().await {
            // The reload changed the policy, so this reports the change.
            Ok(_) if self.status.has_changed().unwrap_or(false) => self.tell_policy(),
            Ok(_) => {
                tracing::info!(target: "portcullis::server", event = "reload", "reloaded: the policy did not change");
            }
            Err(error) => {
                let why = WithCauses(&error).to_string();
                let why = OneLine(&why);
                tracing::error!(target: "portcullis::server", event = "reload", "cannot read the plugins: {why}");
            }
        }
    }

    fn tell_policy(&mut self) {
        // Marks the change as seen. The clone ends the borrow, during which a new status would have to wait.
        let PolicyStatus { sha256, fault, .. } = self.status.borrow_and_update().clone();
        let sha256 = sha256.get(..HASH_DIGITS).unwrap_or(&sha256);
        match fault {
            Some(detail) => tracing::error!(
                target: "portcullis::server",
                event = "policy",
                sha256,
                detail,
                "the policy was changed and cannot be used; {sha256} stays in force:"
            ),
            None => tracing::info!(
                target: "portcullis::server",
                event = "policy",
                sha256,
                "the policy {sha256} is in force"
            ),
        }
    }

    fn reload_access(&self) {
        let Some(FollowedAccess { running, arguments, operator, files, console, .. }) = &self.access else { return };
        let shown: Vec<String> = files.iter().map(|file| OneLine(&file.display().to_string()).to_string()).collect();
        let shown = shown.join(" and ");
        // The closure borrows, so `spawn_blocking` cannot take it.
        match block_in_place(|| access::reread(arguments, operator, &self.host.policy(), self.context)) {
            Ok((told, approvers)) => {
                // Only now: what is invalid for callers or for approvers must not change either of them.
                running.replace_access(told.access);
                if let (Some(console), Some(told)) = (console, approvers) {
                    console.approvers.replace(told.approvers);
                }
                tracing::info!(target: "portcullis::server", event = "reload", "reloaded {shown}");
            }
            Err(error) => {
                let detail = format!("{error:#}");
                tracing::error!(
                    target: "portcullis::server",
                    event = "reload",
                    detail,
                    "{shown} was changed and cannot be used; what it held stays in force:"
                );
            }
        }
    }
}

async fn changed(access: &mut Option<FollowedAccess<'_>>) {
    match access {
        Some(access) => access.changes.changed().await,
        None => pending().await,
    }
}
