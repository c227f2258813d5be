//! `portcullis list --tokens`: estimates the tokens of each tool definition, and those of the short list of
//! `serve --search`.

use super::super::Context;
use super::listed::ListedTools;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use portcullis::plugins::{Catalog, Offer};
use portcullis::{Host, estimate_tokens};
use portcullis_mcp::short_list;
use portcullis_providers::{Definitions, Format};
use serde::Serialize;
use serde_json::{Value, json};

/// The default number of tools that a search finds.
const FOUND: u64 = 5;

/// The estimated tokens of a host's tools.
#[derive(Serialize)]
struct Costs {
    /// The tools, by full name.
    tools: Vec<TokenCost>,
    /// The sum of all tools.
    tokens: u64,
    search: ShortListCost,
}

#[derive(Serialize)]
struct TokenCost {
    name: String,
    tokens: u64,
}

/// The cost of the tools with the short list.
#[derive(Serialize)]
struct ShortListCost {
    /// The tokens at the start: the two tools of the short list with their index, and the host's own tools.
    tokens: u64,
    /// How many tools a search finds.
    found: u64,
    /// The tokens of a search result with that many tools of average size.
    found_tokens: u64,
}

/// Prints the costs.
pub(super) fn show(host: &Host, listed: &ListedTools, context: &Context) -> anyhow::Result<Exit> {
    let costs = costs(&host.catalog(), listed)?;
    if context.json {
        context.terminal.print(&json::document(DocumentKind::ToolTokens, &costs)?)?;
    } else {
        context.terminal.show(&text(&costs, context))?;
    }
    Ok(Exit::Completed)
}

fn costs(catalog: &Catalog, listed: &ListedTools) -> anyhow::Result<Costs> {
    let offers: Vec<Offer> = catalog.offers().filter_map(|offer| listed.offered.narrow(offer)).collect();
    let exported = Definitions::of(offers.clone())?.export(Format::OpenAiChat).tools;
    let exported = exported.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut tools = Vec::with_capacity(offers.len());
    let (mut own, mut others, mut count) = (0, 0, 0);
    for (offer, definition) in offers.iter().zip(exported) {
        let tokens = estimate_tokens(&definition.to_string());
        if offer.plugin.is_standard() {
            own += tokens;
        } else {
            (others, count) = (others + tokens, count + 1);
        }
        tools.push(TokenCost { name: offer.tool.name().to_string(), tokens });
    }
    // Count all tools, including those that the policy denies.
    let short: u64 = short_list(catalog, |plugin, tool| listed.offered.contains(plugin, tool))
        .iter()
        .map(|tool| {
            let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            estimate_tokens(&Value::to_string(&json!({ "type": "function", "function": function })))
        })
        .sum();
    let found = FOUND.min(count);
    let found_tokens = (others * found).div_ceil(count.max(1));
    Ok(Costs { tools, tokens: own + others, search: ShortListCost { tokens: own + short, found, found_tokens } })
}

fn text(costs: &Costs, context: &Context) -> String {
    let style = context.terminal.style();
    let mut table = Table::default();
    table.row([TableCell::new(TextStyle::Quiet, "TOOL"), TableCell::new(TextStyle::Quiet, "TOKENS, ABOUT")]);
    for cost in &costs.tools {
        table.row([TableCell::new(TextStyle::Strong, &cost.name), TableCell::plain(&cost.tokens.to_string())]);
    }
    let mut text = table.render(style, "", context.terminal.width());
    let ShortListCost { tokens, found, found_tokens } = &costs.search;
    text.push_str(&format!(
        "\nA model with all of these tools reads about {} tokens in every turn.\n\
         With `portcullis serve --search` it reads about {tokens} in every turn, and about {found_tokens} for a search \
         that finds {found}.\n",
        costs.tokens
    ));
    text
}
