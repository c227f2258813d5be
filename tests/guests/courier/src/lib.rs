//! A plugin of version 0.2, written directly against its WIT: it returns files with names, and a retry delay for an
//! outage.

#[cfg(target_arch = "wasm32")]
mod plugin;
