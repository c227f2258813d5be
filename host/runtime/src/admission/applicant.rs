//! The caller and the tool of a call that asks for admission.

use super::Admission;
use crate::catalog::Tool;
use portcullis_policy::{PluginName, Principal};
use std::sync::Arc;

/// The caller and the tool of a call that asks for admission.
pub(crate) struct Applicant<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) session: &'a Arc<str>,
    pub(crate) plugin: &'a PluginName,
    pub(crate) tool: &'a Tool,
    /// The admission of the call whose tool makes this call.
    pub(crate) made_by: Option<&'a Arc<Admission>>,
}
