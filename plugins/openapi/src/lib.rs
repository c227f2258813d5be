//! The openapi plugin: the operations of an OpenAPI document become tools.
//!
//! At load: `settings`, `document` (text to references), `operation` and `parameter` (what a tool needs), `schema`,
//! `tool_name` and `definition` (the tool). At a call: `serialization` and `request`, then `response`. `list` is the
//! tool of the manifest.

mod definition;
mod document;
mod list;
mod operation;
mod parameter;
mod request;
mod response;
mod schema;
mod serialization;
mod settings;
mod text;
mod tool_name;

use std::io::Read as _;
use std::time::Duration;

use document::{DOCUMENT_BYTES_MAX, Document};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};

/// Maximum time of one exchange, to the last byte. A call has 30 s by default.
const EXCHANGE_TIME: Duration = Duration::from_secs(20);

struct OpenApi;

impl Generator for OpenApi {
    fn generate(context: &Context) -> Result<Vec<GeneratedTool>, Failure> {
        let document = load(context)?;
        settings::server(context, &document)?;
        let mut operations = operation::read(&document, &settings::prefix(context));
        Ok(definition::tools(&document, &mut operations))
    }

    fn execute(call: &GeneratedCall<'_>) -> Result<Success, Failure> {
        let context = call.context();
        let document = load(context)?;
        let operations = operation::read(&document, &settings::prefix(context));
        let operation = operations.tools.iter().find(|one| one.tool == call.tool());
        let operation = operation.ok_or_else(|| Failure::failed("the document no longer has this operation"))?;
        let arguments: Map<String, Value> = call.parse()?;
        let server = settings::server(context, &document)?;
        let request = request::build(&server, operation, &arguments)?.timeout(EXCHANGE_TIME);
        response::read(context.client("api")?.send(request)?)
    }
}

/// Reads the document from its directory.
#[expect(clippy::disallowed_methods, reason = "the path is below a directory that the host grants")]
fn load(context: &Context) -> Result<Document, Failure> {
    let name = settings::document_name(context)?;
    let path = context.directory("documents")?.path().join(&name);
    let failed = |error: std::io::Error| Failure::failed(format!("the document {name:?} cannot be read: {error}"));
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(DOCUMENT_BYTES_MAX as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    Document::parse(&text).map_err(Failure::failed)
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
