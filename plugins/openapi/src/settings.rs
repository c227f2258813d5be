//! The settings of the policy.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use crate::document::Document;

/// Returns the name of the document in its directory. It is one name, not a path.
pub(crate) fn document_name(context: &Context) -> Result<String, Failure> {
    let name = context.setting("document").ok_or_else(|| refusal("the setting `document` is missing"))?;
    if name.is_empty() || name.contains(['/', '\\', '\0']) || name == ".." {
        return Err(refusal("the setting `document` must be the name of a file in `documents`"));
    }
    Ok(name)
}

/// Returns the prefix of the tool names.
pub(crate) fn prefix(context: &Context) -> String {
    context.setting("prefix").unwrap_or_default()
}

/// Returns the URL of the server: the setting, or the first server of the document.
pub(crate) fn server(context: &Context, document: &Document) -> Result<String, Failure> {
    let first = document.member("servers").and_then(|servers| servers.get(0));
    let first = first.and_then(|server| server.get("url")).and_then(Value::as_str);
    let url = context.setting("server").or_else(|| first.map(str::to_owned)).unwrap_or_default();
    if url.contains(['{', '?', '#']) || Url::parse(&url).is_err() {
        return Err(refusal("the document has no absolute URL of a server. Set `server`"));
    }
    Ok(url)
}

fn refusal(what: &str) -> Failure {
    Failure::denied(format!("{what}. Ask the user to correct it in the policy, under [plugin.openapi.config]."))
}
