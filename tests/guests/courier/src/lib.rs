//! A plugin of version 0.2, written against its WIT: it sends files with names, and says when it is back.

#[cfg(target_arch = "wasm32")]
mod plugin;
