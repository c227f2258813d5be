//! The token of one connection: read from what is kept, and renewed before it ends.

use super::account::{AccountError, ServerAccount};
use portcullis_ledger::logins::LoginStamp;
use portcullis_sandbox::BearerToken;
use portcullis_upstream::ServerToken;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// The token of one connection. Clones share it.
#[derive(Clone)]
pub(in crate::servers) struct TokenKeeper {
    account: ServerAccount,
    current: Arc<Mutex<Option<CurrentToken>>>,
}

/// A token that can be sent.
#[derive(Clone)]
struct CurrentToken {
    /// The state of the file that it was read from.
    stamp: LoginStamp,
    token: Arc<ServerToken>,
    bearer: BearerToken,
}

impl TokenKeeper {
    pub(in crate::servers) fn new(account: ServerAccount) -> Self {
        Self { account, current: Arc::default() }
    }

    /// Returns the account that the token is of.
    pub(in crate::servers) fn account(&self) -> &ServerAccount {
        &self.account
    }

    /// Returns a token that has not ended. What another host has kept since, or has removed, counts at once.
    pub(in crate::servers) async fn token(&self) -> Result<BearerToken, AccountError> {
        let mut current = self.current.lock().await;
        // The stamp is older than what is read. A change in between is then noticed the next time.
        let stamp = self.account.stamp().await?;
        if current.as_ref().is_none_or(|known| known.stamp != stamp) {
            // If the login was removed, the next line fails, and the old token must not stay.
            *current = None;
            *current = Some(self.read(stamp).await?);
        }
        match &*current {
            Some(known) if !known.token.is_due(SystemTime::now()) => Ok(known.bearer.clone()),
            Some(known) => {
                let due = Arc::clone(&known.token);
                // `renewed` takes this lock itself.
                drop(current);
                self.renewed(due).await
            }
            None => Err(AccountError::LoggedOut(self.account.name.clone())),
        }
    }

    /// Returns another token than one that the server has refused.
    pub(in crate::servers) async fn other_than(&self, refused: &BearerToken) -> Result<BearerToken, AccountError> {
        let known = self.current.lock().await.clone();
        match known {
            Some(known) if known.bearer == *refused => self.renewed(known.token).await,
            // It was renewed while the request was under way.
            Some(_) | None => self.token().await,
        }
    }

    /// Keeps the scopes that the server demands, for the next login.
    pub(in crate::servers) async fn note_demand(&self, challenge: &str) -> Result<(), AccountError> {
        let mut current = self.current.lock().await;
        // The order is that of `renew`: first the lock of this process, then that of all hosts.
        let _lock = self.account.lock().await?;
        let kept = self.read(self.account.stamp().await?).await?;
        if let Some(demanding) = kept.token.demanding(challenge) {
            self.account.keep(&demanding).await?;
            *current = Some(self.prepared(demanding, self.account.stamp().await?).await?);
        }
        Ok(())
    }

    /// Renews a token, unless this or another host has done so. The renewal goes on if the caller stops waiting,
    /// because an authorization server may accept a token for a renewal only once.
    async fn renewed(&self, token: Arc<ServerToken>) -> Result<BearerToken, AccountError> {
        let keeper = self.clone();
        let renewal = tokio::spawn(async move { keeper.renew(&token).await });
        renewal.await.map_err(io::Error::other)?
    }

    async fn renew(&self, token: &ServerToken) -> Result<BearerToken, AccountError> {
        let mut current = self.current.lock().await;
        // Before the file is read, so that no other host renews in between.
        let lock = self.account.lock().await?;
        let mut kept = self.read(self.account.stamp().await?).await?;
        if kept.token.access_token() == token.access_token() || kept.token.is_due(SystemTime::now()) {
            let renewed = self.account.renew(&kept.token).await?;
            kept = self.prepared(renewed, self.account.stamp().await?).await?;
        }
        drop(lock);
        let bearer = kept.bearer.clone();
        *current = Some(kept);
        Ok(bearer)
    }

    /// Reads what is kept.
    async fn read(&self, stamp: LoginStamp) -> Result<CurrentToken, AccountError> {
        let token = self.account.read().await?;
        let token = token.ok_or_else(|| AccountError::LoggedOut(self.account.name.clone()))?;
        self.prepared(token, stamp).await
    }

    async fn prepared(&self, token: ServerToken, stamp: LoginStamp) -> Result<CurrentToken, AccountError> {
        let (network, token) = (self.account.network.clone(), Arc::new(token));
        let text = Arc::clone(&token);
        // Building the search for a token takes too long for an async task.
        let bearer = spawn_blocking(move || BearerToken::new(&network, text.access_token())).await;
        let bearer = bearer.map_err(io::Error::other)?.map_err(io::Error::other)?;
        Ok(CurrentToken { stamp, token, bearer })
    }
}
