//! Whether a call may run concurrently with other calls of its order.

use crate::catalog::Tool;
use portcullis_policy::{Hint, Permission};

/// Whether a call may run concurrently with other calls of the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    BesideOthers,
    Alone,
}

impl Runs {
    /// Returns how calls of a tool run. A hint of the author is safe here, because it can only make the tool wait.
    pub(crate) fn of(tool: &Tool) -> Self {
        let permissions = tool.permissions();
        let changes = permissions.contains(Permission::Write) || permissions.contains(Permission::Execute);
        if changes || tool.hints().contains(&Hint::Sequential) { Self::Alone } else { Self::BesideOthers }
    }
}
