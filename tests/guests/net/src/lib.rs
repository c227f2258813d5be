//! Sends over the network whatever it is told to, and says what came of it.
//!
//! The tests are the attacker; this plugin is their hand inside the sandbox. `send` calls `wasi:http` as it is, since a
//! library would normalize what is sent; `fetch` does what an ordinary plugin does.

mod errand;
#[cfg(target_arch = "wasm32")]
mod hand;
#[cfg(target_arch = "wasm32")]
mod library;
#[cfg(target_arch = "wasm32")]
mod sockets;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use errand::{Errand, Page};

/// What is to be done, in this order.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest runs errands"))]
struct Errands {
    /// Each is done, whatever came of the one before it.
    errands: Vec<Errand>,
    /// What a grant may be narrowed to.
    #[serde(default)]
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "the host reads it"))]
    url: Option<String>,
}

/// Runs errands with the right to reach the network.
#[tool(open_world, requires(network))]
fn send(arguments: Errands) -> Result<Value, Failure> {
    run(&arguments)
}

/// Runs the same errands without that right.
#[tool]
fn idle(arguments: Errands) -> Result<Value, Failure> {
    run(&arguments)
}

/// Gets or posts with an ordinary HTTP library.
#[tool(open_world, requires(network))]
fn fetch(arguments: Page) -> Result<Value, Failure> {
    read(arguments)
}

/// Tries every function of the sockets of WASI that can be reached.
#[tool(open_world, requires(network))]
fn connect(arguments: Port) -> Result<Value, Failure> {
    try_sockets(&arguments)
}

/// Where somebody listens on the loopback address.
#[arguments]
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a guest has sockets of WASI"))]
struct Port {
    /// For TCP and for UDP.
    port: u16,
}

#[cfg(target_arch = "wasm32")]
fn run(arguments: &Errands) -> Result<Value, Failure> {
    Ok(arguments.errands.iter().map(hand::run).collect())
}

#[cfg(target_arch = "wasm32")]
fn read(page: Page) -> Result<Value, Failure> {
    library::fetch(page).map_err(Failure::failed)
}

#[cfg(target_arch = "wasm32")]
fn try_sockets(arguments: &Port) -> Result<Value, Failure> {
    Ok(sockets::try_all(arguments.port))
}

#[cfg(not(target_arch = "wasm32"))]
fn run(_: &Errands) -> Result<Value, Failure> {
    Err(Failure::failed("only a guest runs errands"))
}

#[cfg(not(target_arch = "wasm32"))]
fn read(_: Page) -> Result<Value, Failure> {
    Err(Failure::failed("only a guest fetches"))
}

#[cfg(not(target_arch = "wasm32"))]
fn try_sockets(_: &Port) -> Result<Value, Failure> {
    Err(Failure::failed("only a guest has sockets of WASI"))
}

plugin! {
    name: "courier",
    description: "Sends over the network whatever it is told to.",
    tools: [send, idle, fetch, connect],
    dependencies: [
        optional http "api": "to be attacked",
        optional http "other": "to be attacked through the first",
    ],
}
