//! The openapi plugin: the operations of an OpenAPI document become tools.
//!
//! At load: `settings`, `document` (text to references), `operation` (what a tool needs), `definition` (the tool).
//! At a call: `operation` again, `request_digest` (is it what was accepted?), `request`, `response`. `list` is the tool
//! of the manifest.

mod settings;

mod document;
mod document_part;

mod body;
mod operation;
mod parameter;
mod selection;
mod server;
mod tool_name;

mod definition;
mod request_digest;
mod schema;
mod text;

mod request;
mod serialization;

mod response;

mod list;

use std::time::Duration;

use document::{Document, DocumentUse};
use operation::Operation;
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};
use settings::Settings;

/// Maximum time of one exchange, to the last byte. A call has 30 s by default.
const EXCHANGE_TIME: Duration = Duration::from_secs(20);

struct OpenApi;

impl Generator for OpenApi {
    fn generate(context: &Context) -> Result<Vec<GeneratedTool>, Failure> {
        if context.setting("document").is_none() {
            // The plugin is installed, but not used.
            return Ok(Vec::new());
        }
        let settings = Settings::read(context)?;
        let document = Document::load(context, &settings, DocumentUse::Definitions)?;
        let mut operations = operation::read(&document, &settings).map_err(Failure::failed)?;
        definition::tools(&document, &mut operations).map_err(Failure::failed)
    }

    fn execute(call: &GeneratedCall<'_>) -> Result<Success, Failure> {
        let context = call.context();
        let settings = Settings::read(context)?;
        let document = Document::load(context, &settings, DocumentUse::Request)?;
        let operations = operation::read(&document, &settings).map_err(Failure::failed)?;
        let operation = operations.tools.iter().find(|one| one.tool == call.tool());
        let operation = operation.filter(|one| is_accepted(one, call)).ok_or_else(changed)?;
        let arguments: Map<String, Value> = call.parse()?;
        let request = request::build(operation, &arguments)?.timeout(EXCHANGE_TIME);
        response::read(context.client("api")?.send(request)?)
    }
}

/// Returns whether the document still describes the request that the operator has accepted.
fn is_accepted(operation: &Operation<'_>, call: &GeneratedCall<'_>) -> bool {
    let accepted = call.accepted_schema();
    let digest = accepted.as_ref().and_then(|schema| schema.get("$comment")).and_then(Value::as_str);
    digest == Some(request_digest::of(operation).as_str())
}

fn changed() -> Failure {
    Failure::denied(
        "Nothing was sent: the OpenAPI document has changed since the operator accepted its tools. Ask the user to \
         review the change with `portcullis accept openapi`.",
    )
}

plugin! {
    name: "openapi",
    description: "Calls the operations of an OpenAPI document.",
    tools: [list::operations],
    dependencies: [
        directory "documents": "the file of the OpenAPI document",
        http "api": "the server of the API",
    ],
    generator: OpenApi,
}
