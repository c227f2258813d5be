//! `portcullis version`: shows the version of the program and of what plugins and clients depend on.

use super::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use portcullis::plugins::Contract;
use serde_json::json;

/// The version of the engine that the program is built with. A unit test compares it with `Cargo.lock`.
const ENGINE_VERSION: &str = "48.0.8";

pub(super) fn run(context: &Context) -> anyhow::Result<Exit> {
    let contracts = Contract::ALL.map(Contract::as_str);
    let text = match context.json {
        true => json::document(
            DocumentKind::Version,
            &json!({
                "portcullis": env!("CARGO_PKG_VERSION"),
                "contracts": contracts,
                "engine": { "name": "wasmtime", "version": ENGINE_VERSION },
            }),
        )?,
        false => {
            let mut table = Table::default();
            let mut row =
                |label, value: &str| table.row([TableCell::new(TextStyle::Quiet, label), TableCell::plain(value)]);
            row("portcullis", env!("CARGO_PKG_VERSION"));
            row("contracts", &contracts.join(", "));
            row("engine", &format!("wasmtime {ENGINE_VERSION}"));
            table.render_whole(context.terminal.style(), "", context.terminal.width())
        }
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}

#[cfg(test)]
mod tests {
    use super::ENGINE_VERSION;

    #[test]
    fn the_engine_is_the_one_that_is_locked() {
        let lock = include_str!("../../../../Cargo.lock");
        let package = format!("name = \"wasmtime\"\nversion = \"{ENGINE_VERSION}\"\n");
        assert!(lock.contains(&package), "Cargo.lock has another version than {ENGINE_VERSION}");
    }
}
