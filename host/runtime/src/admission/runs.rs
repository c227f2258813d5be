//! Whether a call may run beside others of its order.

use crate::catalog::Tool;
use portcullis_policy::{Hint, Permission};

/// With which calls of the same order a call may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    BesideOthers,
    Alone,
}

impl Runs {
    /// How calls of a tool run. A hint counts here because it can only make a tool wait.
    pub(crate) fn of(tool: &Tool) -> Self {
        let permissions = tool.permissions();
        let changes = permissions.contains(Permission::Write) || permissions.contains(Permission::Execute);
        if changes || tool.hints().contains(&Hint::Sequential) { Self::Alone } else { Self::BesideOthers }
    }
}
