//! The smallest plugin: one tool.

use portcullis_sdk::prelude::*;

/// Whom to greet.
#[arguments]
struct Greet {
    /// A person's name.
    name: String,
}

/// Greets a person by name.
#[tool(read_only, idempotent)]
fn greet(arguments: Greet) -> String {
    format!("Hello, {}!", arguments.name)
}

plugin! { name: "hello", description: "Greets people.", tools: [greet] }
