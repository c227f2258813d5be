//! `issues`: lists issues.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::Deserialize;

use crate::api::{Api, printable};
use crate::repository::Repository;

/// Default number of issues to look at.
const ISSUES_DEFAULT: usize = 20;

#[arguments]
pub(crate) struct Issues {
    /// The repository, as `owner/name`.
    repository: String,
    /// Which issues to list.
    #[serde(default)]
    state: State,
    /// How many of the newest to look at. Pull requests count too, and are left out.
    #[serde(default = "issues_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn issues_default() -> usize {
    ISSUES_DEFAULT
}

/// Which issues.
#[arguments]
#[derive(Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Those that are open.
    #[default]
    Open,
    /// Those that are closed.
    Closed,
    /// All of them.
    All,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }
}

/// An issue, as the API returns it.
#[derive(Deserialize)]
#[serde(crate = "portcullis_sdk::serde")]
struct Issue {
    number: u64,
    title: String,
    state: String,
    user: Option<User>,
    /// Present if the issue is a pull request.
    pull_request: Option<portcullis_sdk::serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(crate = "portcullis_sdk::serde")]
struct User {
    login: String,
}

/// Lists the newest issues of a repository, one line each: number, title, state and author.
#[tool(read_only, idempotent, open_world, requires(network), title = "List issues")]
pub(crate) fn issues(arguments: Issues, context: &Context) -> Result<Success<String>, Failure> {
    let repository = Repository::parse(&arguments.repository)?;
    let api = Api::of(context)?;
    let request = Request::get(api.issues_of(&repository))
        .query("state", arguments.state.name())
        .query("per_page", arguments.limit.to_string());
    let mut issues: Vec<Issue> = api.send(request, &repository)?;
    issues.retain(|issue| issue.pull_request.is_none());

    let lines = issues.iter().map(|issue| line(issue) + "\n");
    let text = if issues.is_empty() { "(no issues found)\n".to_owned() } else { lines.collect() };
    let numbers: Vec<u64> = issues.iter().map(|issue| issue.number).collect();
    let repository = repository.full_name();
    Ok(Success::new(text).title(format!("Listed {} issues of {repository}", numbers.len())).metadata(json!({
        "repository": repository,
        "state": arguments.state.name(),
        "numbers": numbers,
    })))
}

fn line(issue: &Issue) -> String {
    let author = issue.user.as_ref().map_or("unknown", |user| user.login.as_str());
    let (title, state, author) = (printable(&issue.title), printable(&issue.state), printable(author));
    format!("#{} {title} ({state}, by {author})", issue.number)
}
