//! What a policy binds to a service key.

/// A service of the application that embeds the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceBinding {
    /// The name the application gave it.
    pub name: String,
    /// The methods that may be called; empty for all.
    pub methods: Vec<String>,
    /// How many calls of it one call may make.
    pub calls: u32,
}
