//! How well a plugin keeps the contract, in levels that each include those before (docs/conformance.md).
//!
//! The last level is reached by running: each tool once, with the smallest arguments that its schema takes, and the
//! plugin once for a tool that it never offered. A run has no handle, little time, and nobody to ask.

mod alone;
mod smallest;

use crate::catalog::{self, LINTS_MAX, Lint, LoadError};
use crate::schema::Schema;
use crate::text::OneLine;
use portcullis_policy::Limits;
use portcullis_sandbox::{
    Answer, Cancellation, Code, Compiler, Contract, Engine, Handles, Manifest, Output, Ran, Stop, Success,
};
use std::time::{Duration, Instant};

/// Wall-clock time of one run. An interpreter starts in a tenth of it.
const RUN_TIME_MAX: Duration = Duration::from_secs(3);

/// When a run that goes on is cancelled: a tool that waits for something then has to end by itself.
const RUN_CANCELLED_AFTER: Duration = Duration::from_secs(1);

/// Wall-clock time of all runs of one plugin. Two hundred tools that answer at once need a tenth of it.
const ALL_RUNS_TIME_MAX: Duration = Duration::from_secs(60);

/// Bytes of what one run prints that are kept: they explain a failure.
const LOG_BYTES_MAX: usize = 4096;

/// The most reasons that are told.
const REASONS_MAX: usize = 50;

/// Names that no plugin offers all of.
const NEVER_OFFERED: [&str; 2] = ["never-offered", "never-offered-either"];

/// How well a plugin keeps the contract. A greater level includes the lesser ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A host does not load it.
    Refused,
    /// A host loads it: it imports what is served, and describes itself, always in the same way, as the contract says.
    Loads,
    /// Nothing that it says of itself has to be mended.
    Clear,
    /// Every tool ends with an answer or a failure of the contract, also without any handle.
    Robust,
}

impl Level {
    /// The highest.
    pub const HIGHEST: Self = Self::Robust;

    /// Its number, from 0.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Loads => "loads",
            Self::Clear => "clear",
            Self::Robust => "robust",
        }
    }

    /// The level above.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Refused => Some(Self::Loads),
            Self::Loads => Some(Self::Clear),
            Self::Clear => Some(Self::Robust),
            Self::Robust => None,
        }
    }
}

/// What level a plugin has, and why no higher one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conformance {
    /// The level.
    pub level: Level,
    /// What keeps it from the next one, each in a line; words of the plugin may be quoted.
    pub kept_from_next: Vec<String>,
    /// The tools that were not tried, since no small arguments were found that their schemas take.
    pub not_tried: Vec<String>,
}

/// A plugin as far as its description.
pub struct Loaded {
    /// What it says of itself.
    pub manifest: Manifest,
    code: Code,
}

impl Loaded {
    /// Loads bytes as a host would, keeping nothing.
    ///
    /// # Errors
    /// Why a host would not.
    pub async fn load(name: &str, bytes: &[u8], engine: &Engine, compiler: &Compiler) -> Result<Self, LoadError> {
        let (manifest, code) = catalog::examine(name, bytes, engine, compiler).await?;
        Ok(Self { manifest, code })
    }

    /// The version of the contract that it speaks.
    pub fn contract(&self) -> Contract {
        self.code.contract()
    }

    /// Its level. `lints` are what has to be mended in what it says of itself; it runs only where there is nothing.
    pub async fn conformance(&self, lints: &[Lint], engine: &Engine) -> Conformance {
        if !lints.is_empty() {
            let told = lints.iter().take(REASONS_MAX.min(LINTS_MAX)).map(told).collect();
            return Conformance { level: Level::Loads, kept_from_next: told, not_tried: Vec::new() };
        }
        let tried = self.try_all(engine).await;
        let level = if tried.troubles.is_empty() { Level::Robust } else { Level::Clear };
        Conformance { level, kept_from_next: tried.troubles, not_tried: tried.not_tried }
    }

    /// Runs every tool once, and one that there is not.
    async fn try_all(&self, engine: &Engine) -> Tried {
        let begun = Instant::now();
        let mut tried = Tried::default();
        for tool in &self.manifest.tools {
            let (name, schema) = (OneLine(&tool.name), schema_of(&tool.schema));
            if begun.elapsed() > ALL_RUNS_TIME_MAX || tried.troubles.len() >= REASONS_MAX {
                tried.troubles.push(format!("{name} and those after it were not reached: the others took too long"));
                return tried;
            }
            let Some(arguments) = schema.as_ref().and_then(smallest::arguments) else {
                tried.not_tried.push(tool.name.clone());
                continue;
            };
            let arguments = arguments.to_string();
            let ran = self.run(&tool.name, &arguments, engine).await;
            let promised = tool.output_schema.as_deref().and_then(schema_of);
            if let Some(trouble) = trouble(&ran, promised.as_ref()) {
                tried.troubles.push(format!("{name} {}: {trouble}", OneLine(&arguments)));
            }
        }
        let offered = |name: &&str| self.manifest.tools.iter().any(|tool| tool.name == **name);
        if let Some(name) = NEVER_OFFERED.iter().find(|name| !offered(name)) {
            let ran = self.run(name, "{}", engine).await;
            tried
                .troubles
                .extend(trouble(&ran, None).map(|trouble| format!("a tool that it never offered: {trouble}")));
        }
        tried
    }

    /// One run without a handle. One that goes on is cancelled.
    async fn run(&self, tool: &str, arguments: &str, engine: &Engine) -> Ran<Answer> {
        let limits = Limits { time: RUN_TIME_MAX, log_bytes: LOG_BYTES_MAX, ..Limits::default() };
        let (cancellation, context) = (Cancellation::new(), alone::context(limits.kept_output_bytes));
        let given = cancellation.clone();
        let run = engine.execute(&self.code, tool, arguments, &limits, Handles::none(), context, given);
        let cancel = async {
            tokio::time::sleep(RUN_CANCELLED_AFTER).await;
            cancellation.cancel();
            std::future::pending::<std::convert::Infallible>().await
        };
        tokio::select! {
            ran = run => ran,
            never = cancel => match never {},
        }
    }
}

/// What running came to.
#[derive(Default)]
struct Tried {
    troubles: Vec<String>,
    not_tried: Vec<String>,
}

/// The schema of what a tool takes or gives; a tool that has none takes any object.
fn schema_of(text: &str) -> Option<Schema> {
    let made = if text.is_empty() { Schema::absent() } else { Schema::of_document(text) };
    made.ok()
}

fn told(lint: &Lint) -> String {
    let tool = lint.tool.as_deref().map(|tool| format!("{}: ", OneLine(tool))).unwrap_or_default();
    format!("{tool}{} ({})", OneLine(&lint.what), lint.rule.name())
}

/// Why a run is not how one ends; nothing where it is.
fn trouble(ran: &Ran<Answer>, promised: Option<&Schema>) -> Option<String> {
    let what = match &ran.result {
        Ok(Ok(success)) => return broken(success, promised),
        Ok(Err(_)) => return None,
        Err(Stop::Limit(kind)) => format!("it reached the limit on {}", kind.name()),
        Err(Stop::Trapped(detail)) => format!("it trapped: {}", OneLine(detail)),
        Err(Stop::Exited(status)) => format!("it exited with status {status}"),
        Err(Stop::Cancelled) => "it did not end when it was cancelled".to_owned(),
        Err(Stop::HostPanic) => "the host panicked while it served it".to_owned(),
    };
    let log = String::from_utf8_lossy(&ran.log.bytes);
    let log = if log.is_empty() { String::new() } else { format!("; it printed: {}", OneLine(&log)) };
    Some(what + &log)
}

/// In what an answer breaks the tool's own definition.
fn broken(success: &Success, promised: Option<&Schema>) -> Option<String> {
    let Output::Json(text) = &success.output else {
        return promised.map(|_| "it promises JSON, and answers with something else".to_owned());
    };
    let Ok(value) = crate::json::parse(text) else { return Some("what it calls JSON is none".to_owned()) };
    let matches = promised.is_none_or(|schema| schema.is_match(&value));
    (!matches).then(|| "its answer does not match its output schema".to_owned())
}
