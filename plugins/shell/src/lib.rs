//! The shell plugin: runs commands and programs that the policy binds. The operating system confines them.
//!
//! One file per tool; below them `program`: starts a program and writes its output into the answer. `review` checks a
//! call before it runs; `command` reads the text of a command for it, and `hidden` finds characters that a reader does
//! not see.

mod exec;
mod run;

mod program;

mod review;

mod command;
mod hidden;

use portcullis_sdk::prelude::*;

plugin! {
    name: "shell",
    description: "Runs commands and programs in a sandbox.",
    tools: [run::run, exec::exec],
    dependencies: [
        process "sh": "runs commands, such as /bin/bash",
        optional process "git": "runs git without a shell",
        optional process "python": "runs Python without a shell",
        optional process "cargo": "runs cargo without a shell",
        optional process "node": "runs Node.js without a shell",
        optional process "make": "runs make without a shell",
        optional directory "workspace": "the files that the programs work on",
    ],
    reviewer: review::review,
}
