//! Reads plugin files. A file is read once and whole, as the regular file that was opened, so that the same bytes are
//! checked, compiled and run.

use crate::reserved;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use portcullis_policy::PluginName;
use portcullis_sandbox::COMPONENT_BYTES_MAX;
use rustix::fs::{AtFlags, Stat};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The extension of plugin files.
pub(crate) const EXTENSION: &str = ".wasm";

/// Maximum files of a plugin directory that are listed. It is far more than a model could use.
const FILES_MAX: usize = 10_000;

/// Size of the pieces in which a file is hashed, in bytes. Larger ones are not faster.
const PIECE_BYTES: usize = 64 * 1024;

/// Maximum granularity of file times. Two writes within this time can leave the same timestamp. Some file systems use
/// steps of two seconds.
pub(super) const STAMP_GRAIN: Duration = Duration::from_secs(3);

/// Why a file is not a plugin.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file name is invalid.
    #[error("its name is invalid: rename it with only lower-case letters, digits, `-` and `_`, such as `my-tool.wasm`")]
    Name,
    /// The name is reserved for built-in tools.
    #[error("its name is reserved for tools of the host itself: give it another name")]
    Reserved,
    /// The file is a link, a directory, a pipe or a device.
    #[error("it is not a regular file: put the file itself here, not a link to it, a directory or a pipe")]
    NotRegular,
    /// Every user may change the file.
    #[error("every user can write to it: remove that permission with `chmod o-w`")]
    Exposed,
    /// The file is too large.
    #[error("it is larger than {} MiB", COMPONENT_BYTES_MAX >> 20)]
    TooLarge,
    /// A description file without its plugin.
    #[error(
        "it describes a tool of the plugin `{plugin}`, but there is no {plugin}.wasm next to it: add the plugin, or \
         remove this file"
    )]
    NoPlugin {
        /// The plugin.
        plugin: String,
    },
    /// An earlier plugin directory has a file of the same name.
    #[error("{directory} has a file of the same name, which is used instead: rename this one, or remove one of them")]
    Shadowed {
        /// The earlier directory.
        directory: String,
    },
    /// The application has registered a plugin of this name.
    #[error(
        "the application has registered a plugin of the same name, which is used instead: rename the file, or remove it"
    )]
    Registered,
    /// The policy has a server of this name.
    #[error("the policy names a server of the same name, which is used instead: rename the file, or the server")]
    Server,
    /// The system reports an error.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
}

/// The state of a file when it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    pub(crate) stamp: FileIdentity,
    pub(crate) sha256: [u8; 32],
    /// Whether the file was old enough that its stamp identifies these bytes.
    pub(crate) settled: bool,
}

impl Sighting {
    /// Returns whether a file with this stamp has the bytes that were read.
    pub(crate) fn holds(&self, stamp: FileIdentity) -> bool {
        self.settled && self.stamp == stamp
    }

    /// Returns when the file was last changed or touched, in milliseconds since 1970.
    pub(crate) fn changed_ms(&self) -> u64 {
        let (seconds, nanoseconds) = self.stamp.changed;
        let milliseconds = seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
        u64::try_from(milliseconds).unwrap_or(0)
    }

    /// Returns whether the file has the same bytes and description files as in another sighting.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        (self.sha256, self.stamp.beside) == (other.sha256, other.stamp.beside)
    }

    /// Returns whether the file had these bytes and these description files, by their hashes.
    pub(crate) fn has_hashes(&self, sha256: [u8; 32], beside: [u8; 32]) -> bool {
        (self.sha256, self.stamp.beside) == (sha256, beside)
    }

    /// Returns whether the file had the same identity, whatever its description files are.
    pub(crate) fn has_identity_of(&self, other: &Self) -> bool {
        self.stamp.without_companions() == other.stamp.without_companions()
    }

    /// Returns whether the file is unchanged and was not touched since another sighting.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        (self.stamp, self.sha256) == (other.stamp, other.sha256)
    }
}

/// The sightings of the files that were read, by file name.
pub(crate) type Seen = BTreeMap<String, Sighting>;

/// The metadata of a file, so that an unchanged one need not be read again, and the hash of its description files,
/// which are read each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    /// The time of the last status change, which users cannot set.
    changed: (i64, i64),
    /// The hash of the description files.
    #[serde(skip)]
    beside: [u8; 32],
}

impl FileIdentity {
    pub(super) fn of(stat: &Stat) -> Self {
        // The width of these fields differs between systems.
        Self {
            device: wide(stat.st_dev),
            inode: wide(stat.st_ino),
            size: wide(stat.st_size),
            modified: (signed(stat.st_mtime), signed(stat.st_mtime_nsec)),
            changed: (signed(stat.st_ctime), signed(stat.st_ctime_nsec)),
            beside: <[u8; 32]>::default(),
        }
    }

    pub(super) fn with(self, beside: [u8; 32]) -> Self {
        Self { beside, ..self }
    }

    /// Returns the identity of the file alone.
    pub(super) fn without_companions(self) -> Self {
        self.with(<[u8; 32]>::default())
    }

    /// Returns the size of the file, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.size
    }

    /// Returns whether every later change must change the stamp.
    pub(super) fn is_settled(&self) -> bool {
        // A time before 1970 makes the file unsettled. The host then reads it again, which is always safe.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed = Duration::from_secs(u64::try_from(self.changed.0).unwrap_or(u64::MAX));
        changed.saturating_add(STAMP_GRAIN) <= now
    }
}

fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Lists the names of the wanted files of a directory, sorted.
pub(crate) fn list(directory: &Dir, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in directory.entries()?.take(FILES_MAX) {
        // A name that is not UTF-8 becomes an invalid one. Its file is listed and refused instead of ignored.
        let name = entry?.file_name().to_string_lossy().into_owned();
        if wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the plugin name that a file name stands for.
pub(crate) fn plugin_name(file: &str) -> Result<PluginName, FileError> {
    let stem = file.strip_suffix(EXTENSION).ok_or(FileError::Name)?;
    checked_name(stem)
}

/// Checks that a plugin may have this name.
pub(crate) fn checked_name(name: &str) -> Result<PluginName, FileError> {
    let name = PluginName::new(name).map_err(|_| FileError::Name)?;
    if reserved::is_reserved(&name) { Err(FileError::Reserved) } else { Ok(name) }
}

/// Hashes a plugin file piece by piece, without its description files. `None` if the file was changed meanwhile.
pub(crate) fn hashed(directory: &Dir, name: &str) -> Result<Option<Sighting>, FileError> {
    let (file, stamp) = open(directory, name, COMPONENT_BYTES_MAX)?;
    let settled = stamp.is_settled();
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    // The file may grow while it is read. The limit bounds the time, and the size in `after` then differs.
    let mut rest = (&file).take(COMPONENT_BYTES_MAX + 1);
    loop {
        match rest.read(&mut piece)? {
            0 => break,
            read => hash.update(&piece[..read]),
        }
    }
    let after = FileIdentity::of(&rustix::fs::fstat(&file).map_err(io::Error::from)?);
    let sha256 = hash.finalize().into();
    Ok((after == stamp).then_some(Sighting { stamp, sha256, settled }))
}

/// Reads a file next to a plugin, with the same checks as for a plugin.
pub(crate) fn read_small(directory: &Dir, name: &str, bytes_max: usize) -> Result<Vec<u8>, FileError> {
    let bytes_max = bytes_max as u64;
    let (file, stamp) = open(directory, name, bytes_max)?;
    read_whole(file, stamp, bytes_max)
}

pub(super) fn read_whole(file: File, stamp: FileIdentity, bytes_max: u64) -> Result<Vec<u8>, FileError> {
    // `checked` has bounded the size. The file may have grown since, so the read has a limit of its own.
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0));
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(FileError::TooLarge) } else { Ok(bytes) }
}

pub(super) fn open(directory: &Dir, name: &str, bytes_max: u64) -> Result<(File, FileIdentity), FileError> {
    let mut options = OpenOptions::new();
    // Do not follow links, and do not block on a pipe without a writer.
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = directory.open_with(name, &options).map_err(|error| match error.raw_os_error() {
        // With `O_NOFOLLOW`, a link is `ELOOP` (open(2)).
        Some(number) if number == rustix::io::Errno::LOOP.raw_os_error() => FileError::NotRegular,
        Some(_) | None => FileError::Io(error),
    })?;
    // Check the file that is open. Another file may have its name by now.
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    let stamp = checked(&stat, bytes_max)?;
    Ok((file, stamp))
}

/// Returns the identity of a plugin file without opening it, with the same checks. Does not follow links.
pub(super) fn identity(directory: &Dir, name: &str) -> Result<FileIdentity, FileError> {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    checked(&stat, COMPONENT_BYTES_MAX)
}

/// Checks the metadata of a file, and returns its identity.
fn checked(stat: &Stat, bytes_max: u64) -> Result<FileIdentity, FileError> {
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(FileError::NotRegular);
    }
    if stat.st_mode & 0o002 != 0 {
        return Err(FileError::Exposed);
    }
    let stamp = FileIdentity::of(stat);
    if stamp.size > bytes_max { Err(FileError::TooLarge) } else { Ok(stamp) }
}
