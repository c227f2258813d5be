//! Builds the documentation of every crate; a broken link or a missing word fails it.

use anyhow::Result;

use crate::process;
use portcullis_build::workspace::Workspace;

/// Builds it into `target/doc`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}
