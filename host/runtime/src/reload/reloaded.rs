//! What a reload changed.

use portcullis_policy::PluginName;

/// What a look at the plugin directory changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Plugins that were not there before.
    pub added: Vec<PluginName>,
    /// Plugins whose file is another, or whose description files say something else. What was approved for a tool that
    /// is another by that does not hold for it.
    pub replaced: Vec<PluginName>,
    /// Plugins whose file is gone.
    pub removed: Vec<PluginName>,
    /// Files that are refused from now on, or for another reason than before; untrusted text. A plugin that such a file
    /// was to replace goes on.
    pub refused: Vec<String>,
    /// Files that were refused and are gone, or are again what is loaded; untrusted text.
    pub cleared: Vec<String>,
    /// The SHA-256 of the new policy in force, if it changed.
    pub policy: Option<String>,
    /// Why a changed policy does not take effect, if the reason is new. The previous policy stays in force.
    pub policy_fault: Option<String>,
}

impl Reloaded {
    /// Whether everything is as it was.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
