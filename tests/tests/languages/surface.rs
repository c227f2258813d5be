//! The SDK features beyond the contract: integration with the language, and edge cases.

use crate::row::{built, repository, run};

/// JavaScript's web and Node APIs, on an engine.
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
