//! Reports why a command has no result.

use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure;

/// Reports why there is no result, and returns the exit code.
pub(super) fn fail(why: &str, exit: Exit, context: &Context) -> anyhow::Result<Exit> {
    failure::report(context.terminal, context.json, why)?;
    Ok(exit)
}
