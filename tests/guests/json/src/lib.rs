//! The tools that the bench measures: one that echoes, one that reads and writes JSON.

use portcullis_sdk::prelude::*;
use std::collections::HashMap;

/// Something to say back.
#[arguments]
struct Echo {
    /// Said back as it is.
    text: String,
}

/// Answers with what it was given.
#[tool(read_only, idempotent)]
fn echo(arguments: Echo) -> String {
    arguments.text
}

/// Orders to sum up.
#[arguments]
struct Summarize {
    /// The orders.
    orders: Vec<Order>,
}

/// One order.
#[arguments]
struct Order {
    /// What is ordered.
    item: String,
    /// How many.
    count: u32,
}

/// How many of each item.
#[output]
struct Summary {
    orders: usize,
    items: HashMap<String, u32>,
    text: String,
}

/// Counts the items of orders.
#[tool(read_only, idempotent)]
fn summarize(arguments: Summarize) -> Json<Summary> {
    let mut items = HashMap::new();
    for order in &arguments.orders {
        *items.entry(order.item.clone()).or_insert(0) += order.count;
    }
    let text = format!("{} orders, {} kinds", arguments.orders.len(), items.len());
    Json(Summary { orders: arguments.orders.len(), items, text })
}

plugin! { name: "json", description: "Echoes, and sums up JSON.", tools: [echo, summarize] }
