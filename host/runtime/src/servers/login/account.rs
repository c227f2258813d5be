//! The host's account at one server: the login that is kept for it.

use super::requests::LoginRequests;
use portcullis_ledger::logins::{KeptLogin, LoginLock, LoginServer, LoginStamp, ServerLogins};
use portcullis_policy::{HttpBinding, Limits, PluginName, ServerAddress, ServerLogin};
use portcullis_sandbox::{Network, PathBase, Traffic, VariableError, open_variable};
use portcullis_upstream::{HttpExchange, LoginError, LoginOffer, LoginSettings, ServerToken};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use zeroize::Zeroizing;

/// Maximum wait for another host that renews the same login.
const LOCK_TIME_MAX: Duration = Duration::from_secs(60);

/// Interval at which the host looks whether the other one is done.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// Why an account cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// The policy does not let the host log in to the server.
    #[error("the policy does not log in to {0}: write oauth = true into its section")]
    NotInPolicy(PluginName),
    /// There is no login.
    #[error("the host is not logged in to {0}: run `portcullis login {0}`")]
    LoggedOut(PluginName),
    /// The login cannot be used any more.
    #[error("the login to {name} cannot be used: {source}: run `portcullis login {name}`")]
    Ended {
        /// The server.
        name: PluginName,
        /// The reason. It is part of this error's own message.
        source: LoginError,
    },
    /// The login failed, or the authorization server does not answer now.
    #[error("the login to {name} failed: {source}")]
    Login {
        /// The server.
        name: PluginName,
        /// The reason. It is part of this error's own message.
        source: LoginError,
    },
    /// The secret of the client is not available.
    #[error("the client's secret for {name} is not available: {source}")]
    Secret {
        /// The server.
        name: PluginName,
        /// The reason. It is part of this error's own message.
        source: VariableError,
    },
    /// Another host has renewed the login for too long.
    #[error("another host renews the login to {0} for more than {max} s: try again later", max = LOCK_TIME_MAX.as_secs())]
    Busy(PluginName),
    /// The state directory cannot be read or written.
    #[error("cannot use the logins in the state directory")]
    State(#[from] io::Error),
}

/// What is kept of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginStatus {
    /// Nothing.
    LoggedOut,
    /// A login. Its texts are untrusted.
    LoggedIn {
        /// The authorization server that has issued the token.
        issuer: String,
        /// What the token permits.
        scopes: Vec<String>,
        /// When the token ends, if it cannot be renewed without a person.
        ends_at: Option<SystemTime>,
    },
    /// A file that no host of this state directory has written for the server.
    Damaged,
}

/// The host's account at one server. Clones are the same account.
#[derive(Clone)]
pub(crate) struct ServerAccount {
    pub(super) name: PluginName,
    pub(super) network: Network,
    address: ServerAddress,
    login: ServerLogin,
    base: PathBase,
    logins: Arc<ServerLogins>,
    server: LoginServer,
    requests: Arc<LoginRequests>,
}

impl ServerAccount {
    /// Returns the account at a server.
    ///
    /// # Errors
    /// The policy does not log in to the server.
    pub(crate) fn new(
        name: &PluginName,
        binding: &HttpBinding,
        (base, network, limits): (&PathBase, &Network, Limits),
        logins: &Arc<ServerLogins>,
    ) -> Result<Self, AccountError> {
        let not_in_policy = || AccountError::NotInPolicy(name.clone());
        let address = binding.server.as_deref().ok_or_else(not_in_policy)?.clone();
        let login = address.login.clone().ok_or_else(not_in_policy)?;
        let requests = LoginRequests::new(binding, base.clone(), network.clone(), limits);
        Ok(Self {
            name: name.clone(),
            network: network.clone(),
            server: LoginServer::new(name.as_str(), &address.url.to_string()),
            address,
            login,
            base: base.clone(),
            logins: Arc::clone(logins),
            requests: Arc::new(requests),
        })
    }

    /// Returns the port of the redirect address that the policy names.
    pub(crate) fn redirect_port(&self) -> Option<u16> {
        self.login.port
    }

    /// Discovers the authorization server of the server.
    pub(crate) async fn discover(&self, redirect: String) -> Result<LoginOffer, AccountError> {
        let client = self.login.client.as_ref();
        let settings = LoginSettings {
            address: self.address.url.to_string(),
            client_id: client.map(|client| client.id.clone()),
            client_secret: self.client_secret().await?.map(|secret| secret.to_string()),
            scopes: self.login.scopes.clone(),
            // A damaged login must not keep the person from a new one.
            more_scopes: self.read().await.ok().flatten().map(|token| token.scopes_to_ask()).unwrap_or_default(),
            redirect,
        };
        LoginOffer::discover(self.exchange(), settings).await.map_err(|source| self.failed(source))
    }

    /// Keeps a token, in place of the one before.
    pub(crate) async fn keep(&self, token: &ServerToken) -> Result<(), AccountError> {
        let (account, bytes) = (self.clone(), Zeroizing::new(token.to_bytes()));
        Ok(blocking(move || account.logins.keep(&account.server, &bytes)).await?)
    }

    /// Removes the token, after its revocation. Returns whether there was one. If the authorization server does not
    /// revoke it, the error is the second part, and the token is removed all the same.
    pub(crate) async fn forget(&self) -> Result<(bool, Result<bool, AccountError>), AccountError> {
        // So that no other host renews what is being revoked.
        let _lock = self.lock().await?;
        let revoked = match self.read().await {
            Ok(Some(token)) => self.revoke(&token).await,
            // A damaged login has no token to revoke. It is removed all the same.
            Ok(None) | Err(_) => Ok(false),
        };
        let account = self.clone();
        let removed = blocking(move || account.logins.remove(&account.server)).await?;
        Ok((removed, revoked))
    }

    async fn revoke(&self, token: &ServerToken) -> Result<bool, AccountError> {
        let secret = self.client_secret().await?;
        let secret = secret.as_ref().map(|secret| secret.as_str());
        token.revoke(self.exchange(), secret).await.map_err(|source| self.failed(source))
    }

    /// Returns what is kept of a login.
    pub(crate) async fn status(&self) -> Result<LoginStatus, AccountError> {
        match self.read().await {
            Ok(None) => Ok(LoginStatus::LoggedOut),
            Ok(Some(token)) => Ok(LoginStatus::LoggedIn {
                issuer: token.issuer().to_owned(),
                scopes: token.scopes().to_vec(),
                ends_at: token.ends_at().filter(|_| !token.can_be_renewed()),
            }),
            Err(AccountError::Ended { .. }) => Ok(LoginStatus::Damaged),
            Err(error) => Err(error),
        }
    }

    /// Returns the token that is kept.
    pub(super) async fn read(&self) -> Result<Option<ServerToken>, AccountError> {
        let account = self.clone();
        let damaged = || AccountError::Ended { name: self.name.clone(), source: LoginError::Unreadable };
        match blocking(move || account.logins.read(&account.server)).await? {
            KeptLogin::Absent => Ok(None),
            KeptLogin::Login(bytes) => match ServerToken::from_bytes(&bytes, &self.address.url.to_string()) {
                Ok(token) => Ok(Some(token)),
                Err(_) => Err(damaged()),
            },
            KeptLogin::Damaged => Err(damaged()),
        }
    }

    /// Returns the state of what is kept.
    pub(super) async fn stamp(&self) -> Result<LoginStamp, AccountError> {
        let account = self.clone();
        Ok(blocking(move || account.logins.stamp(&account.server)).await?)
    }

    /// Fetches a new token, and keeps it. The caller must hold the lock.
    pub(super) async fn renew(&self, token: &ServerToken) -> Result<ServerToken, AccountError> {
        let secret = self.client_secret().await?;
        let renewed = token.renewed(self.exchange(), secret.as_ref().map(|secret| secret.as_str())).await;
        let renewed = renewed.map_err(|source| self.failed(source))?;
        self.keep(&renewed).await?;
        Ok(renewed)
    }

    /// Waits until no other host renews the login.
    pub(super) async fn lock(&self) -> Result<LoginLock, AccountError> {
        let began = Instant::now();
        loop {
            let account = self.clone();
            if let Some(lock) = blocking(move || account.logins.try_lock(&account.server)).await? {
                return Ok(lock);
            }
            if began.elapsed() > LOCK_TIME_MAX {
                return Err(AccountError::Busy(self.name.clone()));
            }
            sleep(LOCK_INTERVAL).await;
        }
    }

    /// Takes the requests to authorization servers since the last time.
    pub(in crate::servers) fn take_traffic(&self) -> Traffic {
        self.requests.take_traffic()
    }

    /// Returns an error of a login.
    pub(crate) fn failed(&self, source: LoginError) -> AccountError {
        let name = self.name.clone();
        match source {
            LoginError::Ended | LoginError::Unreadable => AccountError::Ended { name, source },
            source => AccountError::Login { name, source },
        }
    }

    fn exchange(&self) -> Arc<dyn HttpExchange> {
        Arc::clone(&self.requests) as Arc<dyn HttpExchange>
    }

    /// Reads the secret of the operator's own client.
    async fn client_secret(&self) -> Result<Option<Zeroizing<String>>, AccountError> {
        let Some(source) = self.login.client.as_ref().and_then(|client| client.secret.as_ref()) else {
            return Ok(None);
        };
        let opened = open_variable(&self.network, source, &self.base).await;
        opened.map(Some).map_err(|source| AccountError::Secret { name: self.name.clone(), source })
    }
}

/// Runs work on files on a thread that may block.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
