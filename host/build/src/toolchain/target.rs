//! The target that guests are built for.

/// The compilation target of guests.
pub const TARGET: &str = "wasm32-wasip2";
