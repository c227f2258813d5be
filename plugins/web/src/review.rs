//! Reviews a call before it runs: a host that the policy does not name needs approval.

use portcullis_sdk::http::Url;
use portcullis_sdk::prelude::*;

use crate::fetch::Fetch;

/// Reviews a call.
pub(crate) fn review(call: &Review) -> Verdict {
    let opinion = || {
        let Fetch { url, .. } = call.parse()?;
        let url = Url::parse(&url)?;
        Ok(match call.names_host("fetch", &url.to_string())? {
            true => Verdict::Clear,
            false => Verdict::ask(format!("the policy does not name the host {}", url.host())),
        })
    };
    opinion().unwrap_or_else(|failure: Failure| Verdict::refuse(failure.text()))
}
