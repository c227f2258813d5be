//! Opens the approvals of an existing state directory.

use crate::context::Context;
use crate::failure::{CommandError, FailureCode};
use crate::opening::note_rollback;
use anyhow::ensure;
use portcullis::Approvals;

/// Opens existing approvals. A command that only reads must not create a state directory.
pub(super) async fn open(context: &Context) -> anyhow::Result<Approvals> {
    let state = context.environment.state()?;
    let none = || format!("there is no state directory {}, so there are no approvals", state.display());
    ensure!(state.is_dir(), CommandError::new(FailureCode::NoState, none()));
    let approvals = portcullis::open_approvals(context.environment.state_place()?).await?;
    note_rollback(&approvals, context);
    Ok(approvals)
}
