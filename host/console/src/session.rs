//! Login links and signed-in browsers. Both exist only in the memory of this process, and only as digests.

use crate::limits::{LINK_TIME, LINKS_MAX, SESSION_TIME, SESSIONS_MAX};
use crate::notice::Notice;
use data_encoding::BASE64URL_NOPAD;
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

/// The digest of a secret of 256 random bits.
type SecretDigest = [u8; 32];

/// The login links that were not used yet, and the browsers that are signed in.
#[derive(Default)]
pub(crate) struct ConsoleSessions(Mutex<SessionTable>);

#[derive(Default)]
struct SessionTable {
    links: Vec<LoginLink>,
    sessions: Vec<SignedIn>,
}

struct LoginLink {
    digest: SecretDigest,
    until: Instant,
}

/// A browser that is signed in.
struct SignedIn {
    digest: SecretDigest,
    csrf: Arc<str>,
    until: Instant,
    /// Who signed in, if a token says it.
    approver: Option<Principal>,
    /// Cancelled when the session ends.
    ended: CancellationToken,
    /// What the next page tells its reader.
    notices: Vec<Notice>,
}

impl Drop for SignedIn {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

/// The session of one request.
#[derive(Clone)]
pub(crate) struct ConsoleSession {
    digest: SecretDigest,
    /// The token that every form of the session carries.
    pub(crate) csrf: Arc<str>,
    /// Who signed in, if a token says it.
    pub(crate) approver: Option<Principal>,
    /// Cancelled when the session ends, which ends its event streams.
    pub(crate) ended: CancellationToken,
    /// Whether the page asks by itself, to bring itself up to date. Notices are for the page that a person asks for.
    pub(crate) is_refresh: bool,
}

impl ConsoleSessions {
    /// Creates a login link. Returns its token, or `None` if the system provides no randomness.
    pub(crate) fn link(&self) -> Option<String> {
        let token = secret()?;
        let mut table = self.0.lock_recovered();
        table.links.retain(|link| link.until > Instant::now());
        if table.links.len() == LINKS_MAX {
            table.links.remove(0);
        }
        table.links.push(LoginLink { digest: digest(&token), until: Instant::now() + LINK_TIME });
        Some(token)
    }

    /// Spends a login link. Returns the cookie of the new session, or `None` if the link was used, has expired or never
    /// existed.
    pub(crate) fn sign_in(&self, token: &str) -> Option<String> {
        let wanted = digest(token);
        let mut table = self.0.lock_recovered();
        let place = table.links.iter().position(|link| same(&link.digest, &wanted))?;
        let link = table.links.remove(place);
        if link.until <= Instant::now() {
            return None;
        }
        table.begin(None).map(|(cookie, _)| cookie)
    }

    /// Signs in an approver whose token was verified. Returns the cookie of the new session, and its end.
    pub(crate) fn sign_in_as(&self, approver: Principal) -> Option<(String, CancellationToken)> {
        self.0.lock_recovered().begin(Some(approver))
    }

    /// Returns the session with this cookie, and keeps it for longer.
    pub(crate) fn find(&self, cookie: &str) -> Option<ConsoleSession> {
        let (wanted, now) = (digest(cookie), Instant::now());
        let mut table = self.0.lock_recovered();
        // When the token of an approver is no longer valid, a task of the sign-in cancels `ended`.
        table.sessions.retain(|session| session.until > now && !session.ended.is_cancelled());
        let session = table.sessions.iter_mut().find(|session| same(&session.digest, &wanted))?;
        session.until = now + SESSION_TIME;
        Some(ConsoleSession {
            digest: wanted,
            csrf: Arc::clone(&session.csrf),
            approver: session.approver.clone(),
            ended: session.ended.clone(),
            is_refresh: false,
        })
    }

    /// Ends a session.
    pub(crate) fn sign_out(&self, session: &ConsoleSession) {
        // This digest is not from the client, so the comparison need not take constant time.
        self.0.lock_recovered().sessions.retain(|known| known.digest != session.digest);
    }

    /// Leaves a notice for the next page of a session.
    pub(crate) fn notify(&self, session: &ConsoleSession, notice: Notice) {
        let mut table = self.0.lock_recovered();
        if let Some(known) = table.sessions.iter_mut().find(|known| known.digest == session.digest) {
            known.notices.push(notice);
        }
    }

    /// Takes the notices of a session, unless the page only brings itself up to date.
    pub(crate) fn notices(&self, session: &ConsoleSession) -> Vec<Notice> {
        if session.is_refresh {
            return Vec::new();
        }
        let mut table = self.0.lock_recovered();
        let known = table.sessions.iter_mut().find(|known| known.digest == session.digest);
        known.map(|known| std::mem::take(&mut known.notices)).unwrap_or_default()
    }
}

impl SessionTable {
    /// Begins a session. Returns its cookie and its end, or `None` if the system provides no randomness.
    fn begin(&mut self, approver: Option<Principal>) -> Option<(String, CancellationToken)> {
        let (cookie, csrf, ended) = (secret()?, secret()?, CancellationToken::new());
        if self.sessions.len() == SESSIONS_MAX {
            // Dropping the session also ends its event streams.
            self.sessions.remove(0);
        }
        self.sessions.push(SignedIn {
            digest: digest(&cookie),
            csrf: csrf.into(),
            until: Instant::now() + SESSION_TIME,
            approver,
            ended: ended.clone(),
            notices: Vec::new(),
        });
        Some((cookie, ended))
    }
}

/// Returns 256 random bits as text.
fn secret() -> Option<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(BASE64URL_NOPAD.encode(&bytes))
}

fn digest(secret: &str) -> SecretDigest {
    Sha256::digest(secret.as_bytes()).into()
}

fn same(one: &SecretDigest, other: &SecretDigest) -> bool {
    // The time of the comparison must not tell a client how much of a guess is right.
    bool::from(one.ct_eq(other))
}

impl ConsoleSession {
    /// Returns whether a form carries the token of this session.
    pub(crate) fn has_csrf(&self, token: &str) -> bool {
        // Digests have one length, which a comparison in constant time needs.
        same(&digest(&self.csrf), &digest(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_signs_in_once() {
        let sessions = ConsoleSessions::default();
        let token = sessions.link().unwrap();
        let cookie = sessions.sign_in(&token).unwrap();
        assert!(sessions.sign_in(&token).is_none());
        let session = sessions.find(&cookie).unwrap();
        assert!(session.has_csrf(&session.csrf) && !session.has_csrf("") && !session.has_csrf(&cookie));
        assert!(sessions.find(&token).is_none() && sessions.find("").is_none());
        sessions.sign_out(&session);
        assert!(sessions.find(&cookie).is_none());
    }

    #[test]
    fn a_session_ends_with_the_token_that_began_it() {
        let sessions = ConsoleSessions::default();
        let (cookie, ended) = sessions.sign_in_as("mcp.alice".parse().unwrap()).unwrap();
        assert_eq!(sessions.find(&cookie).unwrap().approver.unwrap().as_str(), "mcp.alice");
        ended.cancel();
        assert!(sessions.find(&cookie).is_none());
        let (cookie, ended) = sessions.sign_in_as("mcp.alice".parse().unwrap()).unwrap();
        sessions.sign_out(&sessions.find(&cookie).unwrap());
        assert!(ended.is_cancelled(), "event streams of the session end when it is signed out");
    }

    #[test]
    fn the_oldest_links_and_sessions_make_room() {
        let sessions = ConsoleSessions::default();
        let links: Vec<String> = (0..=LINKS_MAX).map(|_| sessions.link().unwrap()).collect();
        assert!(sessions.sign_in(&links[0]).is_none());
        let first = sessions.sign_in(&links[1]).unwrap();
        for _ in 0..SESSIONS_MAX {
            sessions.sign_in(&sessions.link().unwrap()).unwrap();
        }
        assert!(sessions.find(&first).is_none());
    }
}
