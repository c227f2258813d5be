//! Where a `tools/call` leads: to the tool that it names, or by way of the short list to another, or to a search.
//! Everything behind this sees a call of a tool by its name, and cannot tell how it came.

use super::loading;
use super::short::{CALL, FOUND_DEFAULT, FOUND_MAX, SEARCH};
use crate::options::ListTools;
use crate::server::Server;
use portcullis::text::OneLine;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

/// The longest of what is said of wrong arguments, in bytes.
const PROBLEM_BYTES_MAX: usize = 256;

/// Where a call leads.
pub(crate) enum Route {
    /// To the tool that this names.
    Call(CallToolRequestParams),
    /// It is answered already.
    Answered(CallToolResult),
}

/// What a search takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    #[serde(default = "found_default")]
    limit: u8,
}

/// What a call by way of the short list takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
}

fn found_default() -> u8 {
    FOUND_DEFAULT
}

impl Route {
    /// Where a call leads, for a client of this era. Without a short list the two names mean nothing.
    pub(crate) async fn of(server: &Server, params: CallToolRequestParams, legacy: bool) -> Self {
        match (server.inner().options.list_tools, short_name(&params.name)) {
            (ListTools::All, _) | (ListTools::Search, None) => Self::Call(params),
            (ListTools::Search, Some(Short::Search)) => Self::Answered(
                search(server, params.arguments, legacy).await.unwrap_or_else(|problem| refused(&problem)),
            ),
            (ListTools::Search, Some(Short::Call)) => {
                call(server, params).map_or_else(|problem| Self::Answered(refused(&problem)), Self::Call)
            }
        }
    }
}

/// One of the two tools.
enum Short {
    Search,
    Call,
}

/// Which of the two a name means. They have a full name with a dot too, as every tool has.
fn short_name(name: &str) -> Option<Short> {
    match name {
        SEARCH | "tools.search" => Some(Short::Search),
        CALL | "tools.call" => Some(Short::Call),
        _ => None,
    }
}

/// The same call, of the tool itself. What else the request says, such as who wants to hear of its progress or which
/// question it answers, stays as it is.
fn call(server: &Server, mut params: CallToolRequestParams) -> Result<CallToolRequestParams, String> {
    let Call { name, arguments } = read(CALL, params.arguments.take())?;
    if short_name(&name).is_some() {
        return Err(format!("{CALL} calls other tools, and neither itself nor {SEARCH}: call that one as it is"));
    }
    let is_listed = || server.listing().find(&name).is_some();
    // In this order, so that a plugin which becomes ready meanwhile is found.
    if !is_listed() && loading::tool(server, &name).is_none() && !is_listed() {
        return Err(format!("there is no tool of this name; {SEARCH} gives the names that there are"));
    }
    params.name = name.into();
    params.arguments = Some(arguments);
    Ok(params)
}

async fn search(server: &Server, arguments: Option<JsonObject>, legacy: bool) -> Result<CallToolResult, String> {
    let Search { query, limit } = read(SEARCH, arguments)?;
    if !(1..=FOUND_MAX).contains(&limit) {
        return Err(format!("limit is from 1 to {FOUND_MAX}"));
    }
    let listing = server.listing();
    // The first search of a catalog makes its index.
    let found = spawn_blocking(move || {
        let found = listing.search(&query, usize::from(limit)).into_iter();
        found.filter_map(|listed| serde_json::to_value(listed.definition(legacy)).ok()).collect::<Vec<Value>>()
    });
    let found = found.await.map_err(|_| "the search broke".to_owned())?;
    let nothing = found.is_empty();
    let mut answer = json!({ "tools": found });
    if nothing {
        answer["note"] = "No tool has any of these words: try others, or the name of a plugin.".into();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_string())]);
    result.structured_content = Some(answer);
    Ok(result)
}

/// The arguments of one of the two tools. What is wrong with them is told in words, which hold the client's own.
fn read<T: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        let mut problem = OneLine(&error.to_string()).to_string();
        problem.truncate(problem.floor_char_boundary(PROBLEM_BYTES_MAX));
        format!("the arguments of {tool} are not as its schema says: {problem}")
    })
}

/// A result that tells a model what would help, as a refused call of any tool does.
fn refused(problem: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(problem.to_owned())])
}
