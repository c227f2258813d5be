//! Logins to MCP servers: what a host needs to get a token without asking a person again. Each is an encrypted file of
//! the state directory, which only a host with this key can have written, and which opens only for its server.

use crate::mac::derived;
use crate::state_directory::{HostDirectories, PlaceError};
use crate::state_folder::StateFolder;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{File, OpenOptions, OpenOptionsExt};
use portcullis_definitions::text::hex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use std::path::Path;
use zeroize::Zeroizing;

/// The directory of the logins, in the state directory.
const LOGINS_DIRECTORY: &str = "logins";

/// Maximum size of a login, in bytes: two tokens of 8 KiB, and the description of an authorization server.
const LOGIN_BYTES_MAX: usize = 256 * 1024;

/// The label from which the key of the logins is derived, so that it never equals another key of the host.
const KEY_LABEL: &[u8] = b"portcullis logins to servers, version 1";

/// A server: its name in the policy, and its address. A login of one server does not open for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginServer {
    /// The SHA-256 of the name and the address, which is the name of the file.
    identity: String,
}

impl LoginServer {
    /// Identifies a server.
    pub fn new(name: &str, address: &str) -> Self {
        // Serializing strings cannot fail.
        let text = serde_json::to_vec(&(name, address)).unwrap_or_default();
        Self { identity: hex(&Sha256::digest(text)) }
    }
}

/// What is kept for a server.
#[derive(Clone, PartialEq, Eq)]
pub enum KeptLogin {
    /// Nothing.
    Absent,
    /// This login.
    Login(Zeroizing<Vec<u8>>),
    /// A file that no host with this key has written for this server.
    Damaged,
}

/// The state of a login's file. Two equal states mean that the file did not change in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginStamp(Option<(u64, i64, i64)>);

/// Held while a login is renewed. No other host renews it in that time.
#[derive(Debug)]
pub struct LoginLock(#[expect(dead_code, reason = "dropping the file releases the lock")] File);

/// The logins of a state directory.
pub struct ServerLogins {
    folder: StateFolder,
    key: LessSafeKey,
}

impl fmt::Debug for KeptLogin {
    /// Leaves out the login.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Absent => "Absent",
            Self::Login(_) => "Login",
            Self::Damaged => "Damaged",
        })
    }
}

impl fmt::Debug for ServerLogins {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerLogins").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl ServerLogins {
    /// Opens the logins. Creates their directory if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created or opened.
    pub fn open(state: &HostDirectories) -> Result<Self, PlaceError> {
        let folder = StateFolder::open(state, LOGINS_DIRECTORY, "the logins to servers")?;
        let no_key = |_| PlaceError::Key { path: state.path.clone() };
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*derived(&state.key, KEY_LABEL)).map_err(no_key)?;
        Ok(Self { folder, key: LessSafeKey::new(key) })
    }

    /// Returns the directory of the logins. It changes when a login is written or removed.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the login of a server.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, server: &LoginServer) -> io::Result<KeptLogin> {
        Ok(match self.folder.read(&server.identity, LOGIN_BYTES_MAX as u64)? {
            Some(sealed) => self.opened(server, sealed).map_or(KeptLogin::Damaged, KeptLogin::Login),
            None => KeptLogin::Absent,
        })
    }

    /// Decrypts a file that was written for a server.
    fn opened(&self, server: &LoginServer, mut sealed: Vec<u8>) -> Option<Zeroizing<Vec<u8>>> {
        if sealed.len() > LOGIN_BYTES_MAX || sealed.len() < NONCE_LEN {
            return None;
        }
        let mut encrypted = Zeroizing::new(sealed.split_off(NONCE_LEN));
        let nonce = Nonce::try_assume_unique_for_key(&sealed).ok()?;
        let length = self.key.open_in_place(nonce, Aad::from(server.identity.as_bytes()), &mut encrypted).ok()?.len();
        encrypted.truncate(length);
        Some(encrypted)
    }

    /// Returns the state of a login's file.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn stamp(&self, server: &LoginServer) -> io::Result<LoginStamp> {
        match rustix::fs::statat(
            &self.folder.directory,
            server.identity.as_str(),
            rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
        ) {
            // Each login is a new file, so the inode tells two writes within one tick of the clock apart.
            Ok(stat) => Ok(LoginStamp(Some((stat.st_ino, stat.st_mtime, stat.st_mtime_nsec as i64)))),
            Err(rustix::io::Errno::NOENT) => Ok(LoginStamp(None)),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps a login, in place of the one before.
    ///
    /// # Errors
    /// The login is too long, or the file cannot be written.
    pub fn keep(&self, server: &LoginServer, login: &[u8]) -> io::Result<()> {
        // A random nonce is unique enough, because the key encrypts only the few logins of one state directory.
        let mut nonce = [0_u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        if login.len() + NONCE_LEN + CHACHA20_POLY1305.tag_len() > LOGIN_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the login is too long to be kept"));
        }
        // Allocate the full capacity, because a growing buffer would leave a copy behind.
        let mut sealed = Vec::with_capacity(NONCE_LEN + login.len() + CHACHA20_POLY1305.tag_len());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(login);
        let identity = Aad::from(server.identity.as_bytes());
        let tag = self
            .key
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), identity, &mut sealed[NONCE_LEN..])
            .map_err(|_| io::Error::other("the login cannot be encrypted"))?;
        sealed.extend_from_slice(tag.as_ref());
        self.folder.replace(&server.identity, &sealed)
    }

    /// Removes the login of a server. Returns whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, server: &LoginServer) -> io::Result<bool> {
        match self.folder.directory.remove_file(&server.identity) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Locks the login of a server among all hosts. `None` if another one holds the lock.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub fn try_lock(&self, server: &LoginServer) -> io::Result<Option<LoginLock>> {
        // The lock file is never removed. Otherwise, one host could lock the removed file, and another one a new file.
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600).follow(FollowSymlinks::No).nonblock(true);
        let file = self.folder.directory.open_with(format!("{}.lock", server.identity), &options)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(LoginLock(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::path::PathBuf;

    /// A state directory that is removed in the end.
    struct StateFixture(PathBuf);

    impl StateFixture {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("portcullis-{name}-{}", std::process::id()));
            remove(&path);
            Self(path)
        }

        fn open(&self) -> ServerLogins {
            ServerLogins::open(&HostDirectories::open(&self.0.as_path().into()).unwrap()).unwrap()
        }
    }

    impl Drop for StateFixture {
        fn drop(&mut self) {
            remove(&self.0);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test removes what it made")]
    fn remove(path: &Path) {
        let _ = std::fs::remove_dir_all(path);
    }

    fn login(text: &str) -> KeptLogin {
        KeptLogin::Login(Zeroizing::new(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_login_opens_only_for_its_server_and_is_not_readable() {
        let fixture = StateFixture::new("logins");
        let logins = fixture.open();
        let [server, other] = ["https://a.example/mcp", "https://b.example/mcp"].map(|url| LoginServer::new("a", url));
        assert_eq!(logins.read(&server).unwrap(), KeptLogin::Absent);
        let before = logins.stamp(&server).unwrap();
        logins.keep(&server, b"token-5c0f9e2a").unwrap();
        assert_ne!(logins.stamp(&server).unwrap(), before);
        assert_eq!(fixture.open().read(&server).unwrap(), login("token-5c0f9e2a"), "another host has the same key");
        let mut kept = Vec::new();
        logins.folder.directory.open(&server.identity).unwrap().read_to_end(&mut kept).unwrap();
        assert!(!kept.windows(5).any(|window| window == b"token"));
        logins.folder.directory.copy(&server.identity, &logins.folder.directory, &other.identity).unwrap();
        assert_eq!(logins.read(&other).unwrap(), KeptLogin::Damaged, "the file of one server for another one");
        assert!(logins.remove(&server).unwrap() && !logins.remove(&server).unwrap());
        assert_eq!(logins.read(&server).unwrap(), KeptLogin::Absent);
    }

    #[test]
    fn a_changed_file_is_no_login() {
        let fixture = StateFixture::new("logins-changed");
        let (logins, server) = (fixture.open(), LoginServer::new("a", "https://a.example/mcp"));
        logins.keep(&server, b"token-5c0f9e2a").unwrap();
        let mut kept = Vec::new();
        logins.folder.directory.open(&server.identity).unwrap().read_to_end(&mut kept).unwrap();
        for place in [0, NONCE_LEN, kept.len() - 1] {
            let mut changed = kept.clone();
            changed[place] ^= 1;
            logins.folder.directory.write(&server.identity, &changed).unwrap();
            assert_eq!(logins.read(&server).unwrap(), KeptLogin::Damaged, "byte {place}");
        }
        for length in [0, NONCE_LEN - 1, NONCE_LEN, kept.len() - 1] {
            logins.folder.directory.write(&server.identity, &kept[..length]).unwrap();
            assert_eq!(logins.read(&server).unwrap(), KeptLogin::Damaged, "{length} bytes");
        }
        assert!(logins.keep(&server, &vec![0; LOGIN_BYTES_MAX]).is_err());
    }

    #[test]
    fn one_host_at_a_time_renews_a_login() {
        let fixture = StateFixture::new("logins-lock");
        let (one, two) = (fixture.open(), fixture.open());
        let [server, other] = ["a", "b"].map(|name| LoginServer::new(name, "https://a.example/mcp"));
        let lock = one.try_lock(&server).unwrap();
        assert!(lock.is_some() && two.try_lock(&server).unwrap().is_none());
        assert!(two.try_lock(&other).unwrap().is_some());
        drop(lock);
        assert!(two.try_lock(&server).unwrap().is_some());
    }
}
