//! The settings of the policy: the engine and its URL. Errors say which lines of the policy are missing.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;

use super::engine::Engine;

/// The setting that names the engine.
const ENGINE: &str = "search";

/// The setting with the URL of the engine.
const URL: &str = "search-url";

/// The engine to use.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(super) engine: Engine,
    pub(crate) url: Url,
}

impl Settings {
    /// Reads the settings.
    pub(crate) fn of(setting: impl Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        let Some(name) = setting(ENGINE) else { return Err(not_configured()) };
        let Some(engine) = Engine::ALL.into_iter().find(|engine| engine.setting() == name) else {
            let names = Engine::ALL.map(|engine| format!("{:?}", engine.setting())).join(", ");
            return Err(refusal(&format!("the setting `{ENGINE}` is {name:?}, but can only be one of {names}")));
        };
        let url = match (setting(URL), engine.default_url()) {
            (Some(url), _) => url,
            (None, Some(url)) => url.to_owned(),
            (None, None) => {
                return Err(missing(&format!("the setting `{URL}` is missing"), &config(engine)));
            }
        };
        let url = Url::parse(&url).map_err(|failure| refusal(&format!("the setting `{URL}`: {}", failure.text())))?;
        Ok(Self { engine, url: engine.complete(url) })
    }

    fn binding(&self) -> String {
        format!("`{}`", self.engine.binding(&self.url))
    }

    /// Returns the failure of a policy without a client for the engine.
    pub(crate) fn not_bound(&self) -> Failure {
        missing("the client `http.search` is missing", &self.binding())
    }

    /// Returns the failure of a policy whose client does not reach the engine.
    pub(crate) fn not_named(&self) -> Failure {
        let host = self.url.host();
        missing(&format!("`http.search` does not name the host `{host}`"), &self.binding())
    }

    /// Returns the failure of a policy without the engine's key.
    pub(super) fn no_secret(&self) -> Failure {
        missing("`http.search` has no secret for the engine", &self.binding())
    }
}

fn not_configured() -> Failure {
    let choices = Engine::ALL.map(|engine| {
        let url = engine.default_url().or(Some(EXAMPLE_URL)).and_then(|url| Url::parse(url).ok());
        let binding = url.map(|url| engine.binding(&url)).unwrap_or_default();
        format!("for {}, {} and `{binding}`", engine.name(), config(engine))
    });
    missing("no search engine is configured", &choices.join("; "))
}

/// A URL that stands for the one of an engine that everyone runs at a place of their own.
const EXAMPLE_URL: &str = "https://searx.example/search";

fn config(engine: Engine) -> String {
    let name = engine.setting();
    match engine.default_url() {
        Some(_) => format!("`config = {{ {ENGINE} = \"{name}\" }}`"),
        None => format!("`config = {{ {ENGINE} = \"{name}\", {URL} = \"{EXAMPLE_URL}\" }}`"),
    }
}

/// Returns the failure of a policy without these lines. It is one line, because a host shows a refusal of a review so.
fn missing(what: &str, lines: &str) -> Failure {
    Failure::denied(format!("{what}. Ask the user to add to the policy, under [plugin.web]: {lines}"))
}

fn refusal(what: &str) -> Failure {
    Failure::denied(format!("{what}. Ask the user to correct it in the policy, under [plugin.web]."))
}
