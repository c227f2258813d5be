//! The target that guests are built for.

/// What guests are built for.
pub const TARGET: &str = "wasm32-wasip2";
