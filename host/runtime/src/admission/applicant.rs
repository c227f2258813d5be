//! Who asks to be admitted.

use crate::catalog::Tool;
use portcullis_policy::{PluginName, Principal};
use std::sync::Arc;

/// Whose call of what is admitted.
pub(crate) struct Applicant<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) session: &'a Arc<str>,
    pub(crate) plugin: &'a PluginName,
    pub(crate) tool: &'a Tool,
}
