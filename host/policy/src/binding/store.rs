//! What a policy binds to a store key.

/// A store of keys and values, kept by the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreBinding {
    /// Who shares it.
    pub scope: StoreScope,
    /// Entries.
    pub keys: u32,
    /// Of one value.
    pub value_bytes: u64,
    /// Of all keys and values.
    pub bytes: u64,
}

/// Who shares the content of a store. Two plugins never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreScope {
    /// All calls of the plugin.
    #[default]
    Plugin,
    /// The calls of one session of one principal.
    Session,
}
