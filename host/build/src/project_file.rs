//! Opens and reads the files of a project safely.
//!
//! The project may be from another person. A file of it may be a pipe without a writer, a device, or a link to an
//! endless file. Such a file must not hang this program or fill its memory.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

/// Maximum size in bytes of a text that people write by hand: a `plugin.toml`, a list of packages, a manifest.
pub const TEXT_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum size of a source file in bytes, with room for tables and fonts as code.
pub const SOURCE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Maximum size of a module in bytes. An interpreter with debug information has about 200 MiB.
pub const MODULE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Opens a regular file to read it. Follows links and does not block.
///
/// # Errors
/// It is not a regular file, or the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    // Check before opening, because opening some devices starts them, and check again what was opened.
    require_regular(&fs::metadata(path)?)?;
    // Without O_NONBLOCK, opening a pipe that has replaced the file would wait for its writer (fifo(7)).
    let file = File::options().read(true).custom_flags(nonblocking()).open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file of at most `bytes_max` bytes.
///
/// # Errors
/// It is not a regular file, it is longer, or the system refuses.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_bounded(open(path)?, bytes_max)
}

/// Reads a file of at most `bytes_max` bytes of UTF-8.
///
/// # Errors
/// Those of [`read`], or it is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|_| invalid("it is not UTF-8"))
}

/// Reads a file below a folder, by a path that follows no link and does not leave the folder.
///
/// # Errors
/// Those of [`read`], or the path is absolute, goes up or goes through a link.
pub fn read_below(folder: &Path, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let folder = File::open(folder)?;
    // NOCTTY: a terminal at this path must not become the controlling terminal of this process (open(2)).
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // The kernel checks each component while it resolves the path, so it also refuses a link that appears meanwhile.
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = File::from(openat2(folder.as_fd(), path, flags, Mode::empty(), within)?);
    require_regular(&file.metadata()?)?;
    read_bounded(file, bytes_max)
}

/// Copies a file of at most `bytes_max` bytes to a path that does not exist yet.
///
/// # Errors
/// Those of [`read`], or the copy cannot be written.
pub fn copy(from: &Path, to: &Path, bytes_max: u64) -> io::Result<()> {
    let file = open(from)?;
    // The system does not follow a link at the path of a file that it must create (O_EXCL in open(2)).
    let mut target = File::create_new(to)?;
    if io::copy(&mut (&file).take(bytes_max.saturating_add(1)), &mut target)? > bytes_max {
        return Err(too_long(bytes_max));
    }
    target.set_permissions(file.metadata()?.permissions())
}

/// Creates a file, and replaces what exists at the path. A link there is removed and not followed.
///
/// # Errors
/// The system refuses.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // If a link appears at the path in between, this fails and does not follow it.
    File::create_new(path)
}

fn read_bounded(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Read one byte more than allowed, so that a longer file is refused and not cut.
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > bytes_max { Err(too_long(bytes_max)) } else { Ok(bytes) }
}

fn require_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(invalid("it is not a regular file")) }
}

fn too_long(bytes_max: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {bytes_max} bytes"))
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn nonblocking() -> i32 {
    // The system's flags are a signed integer, which rustix keeps as unsigned bits.
    OFlags::NONBLOCK.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// How often the test opens a file that is being exchanged.
    const OPENS: usize = 20_000;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("portcullis-project-file-{name}-{}", std::process::id()));
        crate::cache::empty(&folder).unwrap();
        folder
    }

    #[test]
    fn only_a_regular_file_of_bounded_length_is_read() {
        let folder = folder("read");
        let path = |name: &str| folder.join(name);
        fs::write(path("text"), "four").unwrap();
        symlink("text", path("link")).unwrap();
        for name in ["text", "link"] {
            assert_eq!(read_text(&path(name), 4).unwrap(), "four", "{name}");
            assert_eq!(read(&path(name), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge, "{name}");
        }
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        symlink("/dev/zero", path("endless")).unwrap();
        for name in ["pipe", "endless", "."] {
            assert_eq!(read(&path(name), 4).unwrap_err().to_string(), "it is not a regular file", "{name}");
            assert!(copy(&path(name), &path("copy"), 4).is_err(), "{name}");
        }
        copy(&path("text"), &path("copy"), 4).unwrap();
        assert!(copy(&path("text"), &path("shorter"), 3).is_err());
        assert_eq!(fs::read_to_string(path("copy")).unwrap(), "four");
        fs::remove_dir_all(folder).unwrap();
    }

    /// The author of a project can replace a file with a pipe at any moment.
    #[test]
    fn a_pipe_that_replaces_a_file_does_not_block() {
        let folder = folder("exchanged");
        let (path, pipe) = (folder.join("text"), folder.join("pipe"));
        fs::write(&path, "four").unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &path, CWD, &pipe, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let opened = (0..OPENS).filter_map(|_| open(&path).ok());
            let pipes = opened.filter(|file| !file.metadata().unwrap().is_file()).count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(pipes, 0);
        });
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_path_below_a_folder_does_not_leave_it() {
        let folder = folder("below");
        fs::create_dir_all(folder.join("in/deep")).unwrap();
        fs::write(folder.join("secret"), "secret").unwrap();
        fs::write(folder.join("in/deep/a"), "a").unwrap();
        symlink("../..", folder.join("in/deep/up")).unwrap();
        symlink("a", folder.join("in/deep/link")).unwrap();
        assert!(Command::new("mkfifo").arg(folder.join("in/deep/pipe")).status().unwrap().success());
        let within = folder.join("in");
        assert_eq!(read_below(&within, Path::new("deep/a"), 1).unwrap(), b"a");
        let absolute = folder.join("secret");
        for path in ["../secret", "deep/up/secret", "deep/link", absolute.to_str().unwrap(), "deep", "deep/pipe"] {
            assert!(read_below(&within, Path::new(path), 100).is_err(), "{path}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_created_file_is_not_written_through_a_link() {
        use std::io::Write as _;
        let folder = folder("create");
        fs::write(folder.join("victim"), "mine").unwrap();
        symlink("victim", folder.join("out")).unwrap();
        create(&folder.join("out")).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(folder.join("victim")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(folder.join("out")).unwrap(), "new");
        fs::remove_dir_all(folder).unwrap();
    }
}
