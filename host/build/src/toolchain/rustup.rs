//! The short way: rustup downloads the target for the toolchain in use.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::installed::Installed;
use super::progress::say;
use super::target::TARGET;
use crate::process;

/// The target is some 20 MB; a line that needs longer than this is better served by hand.
const LIMIT: Duration = Duration::from_secs(180);

/// Adds the target with rustup.
pub(super) fn add(installed: &Installed) -> Result<()> {
    say(&format!("this compiler cannot build for {TARGET} yet: asking rustup for the target"));
    let mut rustup = Command::new("rustup");
    process::run_within(rustup.args(["target", "add", TARGET]).current_dir(&installed.folder), LIMIT)
        .with_context(|| format!("run `rustup target add {TARGET}` where there is a network"))?;
    ensure!(installed.has_target(), "rustup added {TARGET} to another toolchain than the one that `rustc` names");
    Ok(())
}
