//! The operations of a document: their server, parameters and body, and why some are skipped.

use portcullis_sdk::http::Method;
use portcullis_sdk::serde_json::Value;

use crate::body::RequestBody;
use crate::document::Document;
use crate::parameter::{self, Parameter, SecurityKey};
use crate::selection::{Candidate, Selection};
use crate::server::Server;
use crate::settings::Settings;
use crate::tool_name::ToolNames;

/// Maximum tools of one document: a host accepts no more generated tools of a plugin.
const TOOLS_MAX: usize = 2000;

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
    /// The URL of its server, without `/` at its end.
    pub(crate) server: String,
    pub(crate) value: &'a Value,
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) body: Option<RequestBody<'a>>,
}

/// An operation that does not become a tool.
#[derive(Debug)]
pub(crate) struct SkippedOperation {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// All operations of a document, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Operations<'a> {
    pub(crate) tools: Vec<Operation<'a>>,
    pub(crate) skipped: Vec<SkippedOperation>,
    /// How many the settings do not select.
    pub(crate) unselected_count: usize,
}

/// Reads the operations that the settings select.
pub(crate) fn read<'a>(document: &'a Document, settings: &Settings) -> Result<Operations<'a>, String> {
    let server = Server::of_document(settings.server.as_deref(), document)?;
    let mut reader = OperationReader {
        document,
        server,
        security: parameter::security_keys(document),
        prefix: &settings.prefix,
        selection: settings.selection.clone(),
        names: ToolNames::new(&[OPERATIONS]),
        operations: Operations::default(),
    };
    for (path, item) in document.member("paths").and_then(Value::as_object).into_iter().flatten() {
        reader.read_path(path, item);
    }
    reader.selection.check()?;
    let count = reader.operations.tools.len();
    if count > TOOLS_MAX {
        return Err(format!(
            "the document has {count} operations, but a plugin can make at most {TOOLS_MAX} tools: select some with \
             the settings `tags`, `paths`, `operations` or `methods`"
        ));
    }
    Ok(reader.operations)
}

struct OperationReader<'a, 's> {
    document: &'a Document,
    server: Server,
    security: Vec<SecurityKey<'a>>,
    prefix: &'s str,
    selection: Selection,
    names: ToolNames,
    operations: Operations<'a>,
}

impl<'a> OperationReader<'a, '_> {
    fn read_path(&mut self, path: &'a str, item: &'a Value) {
        let item = match self.document.resolve(item) {
            Ok(item) => item,
            Err(reason) => return self.skip(path.to_owned(), reason),
        };
        if let Some(value) = item.get("trace")
            && self.is_selected("trace", path, value)
        {
            self.skip(format!("TRACE {path}"), "the method TRACE is not supported".to_owned());
        }
        for (keyword, method) in METHODS {
            let Some(value) = item.get(keyword).filter(|value| self.is_selected(keyword, path, value)) else {
                continue;
            };
            match self.operation(path, item, method, value) {
                Ok(mut operation) => {
                    let id = value.get("operationId").and_then(Value::as_str).filter(|id| !id.is_empty());
                    let id = id.map_or_else(|| format!("{keyword} {path}"), str::to_owned);
                    operation.tool = self.names.take(&format!("{}{id}", self.prefix));
                    self.operations.tools.push(operation);
                }
                Err(reason) => self.skip(format!("{} {path}", method.name()), reason),
            }
        }
    }

    fn skip(&mut self, name: String, reason: String) {
        self.operations.skipped.push(SkippedOperation { name, reason });
    }

    fn is_selected(&mut self, method: &str, path: &str, value: &Value) -> bool {
        let tags = value.get("tags").and_then(Value::as_array).into_iter().flatten();
        let tags: Vec<&str> = tags.filter_map(Value::as_str).collect();
        let id = value.get("operationId").and_then(Value::as_str);
        let is_selected = self.selection.select(Candidate { method, path, id, tags: &tags });
        self.operations.unselected_count += usize::from(!is_selected);
        is_selected
    }

    fn operation(
        &self,
        path: &'a str,
        item: &'a Value,
        method: Method,
        value: &'a Value,
    ) -> Result<Operation<'a>, String> {
        if !path.starts_with('/') {
            return Err("its path does not begin with `/`".to_owned());
        }
        if let Some(character) = path.chars().find(|character| character.is_control() || "#\\".contains(*character)) {
            return Err(format!("its path contains {character:?}, which no request can have"));
        }
        let parameters = parameter::read(self.document, path, item, value, &self.security)?;
        let body = RequestBody::read(self.document, value)?;
        let server = self.server.url_for(item, value)?;
        Ok(Operation { tool: String::new(), method, path, server, value, parameters, body })
    }
}
