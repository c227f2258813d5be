//! A small, complete agent: a model behind any endpoint with OpenAI's Chat Completions API, and tools in a Portcullis
//! host.
//!
//! Read `turn.rs` first. It asks the model, turns its answer into calls, and returns their results. Nothing here
//! decides whether a call may run. The policy decides, and a person if the policy requires approval.

mod connection;
mod conversation;
mod endpoint;
mod person;
mod question;
mod screen;
mod settings;
mod show;
mod tools;
mod turn;

use anyhow::Context;
use clap::Parser;
use conversation::Conversation;
use endpoint::Endpoint;
use person::Person;
use portcullis::text::{Lines, WithCauses};
use portcullis::{Caller, Host};
use settings::{Model, Settings};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use turn::{Agent, Ended};

/// The exit code of the process.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Endless = 3,
    /// The code that shells use for an interrupted process.
    Interrupted = 130,
}

fn main() -> ExitCode {
    portcullis::init();
    let settings = match Settings::try_parse() {
        Ok(settings) => settings,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            screen::say(&Lines(&error.to_string()).to_string());
            return ExitCode::from(exit as u8);
        }
    };
    let exit = run(&settings).unwrap_or_else(|(exit, error)| {
        screen::note(format_args!("error: {}", Lines(&format!("{error:#}"))));
        exit
    });
    ExitCode::from(exit as u8)
}

/// Works on the task. An error comes with the exit code of the process.
fn run(settings: &Settings) -> Result<Exit, (Exit, anyhow::Error)> {
    let wrong = |error| (Exit::Usage, error);
    let model = Model::of_environment().map_err(wrong)?;
    let endpoint = Endpoint::new(&model.base, model.key.as_deref(), settings.answer_time())
        .map_err(|error| wrong(error.into()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| wrong(error.into()))?;
    runtime.block_on(async {
        let agent = open(settings, endpoint, model.name).await.map_err(wrong)?;
        tokio::select! {
            ended = work(&agent, &settings.task) => ended.map_err(|error| (Exit::Failed, error)),
            // Dropping the calls ends and logs each of them.
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    })
}

/// Opens the host, with the person at the terminal as approver if there is one.
async fn open(settings: &Settings, endpoint: Endpoint, model: String) -> anyhow::Result<Agent> {
    let person = Person::look();
    let mut builder = Host::builder(&settings.plugins, settings.state()?);
    builder = builder.policy_file(&settings.policy);
    if person.is_here() {
        // Without an approver, the policy decides about approval requests.
        builder = builder.approver(Arc::clone(&person) as _);
    }
    let host = builder.open().await.context("the host does not open")?;
    for refused in host.catalog().refused() {
        let told = format!("{} is not used: {}", refused.file, WithCauses(&*refused.error));
        screen::note(Lines(&told));
    }
    let caller = Caller::new().session(&session()).agent(env!("CARGO_PKG_NAME"));
    Ok(Agent { host, endpoint, model, person, caller, tools: settings.tools })
}

/// Runs one turn after another. A message that the person writes during a turn starts the next one.
async fn work(agent: &Agent, task: &str) -> anyhow::Result<Exit> {
    let mut conversation = Conversation::about(task);
    let mut words = task.to_owned();
    loop {
        match agent.turn(&mut conversation, &words).await? {
            Ended::Result(text) => {
                screen::result(&text);
                return Ok(Exit::Done);
            }
            Ended::Endless => {
                screen::note("The model does not finish, so the agent stops.");
                return Ok(Exit::Endless);
            }
            Ended::Written(written) => {
                conversation.written(&written)?;
                // Keep the task in the search for tools.
                words = format!("{task}\n{written}");
            }
        }
    }
}

/// Returns a session id that is unique to this run, so that an approval for the session does not cover the next run.
fn session() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("agent-{}-{}", since.as_millis(), std::process::id())
}
