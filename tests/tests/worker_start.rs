//! Lets the test program be started again as the process that confines programs.
//!
//! A program calls `portcullis::init()` as the first line of `main` for that. A test program has no `main` of its own.

use std::env;

/// Runs before `main`, so that the process does not run the tests instead.
extern "C" fn begin() {
    // Otherwise, each test decides by itself whether its process is initialized.
    if env::args().nth(1).is_some_and(|argument| argument.starts_with("portcullis-")) {
        portcullis::init();
    }
}

#[used]
#[expect(unsafe_code, reason = "nothing else of a test program runs before the tests")]
// SAFETY: the C library calls the functions of this section once, before `main`, when the arguments are known.
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
