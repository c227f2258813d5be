//! The client of the API, and failures for its error responses.

use std::time::Duration;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::Deserialize;
use portcullis_sdk::serde::de::DeserializeOwned;

use crate::repository::Repository;

/// The default address of the API; the policy's `config.base` overrides it.
const BASE: &str = "https://api.github.com";

/// Maximum time of one request.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Maximum size of an answer: a hundred issues with long texts fit.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Maximum size of an error response: it is one sentence.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;

/// Maximum characters of a text from the server to repeat.
const WORDS_CHARACTERS_MAX: usize = 200;

/// A client of the API of the repositories.
pub(crate) struct Api {
    client: Client,
    base: String,
}

/// The body of an error response.
#[derive(Deserialize)]
#[serde(crate = "portcullis_sdk::serde")]
struct Refusal {
    #[serde(default)]
    message: String,
}

impl Api {
    pub(crate) fn of(context: &Context) -> Result<Self, Failure> {
        let base = context.setting("base").unwrap_or_else(|| BASE.to_owned());
        Ok(Self { client: context.client("api")?, base: base.trim_end_matches('/').to_owned() })
    }

    /// Returns whether requests will carry a token. The plugin itself cannot read it.
    pub(crate) fn has_token(&self) -> bool {
        self.client.has_secret()
    }

    pub(crate) fn issues_of(&self, repository: &Repository) -> String {
        format!("{}/repos/{}/issues", self.base, repository.full_name())
    }

    /// Sends a request and reads its answer.
    pub(crate) fn send<T: DeserializeOwned>(&self, request: Request, repository: &Repository) -> Result<T, Failure> {
        let request = request
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .header("user-agent", concat!("portcullis-example/", env!("CARGO_PKG_VERSION")))
            .timeout(TIME_MAX);
        let response = self.client.send(request)?;
        if response.is_success() { response.json(ANSWER_BYTES_MAX) } else { Err(refused(response, repository)) }
    }
}

/// Returns the failure for an error response.
fn refused(response: Response, repository: &Repository) -> Failure {
    let repository = repository.full_name();
    let status = response.status();
    if response.redirect().is_some() {
        return Failure::failed(format!("{repository} has moved; use its new name"));
    }
    let is_exhausted =
        response.header("x-ratelimit-remaining") == Some("0") || response.header("retry-after").is_some();
    let words = response.json::<Refusal>(REFUSAL_BYTES_MAX).map(|refusal| printable(&refusal.message));
    let words = words.ok().filter(|words| !words.is_empty()).unwrap_or_else(|| "no reason given".to_owned());
    match status {
        403 | 429 if is_exhausted => Failure::unavailable("the API's rate limit is reached; try again later"),
        429 => Failure::unavailable("the API's rate limit is reached; try again later"),
        401 => Failure::denied("the API does not accept the token; ask the user to renew it in the policy"),
        403 => Failure::denied(format!("the API does not allow this for {repository}: {words}")),
        404 => Failure::failed(format!("there is no repository {repository}, or the token has no access to it")),
        410 => Failure::failed(format!("{repository} has no issues")),
        422 => Failure::invalid(format!("the API rejected the arguments: {words}")),
        500.. => Failure::unavailable(format!("the API failed (status {status}); try again later")),
        _ => Failure::failed(format!("the API answered with status {status}: {words}")),
    }
}

/// Returns the beginning of an untrusted text, in one line.
pub(crate) fn printable(text: &str) -> String {
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let beginning: String = characters.by_ref().take(WORDS_CHARACTERS_MAX).collect();
    if characters.next().is_some() { beginning + "…" } else { beginning }
}
