//! Reviews a call before it runs: a host that the policy does not name needs approval, and a call that the policy gives
//! no client is refused before an approver reads it.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;

use crate::fetch::Fetch;
use crate::search::{self, Settings};

/// Reviews a call.
pub(crate) fn review(call: &Review) -> Verdict {
    let verdict = match call.tool() {
        "search" => review_search(call),
        _ => review_fetch(call),
    };
    verdict.unwrap_or_else(|failure| Verdict::refuse(failure.text()))
}

fn review_fetch(call: &Review) -> Result<Verdict, Failure> {
    let Fetch { url, .. } = call.parse()?;
    let url = Url::parse(&url)?;
    match call.names_host("fetch", &url.to_string()) {
        Ok(true) => Ok(Verdict::Clear),
        Ok(false) => Ok(Verdict::ask(format!("the policy does not name the host {}", url.host()))),
        Err(_) => Err(Failure::denied(format!(
            "the client `http.fetch` is missing. Ask the user to add to the policy, under [plugin.web]: `http.fetch = {{ \
             hosts = [\"{}\"], narrow = \"/url\", unnamed = \"ask\" }}`",
            url.host()
        ))),
    }
}

fn review_search(call: &Review) -> Result<Verdict, Failure> {
    let settings = Settings::of(|key| call.setting(key))?;
    match call.names_host(search::KEY, &settings.url.to_string()) {
        Ok(true) => Ok(Verdict::Clear),
        Ok(false) => Err(settings.not_named()),
        Err(_) => Err(settings.not_bound()),
    }
}
