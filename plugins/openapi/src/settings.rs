//! The settings of the policy.

use portcullis_sdk::prelude::*;

use crate::selection::Selection;

/// The settings.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The name of the document in its directory. It is one name, not a path.
    pub(crate) document: String,
    /// The URL of the API, in place of that of the document.
    pub(crate) server: Option<String>,
    /// The beginning of each tool's name.
    pub(crate) prefix: String,
    pub(crate) selection: Selection,
}

impl Settings {
    /// Reads the settings.
    pub(crate) fn read(context: &Context) -> Result<Self, Failure> {
        let document = context.setting("document").ok_or_else(|| refusal("the setting `document` is missing"))?;
        if document.is_empty() || document.contains(['/', '\\', '\0']) || document == ".." {
            return Err(refusal("the setting `document` must be the name of a file in `documents`"));
        }
        Ok(Self {
            document,
            server: context.setting("server"),
            prefix: context.setting("prefix").unwrap_or_default(),
            selection: Selection::read(context),
        })
    }
}

/// Returns the failure of a setting that the operator has to correct.
pub(crate) fn refusal(what: &str) -> Failure {
    Failure::denied(format!("{what}. Correct it in the policy, under [plugin.openapi.config]."))
}
