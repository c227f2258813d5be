//! The real program, as benches start it, and the plugins that it finds.

use anyhow::{Result, ensure};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the real program, which cargo builds together with this one and with the same profile.
pub(crate) fn real_program(bench: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("portcullis");
    ensure!(program.is_file(), "{} is missing: run `cargo xtask bench {bench}`", program.display());
    Ok(program)
}

/// Writes a plugin. A file that is written again would be read again, too.
pub(crate) fn put(file: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(file).ok().as_deref() != Some(bytes) {
        fs::write(file, bytes)?;
    }
    Ok(())
}

/// Runs this program with other arguments, and returns the number that it prints.
pub(crate) fn own_number<A: AsRef<OsStr>>(arguments: &[A]) -> Result<f64> {
    let output = Command::new(std::env::current_exe()?).args(arguments).output()?;
    ensure!(output.status.success(), "a process failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// Runs a command until it has succeeded, without its output.
pub(crate) fn finished(mut command: Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}
