//! Makes pictures of a granted directory smaller, so that a model can look at them.
//!
//! From the outside in: `resize` and `info` (the tools), `encode` (encodes an answer of limited size), `picture`
//! (checks an untrusted file), `jpeg` (computes a JPEG decoder's memory from the head of the file).

mod info;
mod resize;

mod encode;
mod jpeg;
mod picture;

use portcullis_sdk::prelude::*;

plugin! {
    name: "images",
    description: "Makes pictures smaller.",
    tools: [info::info, resize::resize],
    dependencies: [directory "pictures": "the pictures, and where smaller ones are written"],
}
