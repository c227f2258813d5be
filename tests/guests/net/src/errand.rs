//! One thing to do.
#![cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest runs errands"))]

use portcullis_sdk::prelude::*;

/// One thing to do. What an operation does not need is left out.
#[arguments]
pub(crate) struct Errand {
    /// `send`; `open`, `has-secret` and `names-host` of `dependencies`; `say`, which answers with the authority.
    #[serde(default = "send")]
    pub(crate) op: String,
    /// The key of a client, or `default` for `wasi:http/outgoing-handler`.
    #[serde(default = "default")]
    pub(crate) client: String,
    /// The method; one of those that WASI names, or any other.
    #[serde(default = "get")]
    pub(crate) method: String,
    /// The scheme; empty for none.
    #[serde(default = "http")]
    pub(crate) scheme: String,
    /// The authority; the URL of `names-host`.
    #[serde(default)]
    pub(crate) authority: Option<String>,
    /// Path and query.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// Names and values; a character is a byte.
    #[serde(default)]
    pub(crate) headers: Vec<[String; 2]>,
    /// The body.
    #[serde(default)]
    pub(crate) body: Option<String>,
    /// How often the body stands one after the other in what is sent.
    #[serde(default = "once")]
    pub(crate) copies: u32,
    /// Names and values after the body.
    #[serde(default)]
    pub(crate) trailers: Vec<[String; 2]>,
    /// Nanoseconds to connect.
    #[serde(default)]
    pub(crate) connect: Option<u64>,
    /// Nanoseconds to the first byte.
    #[serde(default)]
    pub(crate) first_byte: Option<u64>,
    /// Nanoseconds between bytes.
    #[serde(default)]
    pub(crate) between_bytes: Option<u64>,
    /// How often to do it.
    #[serde(default = "once")]
    pub(crate) times: u32,
    /// Whether all are begun before the first is waited for.
    #[serde(default)]
    pub(crate) together: bool,
    /// How many bytes of the answer to read.
    #[serde(default)]
    pub(crate) read: Option<u64>,
    /// How many bytes of the answer to show.
    #[serde(default = "shown")]
    pub(crate) show: usize,
    /// Whether to return the bytes inverted and in hexadecimal, so that a search for the content does not find it.
    #[serde(default)]
    pub(crate) veil: bool,
    /// Whether the answer stays open to the end of the call.
    #[serde(default)]
    pub(crate) keep: bool,
    /// How many redirects to follow.
    #[serde(default)]
    pub(crate) follow: u32,
}

/// A page for the library.
#[arguments]
pub(crate) struct Page {
    /// The whole address.
    pub(crate) url: String,
    /// What is posted; without it the page is got.
    #[serde(default)]
    pub(crate) post: Option<String>,
    /// Names and values.
    #[serde(default)]
    pub(crate) headers: Vec<[String; 2]>,
}

fn send() -> String {
    "send".to_owned()
}

fn default() -> String {
    "default".to_owned()
}

fn get() -> String {
    "GET".to_owned()
}

fn http() -> String {
    "http".to_owned()
}

fn once() -> u32 {
    1
}

fn shown() -> usize {
    4096
}
