//! The changes of a reload.

use portcullis_policy::PluginName;

/// The changes of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// New plugins.
    pub added: Vec<PluginName>,
    /// Plugins whose file or description files changed. Remembered approvals do not apply to a tool that changed.
    pub replaced: Vec<PluginName>,
    /// Plugins whose file was removed.
    pub removed: Vec<PluginName>,
    /// Files that are refused now and were not before, or for another reason. Untrusted text. If such a file would
    /// replace a plugin, the old plugin stays.
    pub refused: Vec<String>,
    /// Files that are no longer refused, because they were removed or match the loaded plugin again. Untrusted text.
    pub cleared: Vec<String>,
    /// The SHA-256 of the new policy in force, if it changed.
    pub policy: Option<String>,
    /// Why a changed policy does not take effect, if the reason is new. The previous policy stays in force.
    pub policy_fault: Option<String>,
}

impl Reloaded {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
