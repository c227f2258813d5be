//! One thing to do.

use portcullis_sdk::prelude::*;

/// One thing to do. What an operation does not need is left out.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest takes steps"))]
pub(crate) struct Step {
    /// `open`, `get`, `set`, `increment`, `delete`, `exists` or `list`; `config` or `config-all`; `log` or `print`;
    /// `clocks`, `sleep` or `wait-until`; `random`, `insecure` or `insecure-seed`.
    pub(crate) op: String,
    /// The key of a store.
    #[serde(default)]
    pub(crate) store: String,
    /// A key in a store or in the settings; `{}` is replaced by the number of the repetition. The context of a message.
    #[serde(default)]
    pub(crate) key: String,
    /// A value, or a message.
    #[serde(default)]
    pub(crate) text: String,
    /// How often the text stands one after the other in what is written.
    #[serde(default = "once")]
    pub(crate) copies: u32,
    /// How often to do it; it ends at the first error.
    #[serde(default = "once")]
    pub(crate) times: u32,
    /// The cursor of a listing, the number to add, nanoseconds, or a number of bytes.
    #[serde(default)]
    pub(crate) number: Option<u64>,
}

fn once() -> u32 {
    1
}
