//! `create_issue`: creates an issue.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::Deserialize;

use crate::api::{Api, printable};
use crate::repository::Repository;

#[arguments]
pub(crate) struct CreateIssue {
    /// The repository, as `owner/name`.
    repository: String,
    /// What the issue is about, in one line.
    #[schemars(length(min = 1, max = 256))]
    title: String,
    /// The issue itself, in Markdown.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    body: String,
}

/// The created issue, as the API returns it.
#[derive(Deserialize)]
#[serde(crate = "portcullis_sdk::serde")]
struct Created {
    number: u64,
    html_url: String,
}

/// Creates an issue in a repository, in the name of the person whose token it is. Others can see it immediately.
#[tool(open_world, requires(network, write), title = "Create an issue")]
pub(crate) fn create_issue(arguments: CreateIssue, context: &Context) -> Result<Success<String>, Failure> {
    let CreateIssue { repository, title, body } = arguments;
    let repository = Repository::parse(&repository)?;
    let api = Api::of(context)?;
    if !api.has_token() {
        return Err(Failure::denied("creating an issue needs a token, and the policy binds none to `api`"));
    }
    let request = Request::post(api.issues_of(&repository)).json(&json!({ "title": title, "body": body }))?;
    let created: Created = api.send(request, &repository)?;
    let (number, url, repository) = (created.number, printable(&created.html_url), repository.full_name());
    Ok(Success::new(format!("Created #{number} in {repository}: {url}"))
        .title(format!("Created #{number} in {repository}"))
        .metadata(json!({ "repository": repository, "number": number, "url": url })))
}
