//! The API: where it is, how it is asked, and what its refusals mean for a model.

use std::time::Duration;

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::Deserialize;
use portcullis_sdk::serde::de::DeserializeOwned;

use crate::repository::Repository;

/// Where the API is unless the policy's `config.base` says otherwise.
const BASE: &str = "https://api.github.com";

/// How long one request may take.
const TIME_MAX: Duration = Duration::from_secs(20);

/// The most of an answer that is read: a hundred issues with long texts fit.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The most of a refusal that is read: it is one sentence.
const REFUSAL_BYTES_MAX: usize = 16 * 1024;

/// How much of a text that the server wrote is repeated, in characters.
const WORDS_CHARACTERS_MAX: usize = 200;

/// The API of the repositories.
pub(crate) struct Api {
    client: Client,
    base: String,
}

/// What the API says when it refuses.
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

    /// Whether requests will carry a token. What it is, nobody in here can know.
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

/// What an answer that is no success means.
fn refused(response: Response, repository: &Repository) -> Failure {
    let repository = repository.full_name();
    let status = response.status();
    if response.redirect().is_some() {
        return Failure::failed(format!("{repository} has moved; use its new name"));
    }
    let is_exhausted =
        response.header("x-ratelimit-remaining") == Some("0") || response.header("retry-after").is_some();
    let words = response.json::<Refusal>(REFUSAL_BYTES_MAX).map(|refusal| printable(&refusal.message));
    let words = words.ok().filter(|words| !words.is_empty()).unwrap_or_else(|| "it does not say why".to_owned());
    match status {
        403 | 429 if is_exhausted => Failure::unavailable("the API takes no more requests for now; try again later"),
        429 => Failure::unavailable("the API takes no more requests for now; try again later"),
        401 => Failure::denied("the API does not accept the token; the person who wrote the policy has to renew it"),
        403 => Failure::denied(format!("the API does not allow this for {repository}: {words}")),
        404 => Failure::failed(format!("there is no repository {repository}, or the token does not reach it")),
        410 => Failure::failed(format!("{repository} has no issues")),
        422 => Failure::invalid(format!("the API does not take this: {words}")),
        500.. => Failure::unavailable(format!("the API has trouble (status {status}); try again later")),
        _ => Failure::failed(format!("the API answered with status {status}: {words}")),
    }
}

/// The beginning of a text that somebody else wrote, in one line.
pub(crate) fn printable(text: &str) -> String {
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let beginning: String = characters.by_ref().take(WORDS_CHARACTERS_MAX).collect();
    if characters.next().is_some() { beginning + "…" } else { beginning }
}
