//! `run`: gives a task to a sub-agent.

use portcullis_sdk::prelude::*;

use crate::conversation::{self, Run, RunEnd};
use crate::model::Model;
use crate::money::Money;
use crate::settings::{Lowered, Settings};
use crate::toolbox::Toolbox;

#[arguments]
pub(crate) struct Task {
    /// What to do, and what to answer with. The sub-agent sees nothing else of this conversation.
    #[schemars(length(min = 1, max = 100_000))]
    task: String,
    /// The tools that it may call, such as `files.read` or `files.*`. Without this, all that the operator allows it.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    tools: Option<Vec<String>>,
    /// What it may use at most. The operator sets more limits.
    #[serde(default)]
    budget: Option<TaskBudget>,
}

#[arguments]
pub(crate) struct TaskBudget {
    /// Requests to the model.
    #[serde(default)]
    #[schemars(range(min = 1))]
    turns: Option<u32>,
    /// Tokens of all requests and answers.
    #[serde(default)]
    #[schemars(range(min = 1))]
    tokens: Option<u64>,
    /// Seconds from the first request to the last answer.
    #[serde(default)]
    #[schemars(range(min = 1))]
    seconds: Option<u64>,
    /// An amount such as `0.25`, in the unit of the operator's prices.
    #[serde(default)]
    money: Option<String>,
}

/// Gives a task to a sub-agent: another model, which calls tools and returns the result. Use it for a task with many
/// steps that you do not need to see. It sees only `task`, so include everything that it must know. If its budget ends
/// first, the answer has its last text, and says that the task is not finished.
#[tool(destructive, open_world, requires(network), title = "Run a sub-agent")]
pub(crate) fn run(arguments: Task, context: &Context) -> Result<Success<String>, Failure> {
    let settings = Settings::of(|key| context.setting(key))?;
    let budget = settings.lowered(&lowered(arguments.budget)?)?;
    let client = context.client("model").map_err(|_| settings.not_bound())?;
    let toolbox = Toolbox::open(context.tools("tools")?, arguments.tools.as_deref())?;
    let model = Model { client: &client, settings: &settings, budget: &budget, context };
    let run = conversation::run(&arguments.task, &model, &toolbox)?;
    let cost = budget.cost(&run.spent);
    // The answer counts more than its transcript.
    let kept = context.keep(run.transcript.file());
    Ok(answer(run, cost, kept.err()))
}

fn lowered(budget: Option<TaskBudget>) -> Result<Lowered, Failure> {
    let Some(TaskBudget { turns, tokens, seconds, money }) = budget else { return Ok(Lowered::default()) };
    let amount = |text: String| {
        Money::parse(&text).ok_or_else(|| Failure::invalid("`budget.money` is not an amount such as 0.25"))
    };
    Ok(Lowered { turns, tokens, seconds, money: money.map(amount).transpose()? })
}

fn answer(run: Run, cost: Option<Money>, unkept: Option<Failure>) -> Success<String> {
    let Run { end, text, spent, calls, .. } = run;
    let said = if text.trim().is_empty() { "(The sub-agent said nothing.)" } else { text.as_str() };
    let (word, note) = match &end {
        RunEnd::Finished => ("finished", None),
        RunEnd::Cut => ("cut", Some("its last answer has its maximum length".to_owned())),
        RunEnd::Refused => ("refused", Some("the model refused to go on".to_owned())),
        RunEnd::Exhausted(budget) => (budget.word(), Some(format!("its budget of {} is used up", budget.word()))),
        RunEnd::Unusable(why) => ("unusable", Some(format!("the model gave no usable answer: {why}"))),
        RunEnd::Broken(why) => ("broken", Some(format!("its model cannot be reached: {why}"))),
        RunEnd::TooLong => ("too-long", Some("its conversation has its maximum length".to_owned())),
    };
    let mut text = match note {
        None => said.to_owned(),
        Some(note) => format!("{said}\n\n[The sub-agent did not finish: {note}.]"),
    };
    if let Some(failure) = unkept {
        text.push_str(&format!("\n\n[The transcript was not kept: {}.]", failure.text()));
    }
    let metadata = json!({
        "end": word,
        "turns": spent.turns,
        "calls": calls,
        "tokens": { "input": spent.usage.input, "output": spent.usage.output, "estimated": spent.is_estimate },
        "cost": cost.map(|cost| cost.to_string()),
    });
    let title = format!("Ran a sub-agent: {} turns, {calls} calls", spent.turns);
    Success::new(text).title(title).metadata(metadata)
}
