//! The output that a tool writes while it runs, and what a caller learns about a run, however it ends.

#[path = "stream/rig.rs"]
mod rig;

#[path = "stream/text.rs"]
mod text;

#[path = "stream/bounds.rs"]
mod bounds;

#[path = "stream/secrets.rs"]
mod secrets;

#[path = "stream/effects.rs"]
mod effects;

#[path = "stream/cancelled.rs"]
mod cancelled;

#[path = "stream/memory.rs"]
mod memory;
