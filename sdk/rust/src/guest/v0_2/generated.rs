//! What `wit-bindgen` generates from `wit/`. It is stored, so that a plugin compiles without the generator.
#![expect(missing_docs, unreachable_pub, unsafe_code, reason = "generated")]

#[rustfmt::skip]
pub mod bindings;

/// The atomic operations on stores, which are not part of the world of a plugin.
#[rustfmt::skip]
pub mod atomics;

/// The optional export `reviewer`.
#[rustfmt::skip]
pub mod reviewing;

/// The optional export `previewer`.
#[rustfmt::skip]
pub mod previewing;

/// The optional export `generator`.
#[rustfmt::skip]
pub mod generating;

/// The optional export `preparer`.
#[rustfmt::skip]
pub mod preparing;
