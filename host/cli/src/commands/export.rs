//! `portcullis export`: prints the tools in a provider's format, and reports what is lost.

use super::Context;
use crate::arguments::{DEFAULT_SESSION, ExportArguments};
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::TextStyle;
use portcullis::plugins::Offer;
use portcullis::policy::{Audience, Permissions, Principal};
use portcullis::text::OneLine;
use portcullis::{Host, OfferedTools};
use portcullis_providers::{Definitions, Export, Loss};
use serde_json::json;

pub(super) async fn run(arguments: &ExportArguments, context: &Context) -> anyhow::Result<Exit> {
    let host = opening::open(context).await?;
    let principal = Principal::default();
    let audience = Audience {
        client: arguments.client.as_deref(),
        model: arguments.model.as_deref(),
        toolset: arguments.toolset.as_deref(),
        ..Audience::new(&principal, DEFAULT_SESSION)
    };
    let offered = host.offered_tools(&audience).await.code(FailureCode::Usage)?;
    let export = Definitions::of(offers(&host, arguments, &offered))?.export(arguments.format);
    let denied = arguments.deny_lossy && !export.losses.is_empty();
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Export, &document(&export, denied))?)?;
    } else {
        export.losses.iter().for_each(|loss| note(loss, context));
        if !denied {
            let text = json::indent(json::line(&export.tools)?.trim_end());
            context.terminal.print(&format!("{text}\n"))?;
        }
    }
    if denied && !context.json {
        let style = context.terminal.note_style();
        let error = style.paint(TextStyle::Bad, "error:");
        context
            .terminal
            .note(format_args!("{error} {} would lose something, and --deny-lossy was given", export.format));
    }
    Ok(if denied { Exit::Lossy } else { Exit::Completed })
}

/// Returns the callable tools that the options select: with `--pick` the best first, otherwise by name.
fn offers(host: &Host, arguments: &ExportArguments, offered: &OfferedTools) -> Vec<Offer> {
    let catalog = host.catalog();
    let permissions = arguments.permissions.as_ref().map(|named| named.iter().copied().collect::<Permissions>());
    let fits = |offer: &Offer| permissions.is_none_or(|permissions| offer.tool.works_with(permissions));
    let named = |offer: &Offer| {
        arguments.tools.is_empty() || arguments.tools.iter().any(|pattern| pattern.matches(offer.tool.name()))
    };
    let wanted = |offer: &Offer| host.is_callable(&offer.tool) && fits(offer) && named(offer);
    let narrowed = |offer| offered.narrow(offer);
    match &arguments.pick {
        // The limit applies after the other filters.
        Some(need) => {
            let best = catalog.pick(need, usize::MAX).into_iter().filter_map(narrowed);
            best.filter(wanted).take(arguments.limit).collect()
        }
        None => catalog.offers().filter_map(narrowed).filter(wanted).collect(),
    }
}

fn document(export: &Export, denied: bool) -> serde_json::Value {
    match denied {
        true => json!({ "format": export.format.as_str(), "losses": export.losses }),
        false => json!(export),
    }
}

/// Prints one line for a loss.
fn note(loss: &Loss, context: &Context) {
    let style = context.terminal.note_style();
    let Loss { tool, pointer, keyword, what } = loss;
    let place = if pointer.is_empty() { String::new() } else { format!(" at {}", OneLine(pointer)) };
    let lost = style.paint(TextStyle::Doubtful, "lost:");
    context.terminal.note(format_args!("{lost} {}: {}{place}: {}", OneLine(tool), OneLine(keyword), OneLine(what)));
}
