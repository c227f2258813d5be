//! Finds what is wrong in Markdown, in a text or in a file of a granted directory.
//!
//! From the outside in: `lint` (the tool: reads the text and reports the findings), `check` (checks the rules), `rules`
//! (lists the rules).

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
