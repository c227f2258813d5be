//! Pays, and asks above 100 EUR a day: its review reads what was spent today from a store. It also tries in its review
//! what no review may do, and asks in the middle of a call about whatever its arguments say.

use portcullis_sdk::prelude::*;
use std::time::{SystemTime, UNIX_EPOCH};

/// What may be spent in a day without an approver, in EUR, where the policy does not set `daily-limit`.
const DAILY_LIMIT_EUR: u64 = 100;

/// How much a review takes that takes too much, in bytes.
const HOARD_BYTES: usize = 256 * 1024 * 1024;

/// A payment.
#[arguments]
struct Payment {
    /// Who gets it.
    payee: String,
    /// How much, in EUR.
    amount: u64,
    /// What the review tries, and then refuses the call with.
    #[serde(default)]
    attempt: String,
    /// Patterns that the review proposes in place of its own: the arguments of each, with a directory or without.
    #[serde(default)]
    proposals: Vec<Vec<Differing>>,
}

/// An argument that may differ.
#[arguments]
struct Differing {
    /// The name of the argument.
    argument: String,
    /// The directory that it may name a path in.
    #[serde(default)]
    within: Option<String>,
}

/// Pays somebody.
#[tool]
fn pay(payment: Payment, context: &Context) -> Result<String, Failure> {
    let spent = context.store("spent")?.increment(&today(), payment.amount)?;
    Ok(format!("Paid {} EUR to {}. Today: {spent} EUR.", payment.amount, payment.payee))
}

/// What to do.
#[arguments]
struct Deed {
    /// What it is done to.
    resource: String,
    /// The patterns to propose.
    #[serde(default)]
    patterns: Vec<String>,
}

/// Does something, after it has asked.
#[tool(requires(execute))]
fn act(deed: Deed, context: &Context) -> Result<String, Failure> {
    let patterns: Vec<&str> = deed.patterns.iter().map(String::as_str).collect();
    context.ask_with_patterns(Permission::Execute, &deed.resource, "it is over the limit", &patterns)?;
    Ok("Done.".to_owned())
}

fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / (24 * 60 * 60));
    format!("day-{days}")
}

fn review(call: &Review) -> Verdict {
    match call.tool() {
        "pay" => check(call).unwrap_or_else(|failure| Verdict::refuse(failure.text())),
        _ => Verdict::Clear,
    }
}

fn check(call: &Review) -> Result<Verdict, Failure> {
    let Payment { amount, attempt, proposals, payee: _ } = call.parse()?;
    if !attempt.is_empty() {
        let said =
            attempted(&attempt, call).map_or_else(|failure| failure.text().to_owned(), |()| "it worked".to_owned());
        return Ok(Verdict::refuse(format!("{attempt}: {said}")));
    }
    let limit = call.setting("daily-limit").and_then(|limit| limit.parse().ok()).unwrap_or(DAILY_LIMIT_EUR);
    let spent = call.store("spent")?.get(&today())?.unwrap_or_default();
    let spent: u64 = String::from_utf8_lossy(&spent).parse().unwrap_or(0);
    if spent.saturating_add(amount) <= limit {
        return Ok(Verdict::Clear);
    }
    let reason = format!("{spent} EUR were spent today, and this is {amount} EUR more, over the limit of {limit} EUR");
    let differing = |pattern: Vec<Differing>| {
        pattern.into_iter().fold(Pattern::new(), |pattern, Differing { argument, within }| match within {
            Some(directory) => pattern.within(argument, directory),
            None => pattern.any(argument),
        })
    };
    let patterns = match proposals.is_empty() {
        true => vec![Pattern::new().any("amount")],
        false => proposals.into_iter().map(differing).collect(),
    };
    Ok(Verdict::request(reason, patterns))
}

/// Tries one thing that a review may not do.
fn attempted(what: &str, call: &Review) -> Result<(), Failure> {
    let store = || call.store("spent");
    match what {
        "get" => drop(store()?.get(&today())?),
        "set" => store()?.set(&today(), "0")?,
        "delete" => store()?.delete(&today())?,
        "increment" => drop(store()?.increment(&today(), 1)?),
        "other" => drop(call.store("other")?),
        "loop" => loop {
            std::hint::black_box(());
        },
        "trap" => panic!("a review that breaks"),
        "hoard" => drop(std::hint::black_box(vec![1_u8; HOARD_BYTES])),
        other => return Err(Failure::invalid(format!("{other} is not tried"))),
    }
    Ok(())
}

plugin! {
    name: "purse",
    description: "Pays.",
    tools: [pay, act],
    dependencies: [
        store "spent": "what was spent on each day",
        optional store "other": "something else",
    ],
    reviewer: review,
}
