//! One thing to do.

use portcullis_sdk::prelude::*;

/// One thing to do. What an operation does not need is left out.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest takes steps"))]
pub(crate) struct Step {
    /// A function of `wasi:filesystem/types`, such as `open-at`; a part of what one says, as `kind-at` and `links-at`
    /// of `stat-at` and `read-end` of `read`; `close`; `read-in`, which opens the directory `path` and reads `to` from
    /// there; or `std-read`, `std-write`, `std-list`.
    pub(crate) op: String,
    /// The descriptor it is called on: `workspace`, `other`, or a name given by an open.
    #[serde(default)]
    pub(crate) on: Option<String>,
    /// The path; `{}` is replaced by the number of the repetition.
    #[serde(default)]
    pub(crate) path: String,
    /// The second path, or the target of a symbolic link.
    #[serde(default)]
    pub(crate) to: String,
    /// The descriptor the second path belongs to.
    #[serde(default)]
    pub(crate) to_on: Option<String>,
    /// Any of follow, create, directory, exclusive, truncate, read, write, mutate, go-on.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// What to write.
    #[serde(default)]
    pub(crate) text: String,
    /// How often the text stands one after the other in what is written.
    #[serde(default = "once")]
    pub(crate) copies: u32,
    /// A place in a file, a size, or seconds.
    #[serde(default)]
    pub(crate) number: u64,
    /// Nanoseconds.
    #[serde(default)]
    pub(crate) nanoseconds: u32,
    /// How often to do it; it ends at the first error.
    #[serde(default = "once")]
    pub(crate) times: u32,
    /// The name under which an opened descriptor is kept.
    #[serde(default)]
    pub(crate) keep: Option<String>,
}

fn once() -> u32 {
    1
}

#[cfg(target_arch = "wasm32")]
impl Step {
    pub(crate) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.text.repeat(self.copies as usize).into_bytes()
    }
}
