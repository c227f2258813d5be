//! The default tokens of a server. Created once in the state directory, and readable only by its owner.

use anyhow::{Context as _, bail, ensure};
use portcullis_mcp::http::Tokens;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, fsync, linkat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The file with the token of callers, in the state directory.
pub(super) const CALLER_FILE: &str = "mcp-token";
/// The file with the token of the console's approver, in the state directory.
pub(super) const APPROVER_FILE: &str = "console-token";
/// Maximum size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 4096;
/// The permission bits of other users, all of which must be off.
const OTHERS: u32 = 0o077;

/// A token and the path of its file.
pub(super) struct KeptToken {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Returns the token of an existing state directory, and creates it first if there is none.
///
/// # Errors
/// The token cannot be created or read, or other users could have read it.
pub(super) fn of_state(state: &Path, name: &str) -> anyhow::Result<KeptToken> {
    let path = state.join(name);
    let shown = || path.display().to_string();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, state, flags, Mode::empty()).with_context(|| state.display().to_string())?;
    let text = match read(&directory, name).with_context(shown)? {
        Some(text) => text,
        None => {
            // Another process may create it first. The second read returns the token that is kept.
            make(&directory, name).with_context(shown)?;
            read(&directory, name).with_context(shown)?.with_context(shown)?
        }
    };
    Ok(KeptToken { path, text })
}

/// Returns the content of the file, or `None` if it does not exist.
fn read(directory: &OwnedFd, name: &str) -> anyhow::Result<Option<String>> {
    // A link must not lead to another file, and a FIFO must not block the start.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(directory, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    check(&file)?;
    let mut text = String::new();
    // Read one byte more than allowed, so that a longer file is refused and not cut.
    File::from(file).take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= FILE_BYTES_MAX, "it is longer than {FILE_BYTES_MAX} bytes");
    Ok(Some(text))
}

fn check(file: &OwnedFd) -> anyhow::Result<()> {
    let stat = fstat(file)?;
    ensure!(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile, "it is not a regular file");
    ensure!(stat.st_uid == rustix::process::geteuid().as_raw(), "it belongs to another user");
    if stat.st_mode & OTHERS != 0 {
        bail!("other users can read it, so it is no longer secret: remove it, and a new one is created");
    }
    Ok(())
}

/// Creates the file atomically. If another process was faster, keeps that process's token.
fn make(directory: &OwnedFd, name: &str) -> anyhow::Result<()> {
    let token = Tokens::generate().context("the system provides no randomness")?;
    let temporary = format!("{name}.{}", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Remove the file that a killed process with the same id may have left.
    let _ = unlinkat(directory, &temporary, AtFlags::empty());
    let mut file = File::from(openat(directory, &temporary, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file.write_all(format!("{token}\n").as_bytes()).map_err(anyhow::Error::from);
    let linked = written.and_then(|()| {
        // After a crash, the name must not exist without its content.
        fsync(file.as_fd())?;
        // A rename would replace the token of a process that was faster. A link fails instead.
        match linkat(directory, &temporary, directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    });
    let removed = unlinkat(directory, &temporary, AtFlags::empty());
    linked.and_then(|()| Ok(removed?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test changes the file that it has made")]
    fn a_file_that_is_too_long_is_refused_and_not_cut() {
        let state = std::env::temp_dir().join(format!("portcullis-tokens-{}", std::process::id()));
        std::fs::DirBuilder::new().recursive(true).create(&state).unwrap();
        let first = of_state(&state, CALLER_FILE).unwrap();
        assert_eq!(of_state(&state, CALLER_FILE).unwrap().text, first.text);
        let mut file = File::options().append(true).open(&first.path).unwrap();
        let rest = usize::try_from(FILE_BYTES_MAX).unwrap() - first.text.len();
        file.write_all("#".repeat(rest).as_bytes()).unwrap();
        assert!(of_state(&state, CALLER_FILE).is_ok());
        file.write_all(b"#").unwrap();
        assert!(of_state(&state, CALLER_FILE).is_err_and(|error| format!("{error:#}").contains("longer than 4096")));
        unlinkat(CWD, &first.path, AtFlags::empty()).unwrap();
        unlinkat(CWD, &state, AtFlags::REMOVEDIR).unwrap();
    }
}
