//! The approvals of a state directory that is there.

use crate::context::Context;
use crate::opening::note_rollback;
use anyhow::ensure;
use portcullis::Approvals;

/// Opens approvals that are there: looking for them must not begin any.
pub(super) fn open(context: &Context) -> anyhow::Result<Approvals> {
    let state = context.environment.state()?;
    ensure!(state.is_dir(), "there is no state directory {}: nothing was asked there", state.display());
    let approvals = portcullis::open_approvals(state)?;
    note_rollback(&approvals, context);
    Ok(approvals)
}
