//! What an SDK has beyond the contract: where it meets its language, and the edges of it.

use crate::row::{built, repository, run};

/// JavaScript as the web and Node have it, on an engine.
#[track_caller]
fn javascript(place: &str) {
    let component = built(place).join("surface.wasm");
    let arguments = ["test", "--component", component.to_str().unwrap()];
    run(&repository().join("tests/languages/javascript"), &arguments).ends(0);
}

#[test]
fn on_quickjs() {
    javascript("surface");
}

#[test]
fn on_starlingmonkey() {
    javascript("surface-starlingmonkey");
}
