//! The operations of a document: their parameters, their body and why some are skipped.

use portcullis_sdk::http::Method;
use portcullis_sdk::serde_json::Value;

use crate::document::Document;
use crate::parameter::{self, Parameter};
use crate::tool_name::ToolNames;

/// Maximum tools of one document: a host accepts 2000 generated tools of a plugin.
const TOOLS_MAX: usize = 1900;

/// Media types of a body, the preferred one first.
const MEDIA_TYPES: [&str; 3] = ["application/json", "application/x-www-form-urlencoded", "text/plain"];

/// The name of the tool in the manifest that lists the operations.
pub(crate) const OPERATIONS: &str = "operations";

const METHODS: [(&str, Method); 7] = [
    ("get", Method::Get),
    ("put", Method::Put),
    ("post", Method::Post),
    ("delete", Method::Delete),
    ("options", Method::Options),
    ("head", Method::Head),
    ("patch", Method::Patch),
];

/// An operation that becomes a tool.
#[derive(Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) tool: String,
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) value: &'a Value,
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) body: Option<RequestBody<'a>>,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) struct RequestBody<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) schema: Option<&'a Value>,
    pub(crate) is_required: bool,
}

/// An operation that does not become a tool.
#[derive(Debug)]
pub(crate) struct SkippedOperation {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// All operations of a document, in its order of paths.
#[derive(Debug, Default)]
pub(crate) struct Operations<'a> {
    pub(crate) tools: Vec<Operation<'a>>,
    pub(crate) skipped: Vec<SkippedOperation>,
}

/// Reads the operations. `prefix` begins the name of each tool.
pub(crate) fn read<'a>(document: &'a Document, prefix: &str) -> Operations<'a> {
    let mut operations = Operations::default();
    let mut names = ToolNames::new(&[OPERATIONS]);
    for (path, item) in document.member("paths").and_then(Value::as_object).into_iter().flatten() {
        let item = match document.resolve(item) {
            Ok(item) => item,
            Err(reason) => {
                operations.skipped.push(SkippedOperation { name: path.clone(), reason });
                continue;
            }
        };
        if item.get("trace").is_some() {
            let reason = "the method TRACE is not supported".to_owned();
            operations.skipped.push(SkippedOperation { name: format!("TRACE {path}"), reason });
        }
        for (keyword, method) in METHODS {
            let Some(value) = item.get(keyword) else { continue };
            let tool = match operations.tools.len() < TOOLS_MAX {
                true => operation(document, path, item, method, value),
                false => Err(format!("the document has more than {TOOLS_MAX} operations")),
            };
            match tool {
                Ok(mut operation) => {
                    let id = value.get("operationId").and_then(Value::as_str);
                    let id = id.map_or_else(|| format!("{keyword} {path}"), str::to_owned);
                    operation.tool = names.take(&format!("{prefix}{id}"));
                    operations.tools.push(operation);
                }
                Err(reason) => {
                    let name = format!("{} {path}", method.name());
                    operations.skipped.push(SkippedOperation { name, reason });
                }
            }
        }
    }
    operations
}

fn operation<'a>(
    document: &'a Document,
    path: &'a str,
    item: &'a Value,
    method: Method,
    value: &'a Value,
) -> Result<Operation<'a>, String> {
    if !path.starts_with('/') {
        return Err("its path does not begin with `/`".to_owned());
    }
    let parameters = parameter::read(document, path, item, value)?;
    let body = body(document, value)?;
    Ok(Operation { tool: String::new(), method, path, value, parameters, body })
}

fn body<'a>(document: &'a Document, operation: &'a Value) -> Result<Option<RequestBody<'a>>, String> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = document.resolve(body)?;
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let Some(content) = body.get("content").and_then(Value::as_object).filter(|content| !content.is_empty()) else {
        return if is_required { Err("its required body has no media type".to_owned()) } else { Ok(None) };
    };
    let preferred = |wanted: &str| content.iter().find(|(name, _)| essence(name) == wanted);
    let is_json = |name: &str| essence(name).ends_with("+json");
    let chosen = MEDIA_TYPES.into_iter().find_map(preferred);
    let chosen = chosen.or_else(|| content.iter().find(|(name, _)| is_json(name)));
    let Some((media_type, media)) = chosen else {
        let names: Vec<&str> = content.keys().map(String::as_str).collect();
        return if is_required { Err(format!("its body is only {}", names.join(", "))) } else { Ok(None) };
    };
    if media_type.contains(['\r', '\n', '\0']) {
        return Err("its media type has control characters".to_owned());
    }
    Ok(Some(RequestBody { media_type, schema: media.get("schema"), is_required }))
}

/// Returns a media type in lower case, without its parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
