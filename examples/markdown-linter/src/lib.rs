//! Finds what is wrong in Markdown, in a text or in a file of a granted directory.
//!
//! From the outside in: `lint` (the tool: where the text comes from, what is reported), `check` (the rules at work),
//! `rules` (which rules there are).

mod lint;

mod check;
mod rules;

use portcullis_sdk::prelude::*;

plugin! {
    name: "mdlint",
    description: "Finds what is wrong in Markdown.",
    tools: [lint::lint, rules::rules],
    dependencies: [optional directory "documents": "the files to check; a text in the arguments needs none"],
}
