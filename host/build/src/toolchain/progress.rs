//! Progress messages about a toolchain that is being made.

pub(super) fn say(text: &str) {
    eprintln!("guest toolchain: {text}");
}
