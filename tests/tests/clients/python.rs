//! The Python SDK in its new and its old major version, over both transports.

use crate::office::{ASKING, Office, PERSON};
use crate::script::{LEGACY, MODERN, run, told_to_connect, told_to_start};

/// The recorded calls of a script of the SDK.
fn assert_recorded(office: &Office) {
    let calls = office.settled();
    let ended = |tool: &str| {
        let of_tool = calls.iter().filter(|(name, _)| name == tool);
        of_tool.map(|(_, outcome)| outcome.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(ended("clerk.wait"), ["cancelled"], "{calls:?}");
    assert_eq!(ended("clerk.note"), ["completed", "denied"], "{calls:?}");
    assert_eq!(ended("clerk.sign"), ["completed"], "{calls:?}");
    assert_eq!(ended("clerk.count"), ["completed"], "{calls:?}");
    assert_eq!(ended("hello.greet"), ["completed"], "{calls:?}");
    // The cancelled call had written its note by then.
    assert_eq!(office.notes(), "with leave\nsigned: in the middle\nwaiting\n");
}

#[test]
fn the_new_sdk_over_pipes() {
    let office = Office::new(ASKING);
    run(&office, MODERN, "sdk_modern", &told_to_start(&office, &PERSON));
    assert_recorded(&office);
}

#[test]
fn the_new_sdk_over_http() {
    let office = Office::new(ASKING);
    let server = office.listen(&PERSON);
    run(&office, MODERN, "sdk_modern", &told_to_connect(&office, &server));
    assert_recorded(&office);
}

#[test]
fn the_old_sdk_over_pipes() {
    let office = Office::new(ASKING);
    run(&office, LEGACY, "sdk_legacy", &told_to_start(&office, &PERSON));
    assert_recorded(&office);
}

#[test]
fn the_old_sdk_over_http() {
    let office = Office::new(ASKING);
    let server = office.listen(&PERSON);
    run(&office, LEGACY, "sdk_legacy", &told_to_connect(&office, &server));
    assert_recorded(&office);
}
