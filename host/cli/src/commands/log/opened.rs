//! Opens the audit log to read it, and says if it was changed.

use super::super::Context;
use crate::exit_code::Exit;
use crate::style::TextStyle;
use anyhow::ensure;
use portcullis::AuditReader;
use portcullis::audit::Verified;

/// Opens an existing audit log. Reading must not create one, nor report a wrong path as an intact log.
pub(super) async fn open_log(context: &Context) -> anyhow::Result<AuditReader> {
    let state = context.environment.state()?;
    ensure!(state.is_dir(), "there is no state directory {}, so there is no audit log", state.display());
    Ok(portcullis::open_audit(state).await?)
}

/// Says if the log was changed, and returns the exit code.
pub(super) fn tell_fault(verified: &Verified, context: &Context) -> Exit {
    let Some(fault) = &verified.fault else { return Exit::Completed };
    let label = context.terminal.note_style().paint(TextStyle::Bad, "the audit log does not verify:");
    context.terminal.note(format_args!("{label} {fault}"));
    context.terminal.note("calls after this entry are not shown: run `portcullis audit verify`");
    Exit::RecordDamaged
}
