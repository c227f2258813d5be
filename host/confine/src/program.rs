//! A program file that was opened and identified.

use crate::error::ConfineError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, fstat, open, statx};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The bytes of a program that are read at a time.
const BLOCK_BYTES: usize = 64 * 1024;

/// The beginning of a file that the kernel starts with an interpreter.
const SCRIPT_BEGINNING: &[u8] = b"#!";

/// Any of the permission bits that let a file be executed.
const EXECUTE_BITS: u32 = 0o111;

/// Which file a program is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProgramIdentity {
    device: (u32, u32),
    inode: u64,
    bytes: u64,
    /// When the file or its attributes last changed: seconds and nanoseconds.
    changed: (i64, u32),
}

impl ProgramIdentity {
    fn of(file: impl AsFd) -> io::Result<Self> {
        let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        Ok(Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            bytes: found.stx_size,
            changed: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        })
    }
}

/// A program file that was opened and identified.
#[derive(Debug)]
pub struct OpenProgram {
    name: PathBuf,
    path: PathBuf,
    file: File,
    identity: ProgramIdentity,
    sha256: String,
    script: bool,
}

impl OpenProgram {
    /// Opens a program, and reads all of it to identify it. Blocks.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is no file that can be executed.
    pub fn open(name: &Path) -> Result<Self, ConfineError> {
        let failed = |source: io::Error| ConfineError::Program { path: name.display().to_string(), source };
        Self::try_open(name).map_err(failed)
    }

    fn try_open(name: &Path) -> io::Result<Self> {
        // Without blocking, so that a named pipe does not stop the host.
        let descriptor = open(name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
        let found = fstat(&descriptor)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a file"));
        }
        if found.st_mode & EXECUTE_BITS == 0 {
            return Err(io::Error::other("it is not executable"));
        }
        let mut file = File::from(descriptor);
        let identity = ProgramIdentity::of(&file)?;
        let (sha256, script) = read(&mut file)?;
        // Otherwise the digest, which approvals are bound to, could be of a content that the file never had.
        if ProgramIdentity::of(&file)? != identity {
            return Err(io::Error::other("it changed while it was read"));
        }
        let path = path_of(&file)?;
        Ok(Self { name: name.to_owned(), path, file, identity, sha256, script })
    }

    /// Returns the path by which the program was opened.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the SHA-256 of the file, in hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns whether the path still leads to the file, and the file has not changed. Two system calls.
    pub fn is_current(&self) -> bool {
        let now = open(&self.name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        now.is_ok_and(|file| ProgramIdentity::of(&file).is_ok_and(|identity| identity == self.identity))
    }

    pub(crate) fn is_script(&self) -> bool {
        self.script
    }
}

impl AsFd for OpenProgram {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns the digest of a file, and whether it is a script.
fn read(file: &mut File) -> io::Result<(String, bool)> {
    let mut digest = Sha256::new();
    let mut block = vec![0; BLOCK_BYTES];
    let mut script = None;
    loop {
        let count = file.read(&mut block)?;
        script.get_or_insert_with(|| block[..count].starts_with(SCRIPT_BEGINNING));
        if count == 0 {
            break;
        }
        digest.update(&block[..count]);
    }
    let digits = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((digits, script.unwrap_or_default()))
}

/// Returns the current path of an open file or directory, without links.
///
/// # Errors
/// It has none, or the path is not UTF-8.
pub fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new())?;
    let path = PathBuf::from(path.into_string().map_err(|_| io::Error::other("its path is not UTF-8"))?);
    if path.is_absolute() { Ok(path) } else { Err(io::Error::other("it has no path")) }
}

/// Refuses a file that is not the same as another one.
pub(crate) fn same_file(found: impl AsFd, wanted: impl AsFd) -> io::Result<()> {
    let identity = |file: BorrowedFd<'_>| -> io::Result<(u32, u32, u64)> {
        let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::INO)?;
        Ok((found.stx_dev_major, found.stx_dev_minor, found.stx_ino))
    };
    if identity(found.as_fd())? == identity(wanted.as_fd())? {
        return Ok(());
    }
    Err(io::Error::other("it was replaced since the host opened it"))
}
