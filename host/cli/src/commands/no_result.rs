//! Reports why a command has no result.

use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{self, FailureCode};

/// Reports why there is no result, with the usual code of the exit code, and returns the exit code.
pub(super) fn fail(why: &str, exit: Exit, context: &Context) -> anyhow::Result<Exit> {
    fail_as(FailureCode::of_exit(exit), why, exit, context)
}

/// Reports why there is no result, and returns the exit code.
pub(super) fn fail_as(code: FailureCode, why: &str, exit: Exit, context: &Context) -> anyhow::Result<Exit> {
    fail_with_help(code, why, None, exit, context)
}

/// Reports why there is no result and what to do next, and returns the exit code.
pub(super) fn fail_with_help(
    code: FailureCode,
    why: &str,
    help: Option<&str>,
    exit: Exit,
    context: &Context,
) -> anyhow::Result<Exit> {
    failure::report(context.terminal, context.json, code, why, help)?;
    Ok(exit)
}
