//! The server of an operation: the setting, or what the document says.

use portcullis_sdk::http::Url;
use portcullis_sdk::serde_json::Value;

use crate::document::Document;

/// The server of a document.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// An absolute URL without `/` at its end.
    base: String,
    /// The first server of the document, without its scheme, if the settings replace it.
    replaced: Option<String>,
}

impl Server {
    /// Returns the server of the settings, or the first one of the document.
    pub(crate) fn of_document(setting: Option<&str>, document: &Document) -> Result<Self, String> {
        let first = first_url(document.member("servers"));
        let url = match setting {
            Some(url) => Some(url.to_owned()),
            None => first.clone()?,
        };
        match url {
            Some(url) if is_absolute(&url) => {
                // A server of the document that cannot be read does not matter if the setting replaces it.
                let replaced =
                    setting.map(|_| first.ok().flatten().map(|url| without_scheme(&url)).unwrap_or_default());
                Ok(Self { base: trimmed(&url), replaced })
            }
            Some(url) => Err(format!("the URL of the server, {url:?}, is not absolute. Set `server`")),
            None => Err("the document names no server. Set `server`".to_owned()),
        }
    }

    /// Returns the URL of an operation's server: its own, that of its path, or that of the document.
    pub(crate) fn url_for(&self, item: &Value, operation: &Value) -> Result<String, String> {
        let servers = [operation, item].into_iter().find_map(|owner| owner.get("servers").filter(|own| is_listed(own)));
        let Some(url) = first_url(servers)? else { return Ok(self.base.clone()) };
        if self.replaced.as_ref() == Some(&without_scheme(&url)) {
            return Ok(self.base.clone());
        }
        if !is_absolute(&url) {
            let base = Url::parse(&self.base).map_err(|error| error.to_string())?;
            let joined = base.join(&url);
            return if is_absolute(&joined) {
                Ok(trimmed(&joined))
            } else {
                Err(format!("its server {url:?} is not a URL"))
            };
        }
        // The setting says where requests go, so skip an operation that would send them elsewhere.
        match self.replaced.is_some() && trimmed(&url) != self.base {
            true => Err(format!("it has a server of its own, {url:?}, which the setting `server` does not replace")),
            false => Ok(trimmed(&url)),
        }
    }
}

fn is_listed(servers: &Value) -> bool {
    servers.as_array().is_some_and(|servers| !servers.is_empty())
}

/// Returns the URL of the first server, with the default values of its variables.
fn first_url(servers: Option<&Value>) -> Result<Option<String>, String> {
    let Some(server) = servers.and_then(|servers| servers.get(0)) else { return Ok(None) };
    let Some(url) = server.get("url").and_then(Value::as_str) else { return Ok(None) };
    let mut filled = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| format!("the server {url:?} has an unclosed `{{`"))?;
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        let value = variable.and_then(|variable| variable.get("default")).and_then(Value::as_str);
        let value = value.filter(|value| !value.is_empty());
        filled.push_str(before);
        filled.push_str(value.ok_or_else(|| format!("the server {url:?} has no default for {name:?}. Set `server`"))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

fn is_absolute(url: &str) -> bool {
    !url.contains(['{', '?', '#']) && Url::parse(url).is_ok()
}

fn trimmed(url: &str) -> String {
    url.trim_matches(' ').trim_end_matches('/').to_owned()
}

/// Returns what identifies a server of the document: some documents have one server with and without its scheme.
fn without_scheme(url: &str) -> String {
    let url = trimmed(url);
    url.split_once("//").map_or(url.clone(), |(_, rest)| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocumentUse;
    use portcullis_sdk::serde_json::json;

    fn of(servers: &Value, setting: Option<&str>) -> Result<Server, String> {
        let text = json!({ "openapi": "3.0.0", "servers": servers }).to_string();
        Server::of_document(setting, &Document::parse(&text, DocumentUse::Request).unwrap())
    }

    #[test]
    fn the_setting_replaces_the_first_server_of_the_document() {
        let servers = json!([{ "url": "https://a.example/v1/" }, { "url": "https://b.example" }]);
        assert_eq!(of(&servers, None).unwrap().base, "https://a.example/v1");
        assert_eq!(of(&servers, Some("http://c.example:8080/")).unwrap().base, "http://c.example:8080");
        for (servers, setting) in [
            (json!([]), None),
            (json!([{ "url": "/v1" }]), None),
            (json!([{ "url": "https://{host}/v1" }]), None),
            (servers.clone(), Some("ftp://c.example")),
            (servers, Some("https://c.example/?a=b")),
        ] {
            assert!(of(&servers, setting).unwrap_err().contains("server"), "{servers} {setting:?}");
        }
    }

    #[test]
    fn variables_have_their_default_values() {
        let servers = json!([{ "url": "https://{host}/{base}", "variables":
            { "host": { "default": "a.example" }, "base": { "default": "v2" } } }]);
        assert_eq!(of(&servers, None).unwrap().base, "https://a.example/v2");
    }

    #[test]
    fn an_operation_can_have_a_server_of_its_own() {
        let document = of(&json!([{ "url": "https://a.example/v1" }]), None).unwrap();
        let own = json!({ "servers": [{ "url": "https://files.example/" }] });
        let relative = json!({ "servers": [{ "url": "/v2" }] });
        assert_eq!(document.url_for(&json!({}), &json!({ "servers": [] })).unwrap(), "https://a.example/v1");
        assert_eq!(document.url_for(&own, &json!({})).unwrap(), "https://files.example");
        assert_eq!(document.url_for(&own, &relative).unwrap(), "https://a.example/v2");
        let set = of(&json!([]), Some("https://c.example")).unwrap();
        assert!(set.url_for(&own, &json!({})).unwrap_err().contains("a server of its own"));
        let set = of(&json!([{ "url": "//files.example" }]), Some("https://c.example")).unwrap();
        assert_eq!(set.url_for(&own, &json!({})).unwrap(), "https://c.example");
    }
}
