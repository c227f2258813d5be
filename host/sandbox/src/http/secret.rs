//! The secret of a client: its source, its form, and the guarantee that it is never printed.
//!
//! The host reads it before its plugin receives a first byte, and keeps it in the client. The buffer that it is read
//! into, the secret itself and the list of its spellings are wiped when they are dropped. Not wiped are copies within a
//! request, which hyper owns, and what the search for its spellings is built from, which its libraries own.

use super::command;
use super::network::Network;
use super::opened_secrets::OpenedSecrets;
use super::redact::Redactor;
use super::secret_error::{SECRET_BYTES_MAX, SECRET_BYTES_MIN, SecretError};
use crate::base::PathBase;
use data_encoding::BASE64;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Destination, SecretBinding, SecretSlot, SecretSource};
use rustix::fs::OFlags;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

/// Maximum bytes to read from a file or a program.
const SOURCE_BYTES_MAX: usize = 64 * 1024;

/// How long the host does not retry an unreadable secret just to search for it. A request that needs it retries at
/// once. Without this, each call of a plugin would wait for a keyring that does not answer.
const RETRY_TIME: Duration = Duration::from_secs(60);

/// A secret. It is wiped when dropped, and never printed, copied or written.
pub(super) struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Secret {
    /// Checks that `bytes` can be sent in a slot, and can be found in a response.
    pub(super) fn new(bytes: &[u8], slot: &SecretSlot) -> Result<Self, SecretError> {
        let text = std::str::from_utf8(bytes).map_err(|_| SecretError::Characters)?;
        let sendable = match slot {
            SecretSlot::Header { .. } => text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()),
            // These are encoded before they are sent.
            SecretSlot::Basic { .. } | SecretSlot::Query { .. } => !text.chars().any(char::is_control),
        };
        if !sendable {
            return Err(SecretError::Characters);
        }
        if text.trim().len() < SECRET_BYTES_MIN {
            return Err(SecretError::Short);
        }
        if text.len() > SECRET_BYTES_MAX {
            return Err(SecretError::Long);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns the value, to send it.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

/// A secret that was read, and its redactor.
pub(super) struct OpenedSecret {
    pub(super) secret: Secret,
    pub(super) redactor: Arc<Redactor>,
}

impl OpenedSecret {
    pub(super) fn new(secret: Secret, slot: &SecretSlot, opened: &OpenedSecrets) -> Result<Self, SecretError> {
        let redactor = match slot {
            SecretSlot::Basic { user } => Redactor::new(&[secret.expose(), &basic(user, &secret)]),
            SecretSlot::Header { .. } | SecretSlot::Query { .. } => Redactor::new(&[secret.expose()]),
        };
        Ok(Self { secret, redactor: opened.add(redactor.ok_or(SecretError::Long)?)? })
    }
}

/// Returns the credentials of HTTP Basic authentication.
pub(super) fn basic(user: &str, secret: &Secret) -> Zeroizing<String> {
    let pair = Zeroizing::new(format!("{user}:{}", secret.expose()));
    Zeroizing::new(BASE64.encode(pair.as_bytes()))
}

/// The source of a client's secret. Clones of the client share it, so that the secret is read once.
pub(super) struct Vault {
    binding: SecretBinding,
    base: PathBase,
    /// Every secret that the host has opened. What plugins return is searched for all of them.
    opened: Arc<OpenedSecrets>,
    charge: OnceCell<Arc<OpenedSecret>>,
    failed: Mutex<Option<Instant>>,
}

impl Vault {
    pub(super) fn new(binding: SecretBinding, base: PathBase, opened: Arc<OpenedSecrets>) -> Self {
        Self { binding, base, opened, charge: OnceCell::new(), failed: Mutex::default() }
    }

    pub(super) fn slot(&self) -> &SecretSlot {
        &self.binding.slot
    }

    /// Returns whether the secret belongs in requests to this destination.
    pub(super) fn is_for(&self, destination: &Destination) -> bool {
        self.binding.is_for(destination)
    }

    /// Returns the secret, and reads it first if necessary. From then on the host searches for it. A failure is not
    /// cached.
    pub(super) async fn open(&self) -> Result<Arc<OpenedSecret>, SecretError> {
        let opened = self.charge.get_or_try_init(|| self.read()).await.map(Arc::clone);
        if opened.is_err() {
            *self.failed.lock_recovered() = Some(Instant::now());
        }
        opened
    }

    /// Opens the secret only to search for it.
    pub(super) async fn look_up(self: Arc<Self>) {
        // The failure is stored for the requests that need the secret.
        let _ = self.open().await;
    }

    /// Returns the redactor of the secret, once it is open.
    pub(super) fn redactor(&self) -> Option<&Arc<Redactor>> {
        self.charge.get().map(|charge| &charge.redactor)
    }

    /// Returns whether the secret is not open yet and opening it has not failed recently.
    pub(super) fn is_due(&self) -> bool {
        let failed = *self.failed.lock_recovered();
        self.charge.get().is_none() && failed.is_none_or(|failed| failed.elapsed() >= RETRY_TIME)
    }

    /// Returns whether a program prints the secret.
    pub(super) fn is_from_command(&self) -> bool {
        match self.binding.from {
            SecretSource::Command(_) => true,
            SecretSource::Env(_) | SecretSource::File(_) => false,
        }
    }

    async fn read(&self) -> Result<Arc<OpenedSecret>, SecretError> {
        let bytes = read_source(&self.binding.from, &self.base).await?;
        let (slot, opened) = (self.slot().clone(), Arc::clone(&self.opened));
        // Building the search for a long secret takes too long for an async task.
        let charge = move || OpenedSecret::new(Secret::new(&bytes, &slot)?, &slot, &opened).map(Arc::new);
        tokio::task::spawn_blocking(charge).await.unwrap_or(Err(SecretError::Internal))
    }
}

/// Checks that the secret in a file can be sent in its slot. Keeps no copy of it.
///
/// # Errors
/// A description of the problem that does not quote the file.
pub fn check_secret_file(base: &PathBase, path: &str, slot: &SecretSlot) -> Result<(), String> {
    let checked = read_file(base, path).and_then(|bytes| Secret::new(&bytes, slot));
    checked.map(drop).map_err(|error| error.to_string())
}

/// Why a secret of a server is not available. Does not quote the secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VariableError(SecretError);

/// Reads a secret for an environment variable of a server. From then on, the host searches for it in everything that
/// leaves the host.
///
/// # Errors
/// The source cannot be read, or the secret cannot be searched for.
pub async fn open_variable(
    network: &Network,
    source: &SecretSource,
    base: &PathBase,
) -> Result<Zeroizing<String>, VariableError> {
    // A secret in a parameter can have the same characters as one in a variable.
    let slot = SecretSlot::Query { name: String::new() };
    let bytes = read_source(source, base).await.map_err(VariableError)?;
    let opened = Arc::clone(network.opened_secrets());
    let open = move || OpenedSecret::new(Secret::new(&bytes, &slot)?, &slot, &opened);
    let opened = tokio::task::spawn_blocking(open).await.unwrap_or(Err(SecretError::Internal));
    opened.map(|opened| opened.secret.0).map_err(VariableError)
}

async fn read_source(source: &SecretSource, base: &PathBase) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    match source {
        SecretSource::Env(name) => from_environment(name),
        SecretSource::File(path) => from_file(base.clone(), path.clone()).await,
        SecretSource::Command(words) => Ok(without_line_end(command::output(words, base, SOURCE_BYTES_MAX).await?)),
    }
}

#[expect(clippy::disallowed_methods, reason = "the policy names the variable that a secret is in")]
fn from_environment(name: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty()).ok_or(SecretError::Unset)?;
    Ok(Zeroizing::new(value.into_encoded_bytes()))
}

async fn from_file(base: PathBase, path: String) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let read = tokio::task::spawn_blocking(move || read_file(&base, &path));
    read.await.unwrap_or(Err(SecretError::File))
}

fn read_file(base: &PathBase, path: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    // Non-blocking, because opening a pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(base.open(path, flags).map_err(|_| SecretError::File)?);
    if !file.metadata().map_err(|_| SecretError::File)?.is_file() {
        return Err(SecretError::Irregular);
    }
    let bytes = read_whole(file).map_err(|_| SecretError::File)?;
    if bytes.len() > SOURCE_BYTES_MAX { Err(SecretError::Long) } else { Ok(without_line_end(bytes)) }
}

/// Reads at most one byte more than [`SOURCE_BYTES_MAX`].
fn read_whole(source: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    // The full capacity, because a buffer that grows leaves a copy of the secret behind, which is not wiped.
    let mut bytes = Zeroizing::new(Vec::with_capacity(SOURCE_BYTES_MAX + 1));
    source.take(SOURCE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Removes one line ending at the end. Editors and programs add it, so it is not a part of the secret.
fn without_line_end(mut bytes: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    let end = bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).map(<[u8]>::len);
    if let Some(end) = end {
        bytes.truncate(end);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn header() -> SecretSlot {
        SecretSlot::Header { name: "authorization".to_owned(), value: "Bearer {}".to_owned() }
    }

    fn check(text: &[u8], slot: &SecretSlot) -> Result<(), SecretError> {
        Secret::new(text, slot).map(|_| ())
    }

    #[test]
    fn a_secret_that_cannot_be_sent_or_redacted_is_refused() {
        let query = SecretSlot::Query { name: "key".to_owned() };
        let basic = SecretSlot::Basic { user: "me".to_owned() };
        for slot in [&header(), &query, &basic] {
            assert_eq!(check(b"12345678", slot), Ok(()));
            assert_eq!(check(&[b'a'; SECRET_BYTES_MAX], slot), Ok(()));
            assert_eq!(check(&[b'a'; SECRET_BYTES_MAX + 1], slot), Err(SecretError::Long));
            for text in [&b""[..], b"1234567", b"       1", b"1       "] {
                assert_eq!(check(text, slot), Err(SecretError::Short), "{text:?}");
            }
            for text in [&b"12345678\r\nx: y"[..], b"12345678\n", b"1234\x005678", b"1234\x7f5678", b"1234\xff5678"] {
                assert_eq!(check(text, slot), Err(SecretError::Characters), "{text:?}");
            }
        }
        assert_eq!(check("pässwörd".as_bytes(), &basic), Ok(()));
        assert_eq!(check("pässwörd".as_bytes(), &header()), Err(SecretError::Characters));
    }

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new(b"canary-canary", &header()).unwrap();
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret Secret");
    }

    #[test]
    fn only_one_line_ending_is_removed() {
        for (text, expected) in [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), ("a", "a")] {
            assert_eq!(&*without_line_end(Zeroizing::new(text.into())), expected.as_bytes());
        }
    }

    #[test]
    fn the_buffer_of_a_secret_never_grows() {
        let capacity = read_whole(io::empty()).unwrap().capacity();
        for bytes in
            [SECRET_BYTES_MAX, SECRET_BYTES_MAX + 2, SOURCE_BYTES_MAX, SOURCE_BYTES_MAX + 1, 2 * SOURCE_BYTES_MAX]
        {
            let read = read_whole(io::repeat(b'a').take(bytes as u64)).unwrap();
            assert_eq!((read.len(), read.capacity()), (bytes.min(SOURCE_BYTES_MAX + 1), capacity), "{bytes}");
        }
    }

    #[tokio::test]
    async fn a_file_that_is_not_regular_is_refused_without_waiting() {
        for path in ["/dev/zero", "/dev", "/proc/self/fd"] {
            assert_eq!(from_file(PathBuf::new().into(), path.to_owned()).await, Err(SecretError::Irregular), "{path}");
        }
        assert_eq!(from_file(PathBuf::new().into(), "/nowhere/at/all".to_owned()).await, Err(SecretError::File));
    }
}
