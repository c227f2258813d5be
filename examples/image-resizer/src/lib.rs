//! Makes pictures of a granted directory smaller, so that a model can look at them.
//!
//! From the outside in: `resize` and `info` (the tools), `encode` (a picture as the bytes of an answer), `picture` (a
//! file that claims to be a picture, and what of it is believed), `jpeg` (what the head of a JPEG says of memory).

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
