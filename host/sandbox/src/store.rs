//! Compiled code, descriptions and refusals kept on disk, authenticated: nothing that was read back is trusted before
//! its MAC is checked.
//!
//! wasmtime trusts compiled code as it trusts itself, so whoever can change an entry runs code in the host. The
//! directory is private and covered by no grant; the key lies outside of it; and an entry that is not exactly what was
//! written, under the name it was written as, is not used.

mod room;

pub use room::{CACHE_BYTES_MAX, InUse};

use crate::compile::Artefact;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// The first bytes of an entry; a new number for a new layout.
const MAGIC: &[u8; 8] = b"PCSTORE1";

/// The bytes of a MAC.
const MAC_BYTES: usize = 32;

/// The largest entry, in bytes. Code is at most about four times its component.
const ENTRY_BYTES_MAX: u64 = 4 * crate::component::COMPONENT_BYTES_MAX;

/// Entries that a host marks as used by an open file at one time. A process may often open no more than 1024 files.
const MARKED_MAX: usize = 256;

/// How exactly the cache knows when an entry was used last. A change of the time is a write to the disk.
const USED_GRAIN: Duration = Duration::from_secs(60 * 60);

/// What the name of a file ends with that is being written.
const UNFINISHED: &str = ".new";

/// Counts the writers of this process.
static WRITERS: AtomicU64 = AtomicU64::new(0);

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Compiled code.
    Code,
    /// A plugin's description, as JSON.
    Manifest,
    /// Why a plugin was refused, as JSON.
    Refusal,
}

impl Entry {
    const ALL: [Self; 3] = [Self::Code, Self::Manifest, Self::Refusal];

    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Manifest => "manifest",
            Self::Refusal => "refusal",
        }
    }
}

/// What a look into the store found.
#[derive(Debug)]
pub enum Fetched<T> {
    /// The entry, as it was written.
    Hit(T),
    /// No entry.
    Miss,
    /// An entry that is not what was written; it is to be made anew, and somebody should know.
    Rejected(&'static str),
}

/// Why an entry could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to the cache: {0}")]
pub struct StoreError(#[from] io::Error);

/// The store.
pub struct CodeStore {
    directory: Dir,
    mac: Hmac<Sha256>,
    fingerprint: [u8; 32],
    /// Places for entries that are marked as used.
    marks: Arc<Semaphore>,
}

impl CodeStore {
    /// A store in a private directory, for an engine of this fingerprint, under a key that never lies in it.
    pub fn new(directory: Dir, key: &[u8; 32], fingerprint: [u8; 32]) -> Self {
        let marks = Arc::new(Semaphore::new(MARKED_MAX));
        Self { directory, mac: keyed(key), fingerprint, marks }
    }

    /// Looks for the compiled code of a plugin.
    pub fn fetch_code(&self, plugin: &[u8; 32]) -> Fetched<Artefact> {
        match self.fetch(Entry::Code, plugin) {
            Fetched::Hit(bytes) => Fetched::Hit(Artefact::authenticated(bytes)),
            Fetched::Miss => Fetched::Miss,
            Fetched::Rejected(reason) => Fetched::Rejected(reason),
        }
    }

    /// Looks for an entry of a plugin.
    pub fn fetch(&self, entry: Entry, plugin: &[u8; 32]) -> Fetched<Vec<u8>> {
        let id = self.id(entry, plugin);
        match self.read(entry, &id) {
            Ok(bytes) => self.open_sealed(bytes, &id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Fetched::Miss,
            Err(_) => Fetched::Rejected("the entry cannot be read as a private regular file"),
        }
    }

    /// Writes the compiled code of a plugin.
    ///
    /// # Errors
    /// What the system says; the entry is then absent, or what it was.
    pub fn put_code(&self, plugin: &[u8; 32], artefact: &Artefact) -> Result<(), StoreError> {
        self.put(Entry::Code, plugin, artefact.bytes())
    }

    /// Writes an entry of a plugin.
    ///
    /// # Errors
    /// What the system says; the entry is then absent, or what it was.
    pub fn put(&self, entry: Entry, plugin: &[u8; 32], bytes: &[u8]) -> Result<(), StoreError> {
        let id = self.id(entry, plugin);
        let name = file_name(entry, &id);
        let (unfinished, mut file) = self.begin_entry(&name)?;
        file.write_all(MAGIC)?;
        file.write_all(&self.seal(&id, bytes))?;
        file.write_all(bytes)?;
        self.directory.rename(&unfinished, &self.directory, &name)?;
        // The lock ends here: from the first byte to the last name, no other host takes the file for a leftover.
        drop(file);
        Ok(())
    }

    /// Removes an entry of a plugin, where there is one.
    ///
    /// # Errors
    /// What the system says; the entry is then what it was.
    pub fn remove(&self, entry: Entry, plugin: &[u8; 32]) -> Result<(), StoreError> {
        match self.directory.remove_file(file_name(entry, &self.id(entry, plugin))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Names an entry by everything it depends on.
    fn id(&self, entry: Entry, plugin: &[u8; 32]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(entry.name());
        hash.update([0]);
        hash.update(plugin);
        hash.update(self.fingerprint);
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.finalize().into()
    }

    fn seal(&self, id: &[u8; 32], bytes: &[u8]) -> [u8; MAC_BYTES] {
        let mut mac = self.mac.clone();
        mac.update(id);
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }

    fn open_sealed(&self, mut bytes: Vec<u8>, id: &[u8; 32]) -> Fetched<Vec<u8>> {
        let header = MAGIC.len() + MAC_BYTES;
        if bytes.len() < header || !bytes.starts_with(MAGIC) {
            return Fetched::Rejected("the entry is not of this format");
        }
        let payload = bytes.split_off(header);
        let mut mac = self.mac.clone();
        mac.update(id);
        mac.update(&payload);
        match mac.verify_slice(&bytes[MAGIC.len()..]) {
            Ok(()) => Fetched::Hit(payload),
            Err(_) => Fetched::Rejected("the entry's MAC does not match its bytes and its name"),
        }
    }

    fn read(&self, entry: Entry, id: &[u8; 32]) -> io::Result<Vec<u8>> {
        let file = self.open_entry(&file_name(entry, id))?;
        check_private(&file)?;
        note_use(&file);
        let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0).min(1 << 28));
        file.take(ENTRY_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Creates a file to write an entry into, which no other writer has. Its lock says that it is being written.
    fn begin_entry(&self, name: &str) -> io::Result<(String, std::fs::File)> {
        loop {
            let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
            let unfinished = format!("{name}.{}.{writer}{UNFINISHED}", std::process::id());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
            let file = match self.directory.open_with(&unfinished, &options) {
                // A process of this number in another container has it, or an earlier process has left it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?.into_std(),
            };
            flock(&file, FlockOperation::LockExclusive)?;
            // Another host may have removed it before it was locked.
            if rustix::fs::fstat(&file)?.st_nlink > 0 {
                return Ok((unfinished, file));
            }
        }
    }

    fn open_entry(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        self.directory.open_with(name, &options)
    }
}

fn file_name(entry: Entry, id: &[u8; 32]) -> String {
    let mut name: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    name.push('.');
    name.push_str(entry.name());
    name
}

/// HMAC takes a key of up to a block as it is, padded with zeros (RFC 2104).
fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = [0_u8; 64];
    block[..32].copy_from_slice(key);
    Hmac::new(&block.into())
}

/// Notes that an entry is used now. Where that fails, it makes room for others earlier.
fn note_use(file: &File) {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map(cap_std::time::SystemTime::into_std);
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age >= USED_GRAIN) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }
}

/// A regular file of this user that nobody else can write.
fn check_private(file: &File) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    let regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let own = stat.st_uid == rustix::process::geteuid().as_raw();
    let closed = stat.st_mode & 0o022 == 0;
    if regular && own && closed { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
