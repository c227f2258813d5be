//! Builds the documentation of every crate. A broken link or a missing doc comment is an error.

use anyhow::Result;

use crate::process;
use portcullis_build::workspace::Workspace;

/// Builds the documentation into `target/doc`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}
