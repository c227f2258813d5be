//! The search engines: how each is asked, and how its answer is read. One file for each.

mod brave;
mod results;
mod searxng;
mod tavily;

use std::net::Ipv4Addr;
use std::time::Duration;

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

pub(super) use self::results::Found;

/// Maximum time of a search, to the last byte. A call has 30 s by default.
const SEARCH_TIME: Duration = Duration::from_secs(20);

/// A search engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Searxng,
    Brave,
    Tavily,
}

impl Engine {
    pub(super) const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Tavily];

    /// Returns the value of the setting.
    pub(super) fn setting(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    /// Returns the name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
        }
    }

    /// Returns the URL of the engine's own service.
    pub(super) fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
        }
    }

    /// Adds the path of the engine to a URL that has none.
    pub(super) fn complete(self, url: Url) -> Url {
        match self {
            Self::Searxng if url.path_with_query() == "/" => Url::parse(&url.join("/search")).unwrap_or(url),
            Self::Searxng | Self::Brave | Self::Tavily => url,
        }
    }

    /// Returns whether the engine requires a key.
    pub(super) fn needs_secret(self) -> bool {
        match self {
            Self::Searxng => false,
            Self::Brave | Self::Tavily => true,
        }
    }

    /// Returns the line of a policy that binds a client for the engine.
    pub(super) fn binding(self, url: &Url) -> String {
        let host = url.host();
        let secret = |slot: &str, name: &str| format!(", secret = {{ {slot}, from = \"env:{name}\" }}");
        let (methods, secret) = match self {
            Self::Searxng => ("", String::new()),
            Self::Brave => ("", secret("header = \"x-subscription-token\", value = \"{}\"", "BRAVE_API_KEY")),
            Self::Tavily => (
                ", methods = [\"POST\"]",
                secret("header = \"authorization\", value = \"Bearer {}\"", "TAVILY_API_KEY"),
            ),
        };
        let port = url.authority().strip_prefix(host).and_then(|port| port.strip_prefix(':')).map(str::to_owned);
        let schemes = if url.scheme() == "http" { ", schemes = [\"http\"]" } else { "" };
        let port = match (port, url.scheme()) {
            (Some(port), _) => format!(", ports = [{port}]"),
            (None, "http") => ", ports = [80]".to_owned(),
            (None, _) => String::new(),
        };
        // The host reaches an address that is not public only if the policy lists it.
        let addresses = match host.parse::<Ipv4Addr>() {
            Ok(address) if address.is_loopback() || address.is_private() => format!(", addresses = [\"{host}\"]"),
            Ok(_) | Err(_) => String::new(),
        };
        format!("http.search = {{ hosts = [\"{host}\"]{schemes}{port}{addresses}{methods}{secret} }}")
    }

    /// Returns the request of a search.
    pub(super) fn request(self, url: &Url, query: &str, count: usize) -> Result<Request, Failure> {
        let request = match self {
            Self::Searxng => searxng::request(url, query),
            Self::Brave => brave::request(url, query, count),
            Self::Tavily => tavily::request(url, query, count)?,
        };
        Ok(request.header("accept", "application/json").timeout(SEARCH_TIME))
    }

    /// Reads a document of results. Returns `None` if it is none.
    pub(super) fn read(self, document: &Value) -> Option<Found> {
        match self {
            Self::Searxng => searxng::read(document),
            Self::Brave => brave::read(document),
            Self::Tavily => tavily::read(document),
        }
    }

    /// Returns what an error document says; empty if nothing.
    pub(super) fn excuse(self, document: &Value) -> &str {
        let members = match self {
            Self::Searxng => ["/error", "/message"],
            Self::Brave => ["/error/detail", "/error/code"],
            Self::Tavily => ["/detail/error", "/detail"],
        };
        members.iter().find_map(|member| document.pointer(member)?.as_str()).unwrap_or_default()
    }
}
