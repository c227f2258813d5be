//! Runs an errand with `wasi:http` directly.

use std::collections::BTreeMap;
use std::mem;

use portcullis_sdk::guest::v0_2::bindings::portcullis::tool::dependencies::{self, Client};
use portcullis_sdk::guest::v0_2::bindings::wasi::http::outgoing_handler;
use portcullis_sdk::guest::v0_2::bindings::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme, http_error_code,
};
use portcullis_sdk::guest::v0_2::bindings::wasi::io::streams::{InputStream, StreamError};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

use crate::errand::Errand;

/// Maximum length of one read.
const PIECE: u64 = 64 * 1024;

/// Maximum length of one write to a stream.
const WRITE: usize = 4096;

/// The sending interface.
enum Sender {
    Default,
    Client(Client),
}

/// The result of one request, as JSON.
type Outcome = Map<String, Value>;

/// Runs an errand as often as it says. Returns the complete result of the last run, and counts the others.
pub(crate) fn run(errand: &Errand) -> Value {
    match errand.op.as_str() {
        "open" => match dependencies::open_client(&errand.client) {
            Ok(_) => json!({"ok": true}),
            Err(error) => json!({"error": error.name()}),
        },
        "has-secret" => match dependencies::open_client(&errand.client) {
            Ok(client) => json!({"ok": client.has_secret()}),
            Err(error) => json!({"error": error.name()}),
        },
        "names-host" => {
            let url = errand.authority.as_deref().unwrap_or_default();
            match dependencies::names_host(&errand.client, url) {
                Ok(named) => json!({"ok": named}),
                Err(error) => json!({"error": error.name()}),
            }
        }
        "say" => json!({"said": errand.authority}),
        "send" => send(errand),
        _ => json!({"error": "no such operation"}),
    }
}

fn send(errand: &Errand) -> Value {
    let sender = match errand.client.as_str() {
        "default" => Sender::Default,
        key => match dependencies::open_client(key) {
            Ok(client) => Sender::Client(client),
            Err(error) => return json!({"at": "open", "error": error.name()}),
        },
    };
    let mut counts = BTreeMap::new();
    let mut last = Outcome::new();
    let mut count = |outcome: Outcome| {
        let key = outcome.get("error").or_else(|| outcome.get("status")).map(Value::to_string).unwrap_or_default();
        *counts.entry(key.trim_matches('"').to_owned()).or_insert(0_u32) += 1;
        last = outcome;
    };
    if errand.together {
        let begun: Vec<_> = (0..errand.times).map(|_| begin(errand, &sender, &Target::of(errand))).collect();
        begun.into_iter().for_each(|begun| count(finish(errand, &sender, begun).0));
    } else {
        (0..errand.times).for_each(|_| count(follow(errand, &sender)));
    }
    if errand.times > 1 { json!({"counts": counts, "last": last}) } else { Value::Object(last) }
}

/// The destination of a request, as unchecked text.
struct Target {
    scheme: String,
    authority: Option<String>,
    path: Option<String>,
}

impl Target {
    fn of(errand: &Errand) -> Self {
        Self { scheme: errand.scheme.clone(), authority: errand.authority.clone(), path: errand.path.clone() }
    }

    /// Parses the target of a redirect, as carelessly as a bad library.
    fn next(&self, location: &str) -> Self {
        let Some((scheme, rest)) = location.split_once("://") else {
            let (scheme, authority) = (self.scheme.clone(), self.authority.clone());
            return Self { scheme, authority, path: Some(location.to_owned()) };
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        Self { scheme: scheme.to_owned(), authority: Some(authority.to_owned()), path: Some(path.to_owned()) }
    }
}

fn follow(errand: &Errand, sender: &Sender) -> Outcome {
    let mut target = Target::of(errand);
    let mut hops = Vec::new();
    loop {
        let (mut outcome, location) = finish(errand, sender, begin(errand, sender, &target));
        match location {
            Some(location) if hops.len() < errand.follow as usize => {
                hops.push(json!(location));
                target = target.next(&location);
            }
            _ => {
                outcome.insert("hops".to_owned(), Value::Array(hops));
                return outcome;
            }
        }
    }
}

/// A request in flight: the result of sending its body, and its future response.
struct Begun {
    written: Option<String>,
    response: FutureIncomingResponse,
}

fn begin(errand: &Errand, sender: &Sender, target: &Target) -> Result<Begun, (&'static str, String)> {
    let request = request(errand, target)?;
    let options = options(errand)?;
    let body = request.body().map_err(|()| ("body", "refused".to_owned()))?;
    let sent = match sender {
        Sender::Default => outgoing_handler::handle(request, Some(options)),
        Sender::Client(client) => client.send(request, Some(options)),
    };
    let response = sent.map_err(|error| ("handle", code(&error)))?;
    let written = write(errand, body).err();
    Ok(Begun { written, response })
}

fn request(errand: &Errand, target: &Target) -> Result<OutgoingRequest, (&'static str, String)> {
    let refused = |what: &'static str| move |()| (what, "refused".to_owned());
    let request = OutgoingRequest::new(fields(&errand.headers).map_err(|error| ("headers", error))?);
    request.set_method(&method(&errand.method)).map_err(refused("method"))?;
    request.set_scheme(scheme(&target.scheme).as_ref()).map_err(refused("scheme"))?;
    request.set_authority(target.authority.as_deref()).map_err(refused("authority"))?;
    request.set_path_with_query(target.path.as_deref()).map_err(refused("path"))?;
    Ok(request)
}

fn options(errand: &Errand) -> Result<RequestOptions, (&'static str, String)> {
    let refused = |()| ("options", "refused".to_owned());
    let options = RequestOptions::new();
    options.set_connect_timeout(errand.connect).map_err(refused)?;
    options.set_first_byte_timeout(errand.first_byte).map_err(refused)?;
    options.set_between_bytes_timeout(errand.between_bytes).map_err(refused)?;
    Ok(options)
}

fn write(errand: &Errand, body: OutgoingBody) -> Result<(), String> {
    if let Some(text) = &errand.body {
        let bytes = bytes(text).repeat(errand.copies as usize);
        let stream = body.write().map_err(|()| "no stream".to_owned())?;
        for piece in bytes.chunks(WRITE) {
            stream.blocking_write_and_flush(piece).map_err(|error| stream_error(&error))?;
        }
    }
    let trailers = if errand.trailers.is_empty() { None } else { Some(fields(&errand.trailers)?) };
    OutgoingBody::finish(body, trailers).map_err(|error| code(&error))
}

/// The response, and the target of a redirect.
fn finish(errand: &Errand, sender: &Sender, begun: Result<Begun, (&'static str, String)>) -> (Outcome, Option<String>) {
    let mut outcome = Outcome::new();
    let mut say = |key: &str, value: Value| drop(outcome.insert(key.to_owned(), value));
    let mut location = None;
    match begun {
        Err((at, error)) => {
            say("at", json!(at));
            say("error", json!(error));
        }
        Ok(Begun { written, response }) => {
            say("written", json!(written));
            match wait(&response) {
                Err(error) => {
                    say("at", json!("response"));
                    say("error", json!(error));
                }
                Ok(response) => location = tell(errand, response, &mut say),
            }
        }
    }
    if let Sender::Client(client) = sender {
        say("refusal", json!(client.refusal()));
    }
    (outcome, location)
}

fn wait(response: &FutureIncomingResponse) -> Result<IncomingResponse, String> {
    loop {
        match response.get() {
            Some(Ok(Ok(response))) => return Ok(response),
            Some(Ok(Err(error))) => return Err(code(&error)),
            Some(Err(())) => return Err("taken".to_owned()),
            None => response.subscribe().block(),
        }
    }
}

fn tell(errand: &Errand, response: IncomingResponse, say: &mut impl FnMut(&str, Value)) -> Option<String> {
    say("status", json!(response.status()));
    let headers = response.headers();
    let entries = headers.entries();
    say("headers", shown(errand, &entries));
    let location = headers.get("location").first().map(|value| String::from_utf8_lossy(value).into_owned());
    drop(headers);
    let Ok(body) = response.consume() else {
        say("error", json!("no body"));
        return None;
    };
    let Ok(stream) = body.stream() else {
        say("error", json!("no stream"));
        return None;
    };
    let (bytes, count, error) = read(errand, &stream);
    say("body", json!(text(errand, &bytes)));
    say("bytes", json!(count));
    if let Some(error) = error {
        say("at", json!("body"));
        say("error", json!(error));
    }
    if errand.keep {
        mem::forget((response, stream, body));
    } else {
        drop(stream);
        if errand.read.is_none() {
            say("trailers", trailers(errand, body));
        }
    }
    location
}

/// Reads, and keeps the part to show.
fn read(errand: &Errand, stream: &InputStream) -> (Vec<u8>, u64, Option<String>) {
    let (mut kept, mut count) = (Vec::new(), 0);
    let limit = errand.read.unwrap_or(u64::MAX);
    while count < limit {
        match stream.blocking_read(PIECE.min(limit - count)) {
            Ok(piece) => {
                count += piece.len() as u64;
                let room = errand.show.saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Err(StreamError::Closed) => return (kept, count, None),
            Err(error) => return (kept, count, Some(stream_error(&error))),
        }
    }
    (kept, count, None)
}

fn trailers(errand: &Errand, body: IncomingBody) -> Value {
    let trailers = IncomingBody::finish(body);
    loop {
        match trailers.get() {
            Some(Ok(Ok(Some(fields)))) => return shown(errand, &fields.entries()),
            Some(Ok(Ok(None)) | Err(())) => return Value::Null,
            Some(Ok(Err(error))) => return json!(code(&error)),
            None => trailers.subscribe().block(),
        }
    }
}

fn shown(errand: &Errand, entries: &[(String, Vec<u8>)]) -> Value {
    entries.iter().map(|(name, value)| json!([text(errand, name.as_bytes()), text(errand, value)])).collect()
}

/// Returns the received bytes, plain or encoded.
fn text(errand: &Errand, bytes: &[u8]) -> String {
    if errand.veil {
        bytes.iter().map(|byte| format!("{:02x}", !byte)).collect()
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

fn fields(entries: &[[String; 2]]) -> Result<Fields, String> {
    let entries: Vec<_> = entries.iter().map(|[name, value]| (name.clone(), bytes(value))).collect();
    Fields::from_list(&entries).map_err(|error| format!("{error:?}"))
}

/// Converts each character to a byte.
fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn scheme(name: &str) -> Option<Scheme> {
    match name {
        "" => None,
        "http" => Some(Scheme::Http),
        "https" => Some(Scheme::Https),
        other => Some(Scheme::Other(other.to_owned())),
    }
}

fn code(error: &ErrorCode) -> String {
    let text = format!("{error:?}");
    text.strip_prefix("ErrorCode::").unwrap_or(&text).to_owned()
}

fn stream_error(error: &StreamError) -> String {
    match error {
        StreamError::Closed => "closed".to_owned(),
        StreamError::LastOperationFailed(error) => {
            http_error_code(error).map_or_else(|| error.to_debug_string(), |error| code(&error))
        }
    }
}
