//! Reads the arguments of a call from the command line or from stdin.

use crate::context::Context;
use anyhow::Context as _;
use portcullis::policy::limits::ARGUMENTS_CEILING_BYTES;
use std::io::Read;

/// Returns the arguments of a call: the text itself, or for `-` the content of stdin, up to just above the size limit.
pub(super) fn read_arguments(typed: String, context: &Context) -> anyhow::Result<Vec<u8>> {
    if typed != "-" {
        return Ok(typed.into_bytes());
    }
    if context.terminal.types_input() && context.terminal.has_reader() {
        context.terminal.note("type the arguments as a JSON object, and end with Ctrl-D");
    }
    let mut bytes = Vec::new();
    // Read one byte more than any policy accepts, so that longer arguments are refused and not cut.
    let most = ARGUMENTS_CEILING_BYTES as u64 + 1;
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(bytes)
}
