//! Narrows a grant to what the arguments name, so that the sandbox can do no more than the approver approved.

use super::given::given;
use crate::call::rejection::Rejection;
use crate::call::valid_call::ValidCall;
use crate::catalog::Tool;
use crate::grants::{BoundDirectory, Grant};
use crate::reply::Code;
use crate::text::{OneLine, WithCauses, cut};
use portcullis_policy::{DependencyKey, Destination, HttpRefusal, Permission, Pointer, Unnamed};
use portcullis_sandbox::{Client, Directory};
use serde_json::{Map, Value};

/// Maximum length of an argument that a message repeats, in bytes.
const SHOWN_BYTES_MAX: usize = 256;

/// Returns the directory that a call gets: the one that the policy binds, limited to the tool's permissions and to what
/// the arguments name.
pub(super) fn directory(bound: &BoundDirectory, key: &DependencyKey, call: &ValidCall) -> Result<Directory, Rejection> {
    let directory = permitted(bound, &call.tool);
    match wanted(bound.narrow.as_ref(), key, call)? {
        None => Ok(directory),
        Some(path) => directory.narrowed(path).map_err(|error| {
            let error = WithCauses(&error);
            let message = format!("The path {} cannot be granted from `{key}`: {error}.", shown(path));
            Rejection::new(Code::DependencyNotGranted, message)
        }),
    }
}

/// Returns the bound directory, limited to the tool's permissions.
pub(super) fn permitted(bound: &BoundDirectory, tool: &Tool) -> Directory {
    let writes = tool.permissions().contains(Permission::Write);
    if writes { bound.directory.clone() } else { bound.directory.read_only() }
}

/// Returns the client that a call gets. A host that the policy does not name needs an approval of this call.
pub(super) fn client(
    granted: &Client,
    key: &DependencyKey,
    call: &ValidCall,
    by_a_person: bool,
) -> Result<Client, Rejection> {
    let binding = granted.binding();
    let Some(url) = wanted(binding.narrow.as_ref(), key, call)? else { return Ok(granted.clone()) };
    let destination = Destination::from_url(url).map_err(|error| {
        let message = format!("The URL {} cannot be used: {error}. Correct it and call again.", shown(url));
        Rejection::new(Code::InvalidArguments, message)
    })?;
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
        let url = wanted(binding.narrow.as_ref(), key, call).ok()??;
        let destination = Destination::from_url(url).ok().filter(|url| !binding.names(url))?;
        Some(format!("the policy does not name the host {}", destination.host()))
    })
}

/// Returns what the arguments name. Returns none if the grant is not narrowed. Returns none also if the tool takes the
/// argument and the call omits it: an approval then covers the whole grant.
fn wanted<'a>(
    pointer: Option<&Pointer>,
    key: &DependencyKey,
    call: &'a ValidCall,
) -> Result<Option<&'a str>, Rejection> {
    let Some(pointer) = pointer else { return Ok(None) };
    if let Some(text) = pointer.text(&call.arguments) {
        return Ok(Some(text));
    }
    let absent = is_absent(pointer, &call.arguments) && call.tool.schema.declares(pointer.argument());
    if absent { Ok(None) } else { Err(not_named(pointer, key, call)) }
}

fn is_absent(pointer: &Pointer, arguments: &Map<String, Value>) -> bool {
    arguments.get(pointer.argument()).is_none_or(Value::is_null)
}

fn not_named(pointer: &Pointer, key: &DependencyKey, call: &ValidCall) -> Rejection {
    let message = format!(
        "The policy narrows `{key}` to what the argument {pointer} names, and this call of {} passes no text there.",
        call.tool.name
    );
    Rejection::new(Code::DependencyNotGranted, message)
}

/// Formats an argument for people and models, on one line and cut.
pub(super) fn shown(text: &str) -> String {
    OneLine(cut(text, SHOWN_BYTES_MAX)).to_string()
}
