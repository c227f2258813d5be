//! Routes a `tools/call`: to the tool that it names, through `tools__call` to another tool, or to a search. Later
//! stages see a call of a tool by name, and cannot tell the two ways apart.

use super::loading;
use super::short::{CALL, FOUND_DEFAULT, FOUND_MAX, SEARCH};
use crate::offered;
use crate::options::ListTools;
use crate::server::Server;
use portcullis::text::OneLine;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

/// Maximum length of a problem with the arguments, in bytes.
const PROBLEM_BYTES_MAX: usize = 256;

/// The route of a call.
pub(crate) enum Route {
    /// A call of the tool that this names.
    Call(CallToolRequestParams),
    /// A call that is already answered.
    Answered(CallToolResult),
}

/// The arguments of `tools__search`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutedSearch {
    query: String,
    #[serde(default = "found_default")]
    limit: u8,
}

/// The arguments of `tools__call`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutedCall {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
}

fn found_default() -> u8 {
    FOUND_DEFAULT
}

impl Route {
    /// Routes a call of a client of this era. Without a short list, the two names are unknown tools.
    pub(crate) async fn of(
        server: &Server,
        params: CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
        legacy: bool,
    ) -> Self {
        match (server.inner().options.list_tools, short_name(&params.name)) {
            (ListTools::All, _) | (ListTools::Search, None) => Self::Call(params),
            // Boxed, because the future of every call would have its size.
            (ListTools::Search, Some(ShortName::Search)) => Self::Answered(
                Box::pin(search(server, params.arguments, cx, legacy))
                    .await
                    .unwrap_or_else(|problem| refused(&problem)),
            ),
            (ListTools::Search, Some(ShortName::Call)) => {
                call(server, params, cx).await.map_or_else(|problem| Self::Answered(refused(&problem)), Self::Call)
            }
        }
    }
}

/// One of the two tools of the short list.
pub(crate) enum ShortName {
    /// The tool that finds others.
    Search,
    /// The tool that calls others.
    Call,
}

/// Returns which of the two tools a name means. Like every tool, they also have a full name with a dot.
pub(crate) fn short_name(name: &str) -> Option<ShortName> {
    match name {
        SEARCH | "tools.search" => Some(ShortName::Search),
        CALL | "tools.call" => Some(ShortName::Call),
        _ => None,
    }
}

/// Converts a call of `tools__call` to a call of the tool itself. The rest of the request, such as its progress token
/// and its request state, is unchanged.
async fn call(
    server: &Server,
    mut params: CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Result<CallToolRequestParams, String> {
    let RoutedCall { name, arguments } = read(CALL, params.arguments.take())?;
    if short_name(&name).is_some() {
        return Err(format!("{CALL} cannot call itself or {SEARCH}; call {SEARCH} directly"));
    }
    let is_listed = async || loading::find(server, &server.listing(), &name, cx).await.is_some();
    // The listing is checked again last, so that a plugin which became ready between the checks is found.
    if !is_listed().await && loading::tool(server, &name).is_none() && !is_listed().await {
        return Err(format!("there is no tool with this name; use {SEARCH} to find the exact name"));
    }
    params.name = name.into();
    params.arguments = Some(arguments);
    Ok(params)
}

async fn search(
    server: &Server,
    arguments: Option<JsonObject>,
    cx: &RequestContext<RoleServer>,
    legacy: bool,
) -> Result<CallToolResult, String> {
    let RoutedSearch { query, limit } = read(SEARCH, arguments)?;
    if !(1..=FOUND_MAX).contains(&limit) {
        return Err(format!("limit must be from 1 to {FOUND_MAX}"));
    }
    // The listing comes last, so that it has every plugin whose offer is known.
    let offered = offered::of(server, cx).await;
    let listing = server.listing();
    // The first search of a catalog builds its index, which takes too long for an async task.
    let found = spawn_blocking(move || {
        let found = listing.search(&query, usize::from(limit), &offered).into_iter();
        let definitions = found.map(|listed| listed.definition_in(&offered, legacy));
        definitions.filter_map(|definition| serde_json::to_value(definition).ok()).collect::<Vec<Value>>()
    });
    let found = found.await.map_err(|_| "the search failed; try again".to_owned())?;
    let nothing = found.is_empty();
    let mut answer = json!({ "tools": found });
    if nothing {
        answer["note"] = "No tool matches these words. Try other words, or the name of a plugin.".into();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_string())]);
    result.structured_content = Some(answer);
    Ok(result)
}

/// Parses the arguments of one of the two tools. The error message may quote the client's text, so it is encoded.
fn read<T: DeserializeOwned>(tool: &str, arguments: Option<JsonObject>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        let mut problem = OneLine(&error.to_string()).to_string();
        problem.truncate(problem.floor_char_boundary(PROBLEM_BYTES_MAX));
        format!("the arguments of {tool} do not match its schema: {problem}")
    })
}

/// Returns an error result that tells a model what to do, as a refused call of any tool does.
fn refused(problem: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(problem.to_owned())])
}
