//! Makes pictures of a granted directory smaller, so that a model can look at them.
//!
//! From the outside in: `resize` and `info` (the tools), `picture` (a file that claims to be a picture, and what of it
//! is believed).

mod info;
mod resize;

mod picture;

use portcullis_sdk::prelude::*;

plugin! {
    name: "images",
    description: "Makes pictures smaller.",
    tools: [info::info, resize::resize],
    dependencies: [directory "pictures": "the pictures, and where smaller ones are written"],
}
