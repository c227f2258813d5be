//! `portcullis list --tokens`: about what each tool costs a model to be told of, and what the short list costs in place
//! of all of them.

use super::super::Context;
use crate::exit_code::Exit;
use crate::json;
use crate::style::Look;
use crate::table::{Cell, Table};
use portcullis::plugins::{Catalog, Offer};
use portcullis::{Host, estimate_tokens};
use portcullis_mcp::short_list;
use portcullis_providers::{Definitions, Format};
use serde::Serialize;
use serde_json::{Value, json};

/// The tools that a search finds where nothing else is said.
const FOUND: u64 = 5;

/// What the tools of a host cost, each in tokens of about the right number.
#[derive(Serialize)]
struct Costs {
    /// The tools, by full name.
    tools: Vec<Cost>,
    /// All of them.
    tokens: u64,
    search: Search,
}

#[derive(Serialize)]
struct Cost {
    name: String,
    tokens: u64,
}

/// What they cost by way of the short list.
#[derive(Serialize)]
struct Search {
    /// What a model is told at first: the two tools that stand for the others, with their index, and the host's own.
    tokens: u64,
    /// How many tools a search finds.
    found: u64,
    /// What a search tells it that finds as many, of the size that they have on average.
    found_tokens: u64,
}

/// Shows what the tools cost.
pub(super) fn show(host: &Host, context: &Context) -> anyhow::Result<Exit> {
    let costs = costs(&host.catalog())?;
    if context.json {
        context.terminal.print(&json::line(&costs)?)?;
    } else {
        context.terminal.print(&text(&costs, context))?;
    }
    Ok(Exit::Completed)
}

fn costs(catalog: &Catalog) -> anyhow::Result<Costs> {
    let offers: Vec<Offer> = catalog.offers().collect();
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
        tools.push(Cost { name: offer.tool.name().to_string(), tokens });
    }
    // All tools count here, also those that the policy denies.
    let short: u64 = short_list(catalog, |_, _| true)
        .iter()
        .map(|tool| {
            let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            estimate_tokens(&Value::to_string(&json!({ "type": "function", "function": function })))
        })
        .sum();
    let found = FOUND.min(count);
    let found_tokens = (others * found).div_ceil(count.max(1));
    Ok(Costs { tools, tokens: own + others, search: Search { tokens: own + short, found, found_tokens } })
}

fn text(costs: &Costs, context: &Context) -> String {
    let style = context.terminal.style();
    let mut table = Table::default();
    table.row([Cell::new(Look::Quiet, "TOOL"), Cell::new(Look::Quiet, "ABOUT TOKENS")]);
    for cost in &costs.tools {
        table.row([Cell::new(Look::Strong, &cost.name), Cell::plain(&cost.tokens.to_string())]);
    }
    let mut text = table.render(style, "", context.terminal.width());
    let Search { tokens, found, found_tokens } = &costs.search;
    text.push_str(&format!(
        "\nA model that is told of all of them reads about {} tokens in every turn.\n\
         With `portcullis serve --search` it reads about {tokens} in every turn, and about {found_tokens} for a search that finds {found}.\n",
        costs.tokens
    ));
    text
}
