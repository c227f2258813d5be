//! What a test tells the guest to do.

use portcullis_sdk::prelude::*;

/// One thing to do.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest takes steps"))]
pub(crate) struct Step {
    /// The key to open. One that was opened stays open.
    pub(crate) key: String,
    /// Opens the key as a handle of this kind: directory, client, or service, which it is unless said.
    #[serde(default)]
    pub(crate) kind: Option<String>,
    /// Opens the key again, though it is open.
    #[serde(default)]
    pub(crate) again: bool,
    /// The method to call, if any.
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// Its input, as the text that is passed.
    #[serde(default)]
    pub(crate) input: String,
    /// How often the input stands, one after the other, in a JSON string that is passed in its place.
    #[serde(default)]
    pub(crate) copies: u32,
    /// How often to do it; what came of the last is said.
    #[serde(default = "once")]
    pub(crate) times: u32,
}

fn once() -> u32 {
    1
}
