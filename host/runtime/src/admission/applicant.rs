//! The caller and the tool of a call that asks for admission.

use crate::catalog::Tool;
use portcullis_policy::{PluginName, Principal};
use std::sync::Arc;

/// The caller and the tool of a call that asks for admission.
pub(crate) struct Applicant<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) session: &'a Arc<str>,
    pub(crate) plugin: &'a PluginName,
    pub(crate) tool: &'a Tool,
}
