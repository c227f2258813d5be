//! Opens the audit log to read it, and says if it was changed.

use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::style::TextStyle;
use anyhow::ensure;
use portcullis::AuditReader;
use portcullis::audit::Verified;

/// Opens an existing audit log. Reading must not create one, nor report a wrong path as an intact log.
pub(crate) async fn open_log(context: &Context) -> anyhow::Result<AuditReader> {
    let state = context.environment.state()?;
    let none = || format!("there is no state directory {}, so there is no audit log", state.display());
    ensure!(state.is_dir(), CommandError::new(FailureCode::NoState, none()));
    Ok(portcullis::open_audit(context.environment.state_place()?).await?)
}

/// Says if the log was changed, and returns the exit code.
pub(crate) fn tell_fault(verified: &Verified, context: &Context) -> Exit {
    if let Some(fault) = &verified.fault {
        let label = context.terminal.note_style().paint(TextStyle::Bad, "the audit log does not verify:");
        context.terminal.note(format_args!("{label} {fault}"));
    }
    exit(verified)
}

/// Says if the log was changed, so that calls are missing from what was shown, and returns the exit code.
pub(crate) fn tell_missing_calls(verified: &Verified, context: &Context) -> Exit {
    let exit = tell_fault(verified, context);
    if verified.fault.is_some() {
        context.terminal.note("calls after this entry are not shown: run `portcullis audit verify`");
    }
    exit
}

/// Returns the exit code of a command that has read the log.
pub(crate) fn exit(verified: &Verified) -> Exit {
    if verified.fault.is_none() { Exit::Completed } else { Exit::RecordDamaged }
}
