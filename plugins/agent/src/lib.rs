//! The agent plugin: a sub-agent. It talks to a model over one HTTP client, whose key the host adds, and calls the
//! tools that the policy binds.
//!
//! In the order of a call: `run` (the tool), `settings` and `budget` (what the policy and the caller allow), `toolbox`
//! (the tools for the model), `conversation` (the loop), `model` (one exchange), `format` (what goes over the wire),
//! `message` (what all formats share), `transcript`.

mod run;

mod budget;
mod money;
mod settings;

mod toolbox;

mod conversation;

mod model;

mod format;
mod message;

mod transcript;

use portcullis_sdk::prelude::*;

plugin! {
    name: "agent",
    description: "Gives a task to a sub-agent: a model that calls tools.",
    tools: [run::run],
    dependencies: [
        http "model": "the model; the host adds its key",
        tools "tools": "the tools that the sub-agent may call; each call is decided like a call by the caller",
    ],
}
