//! Logs in to the servers of the policy, and out again. Each step of a person's login is one call, so that the
//! application decides how the person is asked.

use crate::audit::AuditError;
use crate::catalog::server_sha256;
use crate::host::Host;
use crate::servers::{AccountError, LoginStatus, ServerAccount};
use crate::text::OneLine;
use portcullis_policy::{Binding, DependencyKey, PluginName, ServerPolicy};
use portcullis_upstream::{LoginOffer, LoginUnderWay};

/// Why a login or a logout is not complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerLoginError {
    /// The account cannot be used.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The audit log cannot be written. No login has changed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The host is logged out, and the audit log cannot be written.
    #[error("logged out, but the audit log has no entry of it")]
    Unrecorded(#[source] AuditError),
}

/// An authorization server at which a person can log in. Nothing was sent to it that names the person.
pub struct OfferedLogin {
    host: Host,
    account: ServerAccount,
    server: PluginName,
    offer: LoginOffer,
}

/// A login that waits for the person's browser.
pub struct PendingLogin {
    host: Host,
    account: ServerAccount,
    server: PluginName,
    login: LoginUnderWay,
}

/// What a logout has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedOut {
    /// Whether there was a login.
    pub was_logged_in: bool,
    /// Whether the authorization server has revoked the token. It may offer no revocation.
    pub is_revoked: bool,
    /// Why it has not, if it was asked. Its texts are untrusted.
    pub fault: Option<String>,
}

impl Host {
    /// Returns what is kept of the login to a server.
    ///
    /// # Errors
    /// The policy does not log in to the server, or the state directory cannot be read.
    pub async fn login_status(&self, server: &PluginName) -> Result<LoginStatus, AccountError> {
        self.account(server)?.status().await
    }

    /// Returns the port on the loopback interface to which the policy sends the browser of a login. `None` means any
    /// free port.
    ///
    /// # Errors
    /// The policy does not log in to the server.
    pub fn login_port(&self, server: &PluginName) -> Result<Option<u16>, AccountError> {
        Ok(self.account(server)?.redirect_port())
    }

    /// Discovers the authorization server of a server. `redirect` is the address on the loopback interface to which the
    /// browser returns, such as `http://127.0.0.1:3118/callback`.
    ///
    /// # Errors
    /// The policy does not log in to the server, or the server names no authorization server that can be used.
    pub async fn offer_login(&self, server: &PluginName, redirect: String) -> Result<OfferedLogin, AccountError> {
        let account = self.account(server)?;
        let offer = account.discover(redirect).await?;
        Ok(OfferedLogin { host: self.clone(), account, server: server.clone(), offer })
    }

    /// Revokes the token of a server and removes it. Running hosts of the state directory use it no more.
    ///
    /// # Errors
    /// The policy does not log in to the server, or the state directory cannot be written. After
    /// [`ServerLoginError::Unrecorded`], only the entry in the audit log is missing.
    pub async fn log_out(&self, server: &PluginName) -> Result<LoggedOut, ServerLoginError> {
        let account = self.account(server)?;
        let (was_logged_in, revoked) = account.forget().await?;
        if was_logged_in {
            // A revocation takes effect first. An audit log that cannot be written must not prevent it.
            self.note_login(server, "logged out").await.map_err(ServerLoginError::Unrecorded)?;
        }
        let (is_revoked, fault) = match revoked {
            Ok(is_revoked) => (is_revoked, None),
            Err(error) => (false, Some(error.to_string())),
        };
        Ok(LoggedOut { was_logged_in, is_revoked, fault })
    }

    fn account(&self, server: &PluginName) -> Result<ServerAccount, AccountError> {
        let in_force = self.0.policy();
        let policy = &in_force.policy;
        let key = DependencyKey::new(ServerPolicy::BINDING).ok();
        let binding = key.as_ref().and_then(|key| policy.bindings(server).get(key));
        let (Some(Binding::Http(binding)), Some(key)) = (binding, &key) else {
            return Err(AccountError::NotInPolicy(server.clone()));
        };
        let base = in_force.bases.of(policy.binding_layer(server, key));
        let terms = (base, &in_force.network, policy.limits(server));
        ServerAccount::new(server, binding, terms, &self.0.loader.logins)
    }

    async fn note_login(&self, server: &PluginName, event: &str) -> Result<(), AuditError> {
        let sha256 = server_sha256(server, &self.0.policy().policy);
        self.0.loader.note(server, &sha256, event).await
    }
}

impl OfferedLogin {
    /// Returns the name of the authorization server, which is a URL. Untrusted text.
    pub fn issuer(&self) -> &str {
        self.offer.issuer()
    }

    /// Returns the other origins that take part in the login. Untrusted text.
    pub fn origins(&self) -> Vec<String> {
        self.offer.origins()
    }

    /// Returns what the token would permit. Untrusted text.
    pub fn scopes(&self) -> &[String] {
        self.offer.scopes()
    }

    /// Begins the login, after the person has agreed to the authorization server.
    ///
    /// # Errors
    /// The authorization server does not register the host.
    pub async fn begin(self) -> Result<PendingLogin, AccountError> {
        let Self { host, account, server, offer } = self;
        let login = offer.begin().await.map_err(|error| account.failed(error))?;
        Ok(PendingLogin { host, account, server, login })
    }
}

impl PendingLogin {
    /// Returns the page that the person has to open. Untrusted text.
    pub fn page(&self) -> &str {
        self.login.page()
    }

    /// Returns whether an address to which a browser has returned belongs to this login. Any page of a browser can send
    /// others.
    pub fn is_answered_by(&self, returned: &str) -> bool {
        self.login.is_answered_by(returned)
    }

    /// Takes the address to which the browser has returned, fetches the token, and keeps it. Running hosts of the state
    /// directory use it from then on.
    ///
    /// # Errors
    /// The person refused, the address does not belong to this login, or there is no token.
    pub async fn finish(self, returned: &str) -> Result<LoginStatus, ServerLoginError> {
        let Self { host, account, server, login } = self;
        let token = login.finish(returned).await.map_err(|error| account.failed(error))?;
        // The entry comes first, because running hosts use the token as soon as it is kept.
        host.note_login(&server, &format!("logged in at {}", OneLine(token.issuer()))).await?;
        account.keep(&token).await?;
        Ok(account.status().await?)
    }
}

impl std::fmt::Debug for OfferedLogin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OfferedLogin").field("server", &self.server).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for PendingLogin {
    /// Leaves out the page, which has the state of the login.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PendingLogin").field("server", &self.server).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the state directory and damages it")]
mod tests {
    use super::*;
    use crate::Compiler;
    use portcullis_ledger::logins::LoginServer;
    use std::fs;

    #[tokio::test]
    async fn a_logout_takes_effect_before_its_entry_is_written() {
        const ADDRESS: &str = "http://127.0.0.1:9/mcp";
        let root = std::env::temp_dir().join(format!("portcullis-logout-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("plugins")).unwrap();
        let (log, policy) =
            (root.join("state/audit.jsonl"), format!("[server.desk]\nurl = {ADDRESS:?}\noauth = true\n"));
        let builder = Host::builder(root.join("plugins"), root.join("state")).compiler(Compiler::InProcess).calls(1);
        let host = builder.policy_text(&policy, &root).open().await.unwrap();
        let desk = "desk".parse().unwrap();
        let entries = || fs::read_to_string(&log).unwrap().matches("logged out").count();
        // The host has not written this login, so nothing revokes it.
        let keep = || host.0.loader.logins.keep(&LoginServer::new("desk", ADDRESS), b"a token").unwrap();

        assert!(!host.log_out(&desk).await.unwrap().was_logged_in);
        assert_eq!(entries(), 0, "there was no login");
        keep();
        assert_eq!(host.login_status(&desk).await.unwrap(), LoginStatus::Damaged);
        assert!(host.log_out(&desk).await.unwrap().was_logged_in);
        assert_eq!(entries(), 1);
        keep();
        let whole = fs::read(&log).unwrap();
        fs::write(&log, &whole[..whole.len() - 1]).unwrap();
        let done = host.log_out(&desk).await;
        assert!(matches!(done, Err(ServerLoginError::Unrecorded(_))), "{done:?}");
        assert_eq!(host.login_status(&desk).await.unwrap(), LoginStatus::LoggedOut);
        drop(host);
        fs::remove_dir_all(root).unwrap();
    }
}
