//! The state directory of a host, and the errors of the host's own places. Only this file of the crate turns paths into
//! handles. Everything else works with the handles.

use crate::mac::derived;
use crate::private_folder;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use data_encoding::HEXLOWER_PERMISSIVE;
use portcullis_definitions::text::hex;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

pub use crate::outputs_address::{BucketAddress, OutputsAddress};

/// The file of the key, in the state directory. The key seals the audit log, the ledger and the cache.
const KEY_FILE: &str = "key";

/// Maximum size of the file with the key of a shared ledger, in bytes: 64 digits and white space.
const KEY_FILE_BYTES_MAX: u64 = 128;

/// The directory of the cache, in the state directory.
const CACHE_DIRECTORY: &str = "cache";

/// Why one of the host's places cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The system reports an error.
    #[error("cannot use {} {}", what, path.display())]
    Io {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Other users could change or read what the host relies on.
    #[error("{} {} is open to other users: remove their permissions with `chmod {remedy}`", what, path.display())]
    Exposed {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The change of the mode, for `chmod`.
        remedy: &'static str,
    },
    /// The place belongs to another user.
    #[error("{} {} belongs to another user: use a place of your own", what, path.display())]
    Foreign {
        /// Which place.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The key is not 32 bytes.
    #[error("the key {} is damaged: move the whole state directory away to start a new one", path.display())]
    Key {
        /// The path.
        path: PathBuf,
    },
    /// The key of a shared ledger is neither 32 bytes nor 64 hexadecimal digits.
    #[error("the key of the ledger {} must be 32 bytes or 64 hexadecimal digits", path.display())]
    LedgerKey {
        /// The path.
        path: PathBuf,
    },
    /// There is a place for outputs, but no database that all hosts share.
    #[error("a place for the outputs of many hosts needs a ledger in a database: name one, or leave the place out")]
    OutputsAlone,
    /// The policy is not UTF-8, or is too large.
    #[error("the policy {} is {why}", path.display())]
    Policy {
        /// The path.
        path: PathBuf,
        /// The problem.
        why: &'static str,
    },
}

/// Where a host keeps its state: a directory, and possibly a database for what it shares with other hosts.
///
/// A path is the place of a host that shares its state only with the processes of one machine:
///
/// ```
/// use portcullis_ledger::state_directory::StatePlace;
///
/// let place = StatePlace::from("/var/lib/portcullis");
/// assert_eq!(place.directory().to_str(), Some("/var/lib/portcullis"));
/// ```
#[derive(Clone, Debug)]
pub struct StatePlace {
    directory: PathBuf,
    ledger: LedgerPlace,
    ledger_key: Option<PathBuf>,
    outputs: Option<OutputsAddress>,
    examined_code: Option<PathBuf>,
}

impl StatePlace {
    /// Returns the directory. It holds what belongs to one host: its audit log, its cache and its keys.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the place with the ledger in a PostgreSQL database, which many hosts can share.
    #[must_use]
    pub fn ledger_in(self, address: PostgresAddress) -> Self {
        Self { ledger: LedgerPlace::Postgres(address), ..self }
    }

    /// Returns the place with the key of a shared ledger in this file: 32 bytes, or 64 hexadecimal digits. Without it,
    /// the key of the directory seals the ledger. All hosts of a ledger need the same key.
    #[must_use]
    pub fn ledger_key(self, file: PathBuf) -> Self {
        Self { ledger_key: Some(file), ..self }
    }

    /// Returns the place with the large kept outputs of a shared ledger here. Without it, all of them are in the
    /// database. All hosts of a ledger need the same place.
    #[must_use]
    pub fn outputs_in(self, outputs: OutputsAddress) -> Self {
        Self { outputs: Some(outputs), ..self }
    }

    /// Returns the place with a directory of compiled code that the user's other commands keep. The host takes from it
    /// what its own cache does not have. It holds the keys of its entries, so no grant may contain it.
    #[must_use]
    pub fn examined_code(self, directory: PathBuf) -> Self {
        Self { examined_code: Some(directory), ..self }
    }
}

impl<P: Into<PathBuf>> From<P> for StatePlace {
    fn from(directory: P) -> Self {
        let (ledger, directory) = (LedgerPlace::Directory, directory.into());
        Self { directory, ledger, ledger_key: None, outputs: None, examined_code: None }
    }
}

/// What holds the ledger.
#[derive(Clone, Debug)]
pub(crate) enum LedgerPlace {
    /// A SQLite file in the state directory.
    Directory,
    /// A PostgreSQL database.
    Postgres(PostgresAddress),
}

/// The address of a PostgreSQL database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`.
#[derive(Clone)]
pub struct PostgresAddress(Zeroizing<String>);

impl PostgresAddress {
    /// Returns the address with this text. It is parsed when the ledger is opened.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// Returns the text of the address.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "no database can be opened"))]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether a text is such an address.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }
}

impl fmt::Debug for PostgresAddress {
    /// Leaves out the address, because it may have a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PostgresAddress")
    }
}

/// The opened state directory.
pub struct HostDirectories {
    /// The path of the state directory.
    pub path: PathBuf,
    /// The state directory.
    pub directory: Dir,
    /// The directory of the cache in it.
    pub cache: Dir,
    /// The key that seals the audit log and the cache.
    pub key: [u8; 32],
    /// The machine and the path, for people who look for this directory.
    pub named: String,
    /// The directory of compiled code that the user's other commands keep. It need not exist.
    pub examined_code: Option<PathBuf>,
    /// The key that seals the ledger.
    pub(crate) ledger_key: [u8; 32],
    /// What holds the ledger.
    pub(crate) ledger: LedgerPlace,
    /// Where large outputs are that hosts share.
    pub(crate) outputs: Option<OutputsHome>,
}

/// The place of large outputs, with its directory open.
pub(crate) enum OutputsHome {
    /// With its path for messages.
    Directory(Dir, PathBuf),
    Bucket(BucketAddress),
}

impl OutputsHome {
    fn open(address: &OutputsAddress) -> Result<Self, PlaceError> {
        let path = match address {
            OutputsAddress::Directory(path) => path,
            OutputsAddress::Bucket(address) => return Ok(Self::Bucket(address.clone())),
        };
        let what = "the directory of outputs";
        let directory = open_directory(path).map_err(|source| PlaceError::Io { what, path: path.clone(), source })?;
        // Others could delete outputs. They cannot read them, because the host makes them for its user alone.
        if stat(&directory, what, path)?.st_mode & 0o002 != 0 {
            return Err(PlaceError::Exposed { what, path: path.clone(), remedy: "o-w" });
        }
        Ok(Self::Directory(directory, path.clone()))
    }

    /// Returns its address, which has no secret.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Directory(_, path) => path.display().to_string(),
            Self::Bucket(address) => address.to_string(),
        }
    }

    fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Directory(directory, path) => Ok(Self::Directory(directory.try_clone()?, path.clone())),
            Self::Bucket(address) => Ok(Self::Bucket(address.clone())),
        }
    }
}

impl fmt::Debug for HostDirectories {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostDirectories").field("path", &self.path).finish_non_exhaustive()
    }
}

impl HostDirectories {
    /// Opens the state directory. Creates a private one with a new key if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be created or opened, or other users can use it.
    pub fn open(place: &StatePlace) -> Result<Self, PlaceError> {
        let path = place.directory();
        let failed = |source| PlaceError::Io { what: "the state directory", path: path.to_owned(), source };
        create_private(path).map_err(failed)?;
        let directory = open_directory(path).map_err(failed)?;
        // Check the open directory, because another user could exchange what the path names.
        check_owned(&directory, 0o077, "the state directory", path)?;
        let key = read_or_make_key(&directory, path)?;
        let cache = private_folder::open(&directory, CACHE_DIRECTORY).map_err(failed)?;
        check_owned(&cache, 0o022, "the cache directory", &path.join(CACHE_DIRECTORY))?;
        let ledger_key = place.ledger_key.as_deref().map_or(Ok(key), read_ledger_key)?;
        let named = named(path);
        let (path, ledger) = (path.to_owned(), place.ledger.clone());
        let outputs = match (&place.outputs, &ledger) {
            (Some(_), LedgerPlace::Directory) => return Err(PlaceError::OutputsAlone),
            (outputs, _) => outputs.as_ref().map(OutputsHome::open).transpose()?,
        };
        let examined_code = place.examined_code.clone();
        Ok(Self { path, directory, cache, key, named, examined_code, ledger_key, ledger, outputs })
    }

    /// Returns the directory of the large outputs that hosts share, if there is one.
    pub fn outputs_directory(&self) -> Option<&Dir> {
        match self.outputs.as_ref()? {
            OutputsHome::Directory(directory, _) => Some(directory),
            OutputsHome::Bucket(_) => None,
        }
    }

    /// Returns a key that all hosts of the ledger have, for one purpose. `label` names the purpose. The key reveals
    /// neither that of the ledger nor the keys for other purposes.
    pub fn ledger_key_for(&self, label: &[u8]) -> [u8; 32] {
        *derived(&self.ledger_key, label)
    }

    /// Returns whether hosts with other state directories can use the same ledger.
    pub(crate) fn shares_ledger(&self) -> bool {
        matches!(self.ledger, LedgerPlace::Postgres(_))
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let (directory, cache) = (self.directory.try_clone()?, self.cache.try_clone()?);
        let Self { key, ledger_key, .. } = *self;
        let (path, named, ledger) = (self.path.clone(), self.named.clone(), self.ledger.clone());
        let examined_code = self.examined_code.clone();
        let outputs = self.outputs.as_ref().map(OutputsHome::try_clone).transpose()?;
        Ok(Self { path, directory, cache, key, named, examined_code, ledger_key, ledger, outputs })
    }
}

/// Opens a directory.
///
/// # Errors
/// It cannot be opened.
#[expect(clippy::disallowed_methods, reason = "the paths of the host's own places come from the person who starts it")]
pub fn open_directory(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(path, ambient_authority())
}

/// Returns the machine and an absolute path. The name of the machine is missing if the system does not tell it.
#[expect(clippy::disallowed_methods, reason = "the path is the system's own")]
fn named(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}:{}", machine.trim(), path.display())
}

fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn stat(directory: &Dir, what: &'static str, path: &Path) -> Result<rustix::fs::Stat, PlaceError> {
    rustix::fs::fstat(directory).map_err(|error| PlaceError::Io { what, path: path.to_owned(), source: error.into() })
}

fn check_owned(directory: &Dir, closed: u32, what: &'static str, path: &Path) -> Result<(), PlaceError> {
    let stat = stat(directory, what, path)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PlaceError::Foreign { what, path: path.to_owned() });
    }
    if stat.st_mode & closed != 0 {
        return Err(PlaceError::Exposed { what, path: path.to_owned(), remedy: "go-rwx" });
    }
    Ok(())
}

fn read_or_make_key(directory: &Dir, path: &Path) -> Result<[u8; 32], PlaceError> {
    let path = path.join(KEY_FILE);
    let failed = |source| PlaceError::Io { what: "the key", path: path.clone(), source };
    let mut options = OpenOptions::new();
    // Without `nonblock`, opening a FIFO in the place of the key would block forever.
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    match directory.open_with(KEY_FILE, &options) {
        Ok(file) => read_key(file).map_err(failed)?.ok_or(PlaceError::Key { path: path.clone() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(directory).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

/// Reads the key of a shared ledger.
#[expect(clippy::disallowed_methods, reason = "the path comes from the person who starts the host")]
fn read_ledger_key(path: &Path) -> Result<[u8; 32], PlaceError> {
    let failed = |source| PlaceError::Io { what: "the key of the ledger", path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = Zeroizing::new(Vec::new());
    file.take(KEY_FILE_BYTES_MAX).read_to_end(&mut text).map_err(failed)?;
    let of_digits = || HEXLOWER_PERMISSIVE.decode(text.trim_ascii()).ok()?.try_into().ok();
    let key = text.as_slice().try_into().ok().or_else(of_digits);
    key.ok_or_else(|| PlaceError::LedgerKey { path: path.to_owned() })
}

fn read_key(file: File) -> io::Result<Option<[u8; 32]>> {
    let mut key = Vec::new();
    // One byte more than a key shows that the file is longer.
    file.take(33).read_to_end(&mut key)?;
    Ok(key.try_into().ok())
}

/// Creates a key under a temporary name and links it into place. If two hosts start together, only one link succeeds,
/// and both use its key.
fn make_key(directory: &Dir) -> io::Result<[u8; 32]> {
    let (mut key, mut suffix) = ([0_u8; 32], [0_u8; 16]);
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let temporary = format!("{KEY_FILE}.{}.new", hex(&suffix));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = directory.open_with(&temporary, &options)?;
    file.write_all(&key)?;
    // Sync before the link: an empty key after a crash of the machine would keep every later host from opening.
    file.sync_all()?;
    let linked = directory.hard_link(&temporary, directory, KEY_FILE);
    directory.remove_file(&temporary)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Whichever host won, use the key that is in place now.
        Ok(()) | Err(_) => read_key(directory.open(KEY_FILE)?)?.ok_or_else(|| io::ErrorKind::InvalidData.into()),
    }
}
