//! Works on the issues of a GitHub-style API, with a token that it never sees: the host adds the token to requests that
//! go where the policy bound it to, and to no others.
//!
//! One file per tool; below them `api` (requests, and what a refusing answer means) and `repository` (which names there
//! may be).

mod create_issue;
mod issues;

mod api;
mod repository;

use portcullis_sdk::prelude::*;

plugin! {
    name: "github",
    description: "Lists and creates the issues of repositories.",
    tools: [issues::issues, create_issue::create_issue],
    dependencies: [http "api": "the API of the repositories; bind the token to it"],
}
