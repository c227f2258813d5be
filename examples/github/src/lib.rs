//! Works on the issues of a GitHub-style API with a token that it never sees. The host adds the token only to requests
//! to the destination that the policy binds it to.
//!
//! One file per tool; below them `api` (requests and error responses) and `repository` (checks names).

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
