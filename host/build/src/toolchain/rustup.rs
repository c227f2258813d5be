//! Adds the target with rustup, which downloads it for the current toolchain.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::installed::Installed;
use super::progress::say;
use super::target::TARGET;
use crate::process;

/// Timeout of the download, which is about 20 MB. On a slower connection the user can run the command by hand.
const LIMIT: Duration = Duration::from_secs(180);

/// Adds the target with rustup.
pub(super) fn add(installed: &Installed) -> Result<()> {
    say(&format!("this compiler cannot build for {TARGET} yet: adding the target with rustup"));
    let mut rustup = Command::new("rustup");
    process::run_within(rustup.args(["target", "add", TARGET]).current_dir(&installed.folder), LIMIT)
        .with_context(|| format!("run `rustup target add {TARGET}` with network access"))?;
    ensure!(installed.has_target(), "rustup added {TARGET} to another toolchain than that of `rustc`");
    Ok(())
}
