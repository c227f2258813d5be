//! An authenticated cache on disk for compiled code, descriptions, refusals and indexes of plugin directories. No entry
//! is trusted before its MAC is checked.
//!
//! wasmtime trusts compiled code, so an attacker who could change an entry could run code in the host. Three things
//! prevent that. The directory is private, and no grant covers it. The key is outside the directory. An entry is used
//! only if its content and name are exactly as written.
//!
//! Large code is mapped from the file whose MAC was checked, and not copied. So a program that can write the directory
//! could change code after the check. It runs as the same user, who can read the key too.

mod room;
mod seal;
mod turn;

pub use room::{CACHE_BYTES_MAX, InUse};
pub use turn::CompileTurn;

use crate::artefact::Artefact;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use data_encoding::HEXLOWER;
use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};
use seal::EntrySeals;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;

/// Minimum size of an entry whose code is mapped, in bytes. A smaller one is copied, because a mapped file stays open.
const MAPPED_BYTES_MIN: u64 = 1024 * 1024;

/// Maximum files of code that a host maps at one time. Each is an open file. Further code is copied.
const MAPPED_MAX: usize = 256;

/// Maximum size of an entry, in bytes. Code is at most about four times as large as its component.
const ENTRY_BYTES_MAX: u64 = 4 * crate::component::COMPONENT_BYTES_MAX;

/// Maximum entries that a host marks as used at one time. Each mark is an open file, and the usual limit of a process
/// is 1024.
const MARKED_MAX: usize = 256;

/// Resolution of the time of an entry's last use. It is coarse, because each update of the time writes to the disk.
const USED_GRAIN: Duration = Duration::from_secs(60 * 60);

/// The suffix of a file that is being written.
const UNFINISHED: &str = ".new";

/// Counts the writers of this process.
static WRITERS: AtomicU64 = AtomicU64::new(0);

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Compiled code.
    Code,
    /// A plugin's description, as JSON.
    Manifest,
    /// Why a plugin was refused, as JSON.
    Refusal,
    /// The fingerprint of the engine that compiled last.
    Engine,
    /// The files of a plugin directory, as they were when they were last read. Its id is that of the directory.
    Index,
}

impl Entry {
    const ALL: [Self; 5] = [Self::Code, Self::Manifest, Self::Refusal, Self::Engine, Self::Index];

    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Manifest => "manifest",
            Self::Refusal => "refusal",
            Self::Engine => "engine",
            Self::Index => "index",
        }
    }
}

/// The result of a lookup in the store.
#[derive(Debug)]
pub enum Fetched<T> {
    /// The entry, as it was written.
    Hit(T),
    /// There is no such entry.
    Miss,
    /// The entry is not what was written. The caller should rebuild it and report the reason.
    Rejected(&'static str),
}

impl<T> Fetched<T> {
    /// Changes the entry, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fetched<U> {
        match self {
            Self::Hit(entry) => Fetched::Hit(change(entry)),
            Self::Miss => Fetched::Miss,
            Self::Rejected(reason) => Fetched::Rejected(reason),
        }
    }
}

impl<T> From<Result<T, &'static str>> for Fetched<T> {
    fn from(checked: Result<T, &'static str>) -> Self {
        match checked {
            Ok(entry) => Self::Hit(entry),
            Err(reason) => Self::Rejected(reason),
        }
    }
}

/// Why an entry could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to the cache")]
pub struct StoreError(#[from] io::Error);

/// An authenticated store for compiled code.
pub struct CodeStore {
    directory: Dir,
    seals: EntrySeals,
    /// The fingerprint of the engine. If `None`, the entries of the engine that compiled last are used.
    fingerprint: Option<[u8; 32]>,
    /// Permits for entries that are marked as used.
    marks: Arc<Semaphore>,
    /// Permits for code that is mapped.
    mapped: Arc<Semaphore>,
}

impl CodeStore {
    /// Creates a store in a private directory, for an engine with this fingerprint. The key must not be in the
    /// directory. An engine that cannot compile has no fingerprint, and uses what another one has compiled last.
    pub fn new(directory: Dir, key: &[u8; 32], fingerprint: Option<[u8; 32]>) -> Self {
        let marks = Arc::new(Semaphore::new(MARKED_MAX));
        let mapped = Arc::new(Semaphore::new(MAPPED_MAX));
        Self { directory, seals: EntrySeals::new(key), fingerprint, marks, mapped }
    }

    /// Looks up the compiled code of a plugin.
    pub fn fetch_code(&self, plugin: &[u8; 32]) -> Fetched<Artefact> {
        let id = self.id(Entry::Code, plugin);
        match self.open_private(Entry::Code, &id).and_then(|file| self.code_in(file, &id)) {
            Ok(fetched) => fetched,
            Err(error) => unreadable(&error),
        }
    }

    /// Checks the code in an entry. Small code is read into memory.
    fn code_in(&self, file: File, id: &[u8; 32]) -> io::Result<Fetched<Artefact>> {
        let place = match file.metadata()?.len() {
            MAPPED_BYTES_MIN..=ENTRY_BYTES_MAX => Arc::clone(&self.mapped).try_acquire_owned().ok(),
            _ => None,
        };
        let Some(place) = place else {
            return Ok(Fetched::from(self.seals.open(id, read_whole(file)?)).map(Artefact::in_memory));
        };
        let file = file.into_std();
        let checked = Fetched::from(self.seals.check_file(id, &file)?);
        Ok(checked.map(|code_bytes| Artefact::in_file(file, code_bytes, place)))
    }

    /// Looks up an entry of a plugin, or the index of a directory.
    pub fn fetch(&self, entry: Entry, plugin: &[u8; 32]) -> Fetched<Vec<u8>> {
        self.fetch_as(entry, &self.id(entry, plugin))
    }

    /// Returns the size of an entry, in bytes. Zero if there is none.
    pub fn entry_bytes(&self, entry: Entry, plugin: &[u8; 32]) -> u64 {
        let metadata = self.directory.symlink_metadata(file_name(entry, &self.id(entry, plugin)));
        metadata.map_or(0, |metadata| metadata.len())
    }

    fn fetch_as(&self, entry: Entry, id: &[u8; 32]) -> Fetched<Vec<u8>> {
        match self.open_private(entry, id).and_then(read_whole) {
            Ok(bytes) => self.seals.open(id, bytes).into(),
            Err(error) => unreadable(&error),
        }
    }

    /// Writes the compiled code of a plugin, and which engine compiled it.
    ///
    /// # Errors
    /// The system refuses. The entry is then absent or unchanged.
    pub fn put_code(&self, plugin: &[u8; 32], artefact: &Artefact) -> Result<(), StoreError> {
        self.put(Entry::Code, plugin, &artefact.bytes()?)?;
        match &self.fingerprint {
            Some(fingerprint) => self.put_as(Entry::Engine, &engine_id(), fingerprint),
            None => Ok(()),
        }
    }

    /// Writes an entry of a plugin, or the index of a directory.
    ///
    /// # Errors
    /// The system refuses. The entry is then absent or unchanged.
    pub fn put(&self, entry: Entry, plugin: &[u8; 32], bytes: &[u8]) -> Result<(), StoreError> {
        self.put_as(entry, &self.id(entry, plugin), bytes)
    }

    fn put_as(&self, entry: Entry, id: &[u8; 32], bytes: &[u8]) -> Result<(), StoreError> {
        let name = file_name(entry, id);
        let (unfinished, mut file) = self.begin_entry(&name)?;
        file.write_all(bytes)?;
        file.write_all(&self.seals.of(id, bytes))?;
        // Not synced. An entry that a crash of the machine left incomplete has no valid MAC, and is made again.
        self.directory.rename(&unfinished, &self.directory, &name)?;
        // The lock ends here. It is held until the file has its final name, so that no other host removes the file as a
        // leftover.
        drop(file);
        Ok(())
    }

    /// Removes an entry of a plugin, if it exists.
    ///
    /// # Errors
    /// The system refuses. The entry is then unchanged.
    pub fn remove(&self, entry: Entry, plugin: &[u8; 32]) -> Result<(), StoreError> {
        match self.directory.remove_file(file_name(entry, &self.id(entry, plugin))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the id of an entry: a digest of everything that it depends on.
    fn id(&self, entry: Entry, plugin: &[u8; 32]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(entry.name());
        hash.update([0]);
        hash.update(plugin);
        hash.update(self.fingerprint.unwrap_or_else(|| self.last_compiled()));
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.finalize().into()
    }

    /// Returns the fingerprint of the engine that compiled last, or zeros. It is read each time, because another
    /// program may compile at any time.
    fn last_compiled(&self) -> [u8; 32] {
        match self.fetch_as(Entry::Engine, &engine_id()) {
            Fetched::Hit(fingerprint) => fingerprint.try_into().unwrap_or_default(),
            Fetched::Miss | Fetched::Rejected(_) => <[u8; 32]>::default(),
        }
    }

    /// Opens an entry that only this user can write, and notes its use.
    fn open_private(&self, entry: Entry, id: &[u8; 32]) -> io::Result<File> {
        let file = self.open_entry(&file_name(entry, id))?;
        check_private(&file)?;
        note_use(&file);
        Ok(file)
    }

    /// Creates a file for a new entry that no other writer uses. Its lock marks it as being written.
    fn begin_entry(&self, name: &str) -> io::Result<(String, std::fs::File)> {
        loop {
            let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
            let unfinished = format!("{name}.{}.{writer}{UNFINISHED}", std::process::id());
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600).follow(FollowSymlinks::No);
            let file = match self.directory.open_with(&unfinished, &options) {
                // A process with the same id in another container uses the name, or an earlier process left the file.
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
        // Non-blocking, because opening a pipe would wait for its other end.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        self.directory.open_with(name, &options)
    }
}

fn read_whole(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0).min(1 << 28));
    file.take(ENTRY_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable<T>(error: &io::Error) -> Fetched<T> {
    match error.kind() {
        io::ErrorKind::NotFound => Fetched::Miss,
        _ => Fetched::Rejected("the entry is not a readable regular file that only this user can write"),
    }
}

/// Returns the id of the entry that names the engine that compiled last.
fn engine_id() -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(Entry::Engine.name());
    hash.update([0]);
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.finalize().into()
}

fn file_name(entry: Entry, id: &[u8; 32]) -> String {
    let mut name = HEXLOWER.encode(id);
    name.push('.');
    name.push_str(entry.name());
    name
}

/// Updates the time of an entry's last use. If that fails, the entry is only removed earlier.
fn note_use(file: &File) {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).map(cap_std::time::SystemTime::into_std);
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age >= USED_GRAIN) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }
}

/// Checks that a file is a regular file of this user that no other user can write.
fn check_private(file: &File) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    let regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let own = stat.st_uid == rustix::process::geteuid().as_raw();
    // Another user who can write the file could change mapped code after its MAC was checked.
    let closed = stat.st_mode & 0o022 == 0;
    if regular && own && closed { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
