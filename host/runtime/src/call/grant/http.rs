//! HTTP clients in a call.

use super::given::given;
use super::kind::{GrantKind, GrantingCall};
use super::narrow::{shown, wanted};
use super::reach::Reach;
use crate::call::rejection::Rejection;
use crate::catalog::Tool;
use crate::grants::Grant;
use crate::reply::Code;
use crate::valid_call::ValidCall;
use portcullis_policy::{DependencyKey, Destination, HttpRefusal, Unnamed};
use portcullis_sandbox::{Client, Handles};
use std::sync::Arc;

/// The safe methods of HTTP, RFC 9110 section 9.2.1.
const SAFE_METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

impl GrantKind for Client {
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        let client = narrowed(self, key, &call.approved.call, call.approved.by_a_person)?;
        handles.client_key(Arc::from(key.as_str()), Some(Arc::clone(self.binding())), Some(client));
        Ok(())
    }

    fn reach(&self, _tool: &Tool) -> Reach {
        let looks = |method: &String| SAFE_METHODS.contains(&method.as_str());
        Reach { writes: !self.binding().methods.iter().all(looks), leaves: true }
    }

    fn check(&self, key: &DependencyKey, call: &ValidCall) -> Result<(), Rejection> {
        narrowed(self, key, call, true).map(drop)
    }

    fn check_answerable(&self, key: &DependencyKey, call: &ValidCall) -> Result<(), Rejection> {
        narrowed(self, key, call, true)?.check_reachable().map_err(|why| {
            let message = format!("Not run: no approval can let {} connect with `{key}`: {why}.", call.tool.name());
            Rejection::new(Code::DependencyNotGranted, message)
        })
    }
}

/// Returns the client that a call gets. A host that the policy does not name needs an approval of this call.
fn narrowed(granted: &Client, key: &DependencyKey, call: &ValidCall, by_a_person: bool) -> Result<Client, Rejection> {
    let binding = granted.binding();
    let Some(url) = wanted(binding.narrow.as_ref(), key, call)? else { return Ok(granted.clone()) };
    let destination = Destination::from_url(url).map_err(|error| {
        let message = format!("The URL {} cannot be used: {error}. Correct it and call again.", shown(url));
        Rejection::new(Code::InvalidArguments, message)
    })?;
    // The client decides each request by its own method. Here, only the URL is checked, so any granted method will do.
    let method = binding.methods.first().map_or("GET", String::as_str);
    let asked = by_a_person && binding.unnamed == Unnamed::Ask && !binding.names(&destination);
    let covered: Result<(), HttpRefusal> = match asked {
        true => binding.covers_unnamed(method, &destination),
        false => binding.covers(method, &destination),
    };
    covered.map_err(|refusal| {
        let message = format!("The URL {} is not granted to `{key}`: {refusal}.", shown(url));
        Rejection::new(Code::DependencyNotGranted, message)
    })?;
    Ok(granted.narrowed(destination))
}

/// Returns why a call needs approval by its grants: its URL names a host that the policy does not name.
pub(in crate::call) fn unnamed_host(call: &ValidCall) -> Option<String> {
    call.plugin.dependencies.iter().find_map(|(key, dependency)| {
        let Some(Grant::Client(client)) = given(&call.plugin, &call.tool, key, dependency.kind) else {
            return None;
        };
        let binding = client.binding();
        if binding.unnamed != Unnamed::Ask {
            return None;
        }
        // An argument that names no usable URL is not asked about, because `narrowed` refuses its call.
        let url = wanted(binding.narrow.as_ref(), key, call).ok()??;
        let destination = Destination::from_url(url).ok().filter(|url| !binding.names(url))?;
        Some(format!("the policy does not name the host {}", destination.host()))
    })
}
