//! Trial runs for the highest level: of each tool, with a review and a preview if the plugin exports them, and of a
//! tool that does not exist.

use super::smallest;
use crate::alone;
use crate::call::{AnswerFlaw, REVIEW_TIME_MAX, check_answer, preview_limits, undeclared};
use crate::text::{OneLine, new_id};
use portcullis_definitions::manifest::{Answer, Definition, Manifest, Preview, Verdict};
use portcullis_definitions::schema::{self, Schema};
use portcullis_policy::{Limits, Permissions};
use portcullis_sandbox::{
    CallContext, Cancellation, Code, Engine, Handles, LimitKind, Log, Ran, RunSetup, Stop, ToolCall,
};
use smallest::NoArguments;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When a running tool is cancelled. It must then end by itself.
const RUN_CANCELLED_AFTER: Duration = Duration::from_secs(1);

/// Wall-clock time after which no more tools are run. It is enough for as many slow tools as a model can choose from.
const ALL_RUNS_TIME_MAX: Duration = Duration::from_secs(30);

/// Maximum output to stdout and stderr of one run that is kept, in bytes. It helps to explain a failure.
const LOG_BYTES_MAX: usize = 4096;

/// Maximum length of the quoted arguments, in characters. They can be a megabyte long.
const ARGUMENTS_SHOWN_MAX: usize = 300;

/// A tool that was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotTried {
    /// The tool's name within the plugin.
    pub tool: String,
    /// Why it was not run, in one line.
    pub why: String,
}

/// A plugin and the engine for its trial runs.
pub(super) struct Trial<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) code: &'a Code,
    pub(super) engine: &'a Engine,
}

/// The result of the trial runs.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) troubles: Vec<String>,
    pub(super) not_tried: Vec<NotTried>,
}

/// One trial call.
struct TrialCall<'a> {
    tool: &'a str,
    arguments: &'a str,
    /// The output schema.
    promised: Option<&'a Schema>,
    /// Whether the plugin offers the tool.
    offered: bool,
    /// The permissions that the tool declares.
    permissions: Permissions,
}

impl TrialCall<'_> {
    fn tool_call(&self) -> ToolCall<'_> {
        ToolCall { tool: self.tool, arguments: self.arguments }
    }
}

impl Trial<'_> {
    pub(super) async fn all(&self) -> Tried {
        let limits = Limits { log_bytes: LOG_BYTES_MAX, ..Limits::default() };
        let call = async |call: TrialCall<'_>| self.call(&call, &limits).await;
        try_all(&self.manifest.tools, limits.arguments_bytes, ALL_RUNS_TIME_MAX, call).await
    }

    /// Runs one call with its review and preview. Returns the problems.
    async fn call(&self, call: &TrialCall<'_>, limits: &Limits) -> Vec<String> {
        let context = alone::context(limits.kept_output_bytes);
        let review = match call.offered && self.code.reviews() {
            true => ended("its review", &self.review(call, limits, context.clone()).await),
            false => None,
        };
        let preview = match call.offered && self.code.previews() {
            true => ended("its preview", &self.preview(call, limits, context.clone()).await),
            false => None,
        };
        let handles = self.handles();
        // The run takes the handles. This list then has the keys that the guest could not open.
        let opened = handles.refused_keys();
        let answer = answered(&self.execute(call, limits, handles, context).await, call.promised, limits);
        let kind_of = |key: &str| self.manifest.dependencies.iter().find(|asked| asked.key == key);
        let kind_of = |key: &str| kind_of(key).map(|asked| asked.kind);
        let undeclared = undeclared(&opened, call.permissions, kind_of).filter(|_| call.offered);
        review.into_iter().chain(preview).chain(answer).chain(undeclared).collect()
    }

    async fn review(&self, call: &TrialCall<'_>, limits: &Limits, context: CallContext) -> Ran<Verdict> {
        let limits = Limits { time: REVIEW_TIME_MAX, ..*limits };
        let (handles, cancellation) = (self.handles(), Cancellation::new());
        let setup = RunSetup { code: self.code, limits: &limits, handles, context, cancellation };
        self.engine.review(call.tool_call(), setup).await
    }

    async fn preview(&self, call: &TrialCall<'_>, limits: &Limits, context: CallContext) -> Ran<Preview> {
        let (limits, handles, cancellation) = (preview_limits(limits), self.handles(), Cancellation::new());
        let setup = RunSetup { code: self.code, limits: &limits, handles, context, cancellation };
        self.engine.preview(call.tool_call(), setup).await
    }

    /// Runs the tool, and cancels it after a while.
    async fn execute(
        &self,
        call: &TrialCall<'_>,
        limits: &Limits,
        handles: Handles,
        context: CallContext,
    ) -> Ran<Answer> {
        let cancellation = Cancellation::new();
        let setup = RunSetup { code: self.code, limits, handles, context, cancellation: cancellation.clone() };
        let run = self.engine.execute(call.tool_call(), setup);
        let cancel = async {
            tokio::time::sleep(RUN_CANCELLED_AFTER).await;
            cancellation.cancel();
            // Only the run may end the `select!`, because the engine ends a tool that ignores the cancellation.
            std::future::pending::<std::convert::Infallible>().await
        };
        tokio::select! {
            ran = run => ran,
            never = cancel => match never {},
        }
    }

    /// Declares the keys that the plugin asks for, without handles.
    fn handles(&self) -> Handles {
        let mut handles = Handles::none();
        for asked in &self.manifest.dependencies {
            handles.ungranted_key(Arc::from(asked.key.as_str()), asked.kind);
        }
        handles
    }
}

/// Calls each tool while there is time, and one that does not exist. `call` returns the problems of a call.
async fn try_all(
    tools: &[Definition],
    arguments_bytes_max: usize,
    time_max: Duration,
    call: impl AsyncFn(TrialCall<'_>) -> Vec<String>,
) -> Tried {
    let begun = Instant::now();
    let mut tried = Tried::default();
    for tool in tools {
        let name = OneLine(&tool.name);
        if begun.elapsed() > time_max {
            tried.troubles.push(format!("{name} and those after it were not run: the others took too long"));
            return tried;
        }
        let schema = schema_of(&tool.schema);
        let made =
            schema.ok_or(NoArguments::NoFit).and_then(|schema| smallest::arguments(&schema, arguments_bytes_max));
        let arguments = match made {
            Ok(arguments) => arguments,
            Err(unmade) => {
                tried.not_tried.push(NotTried { tool: tool.name.clone(), why: why(unmade, arguments_bytes_max) });
                continue;
            }
        };
        let promised = tool.output_schema.as_deref().and_then(schema_of);
        let (promised, permissions) = (promised.as_ref(), tool.required.union(tool.optional));
        let this = TrialCall { tool: &tool.name, arguments: &arguments, promised, offered: true, permissions };
        let shown = quoted(&arguments, ARGUMENTS_SHOWN_MAX);
        tried.troubles.extend(call(this).await.into_iter().map(|trouble| format!("{name} {shown}: {trouble}")));
    }
    // A random name, which no plugin can offer or expect.
    let unknown = format!("tool-{}", new_id().unwrap_or_default());
    let troubles = call(TrialCall {
        tool: &unknown,
        arguments: "{}",
        promised: None,
        offered: false,
        permissions: Permissions::NONE,
    })
    .await;
    tried.troubles.extend(troubles.into_iter().map(|trouble| format!("a tool that it never offered: {trouble}")));
    tried
}

/// Compiles the schema of a tool's arguments or output. An empty one allows any object.
fn schema_of(text: &str) -> Option<Schema> {
    let made = if text.is_empty() { schema::absent() } else { Schema::of_document(text) };
    made.ok()
}

fn why(unmade: NoArguments, bytes_max: usize) -> String {
    match unmade {
        NoArguments::NoFit => "no small arguments were found that match its schema".to_owned(),
        NoArguments::TooLarge => {
            format!(
                "the smallest arguments that were found for its schema are larger than the {bytes_max} bytes of a call"
            )
        }
    }
}

/// Returns why a review or a preview did not end as the contract says, if so.
fn ended<T>(what: &str, ran: &Ran<T>) -> Option<String> {
    ran.result.as_ref().err().map(|stop| stopped(what, stop, &ran.log))
}

/// Returns why a run did not end as the contract says, if so.
fn answered(ran: &Ran<Answer>, promised: Option<&Schema>, limits: &Limits) -> Option<String> {
    let success = match &ran.result {
        Ok(Ok(success)) => success,
        // A failure is an end that the contract allows.
        Ok(Err(_)) => return None,
        Err(stop) => return Some(stopped("it", stop, &ran.log)),
    };
    match check_answer(success, ran.streamed > 0, promised, limits.output_bytes) {
        Ok(_) => None,
        Err(AnswerFlaw::Broken(why)) => Some(format!("its answer is not usable: {why}")),
        Err(AnswerFlaw::Memory(why)) => Some(format!("its answer is not usable: {why}")),
        Err(AnswerFlaw::TooLarge(_)) => Some(stopped("it", &Stop::Limit(LimitKind::Output), &ran.log)),
    }
}

fn stopped(who: &str, stop: &Stop, log: &Log) -> String {
    let what = match stop {
        Stop::Limit(kind) => format!("{who} reached the limit on {}", kind.name()),
        Stop::Trapped(detail) => format!("{who} trapped: {}", quoted(detail, LOG_BYTES_MAX)),
        Stop::Exited(status) => format!("{who} exited with status {status}"),
        Stop::Cancelled => format!("{who} did not end when it was cancelled"),
        Stop::HostPanic => format!("the host panicked while it served {who}"),
    };
    let printed = String::from_utf8_lossy(&log.bytes);
    if printed.is_empty() { what } else { format!("{what}; it printed: {}", quoted(&printed, LOG_BYTES_MAX)) }
}

/// Quotes text of a plugin in one line of at most `characters_max` characters, including escapes.
fn quoted(text: &str, characters_max: usize) -> String {
    let cut = |text: &str| text.char_indices().nth(characters_max).map(|(end, _)| text[..end].to_owned());
    // An escape is never shorter than its character, so more text than this cannot be shown.
    let start = cut(text);
    let line = OneLine(start.as_deref().unwrap_or(text)).to_string();
    match cut(&line) {
        Some(line) => line + "...",
        None if start.is_some() => line + "...",
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn tool(name: &str, schema: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            title: None,
            description: String::new(),
            schema: schema.to_owned(),
            output_schema: None,
            required: Permissions::NONE,
            optional: Permissions::NONE,
            hints: Vec::new(),
        }
    }

    /// Returns the called tools and the result, if each call takes a while.
    fn tried(tools: &[Definition], time_max: Duration) -> (Vec<String>, Tried) {
        let called = RefCell::new(Vec::new());
        let call = async |call: TrialCall<'_>| {
            called.borrow_mut().push(call.tool.to_owned());
            std::thread::sleep(Duration::from_millis(2));
            vec!["one thing".to_owned(), "another".to_owned()]
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let tried = runtime.block_on(try_all(tools, 1000, time_max, call));
        (called.into_inner(), tried)
    }

    #[test]
    fn slow_tools_keep_the_rest_from_being_run() {
        let tools = ["a", "b", "c"].map(|name| tool(name, ""));
        let (called, tried) = tried(&tools, Duration::from_millis(1));
        assert_eq!(called, ["a"]);
        let told = ["a {}: one thing", "a {}: another", "b and those after it were not run: the others took too long"];
        assert_eq!(tried.troubles, told);
    }

    #[test]
    fn all_tools_and_an_unknown_one_are_run_despite_problems() {
        let tools: Vec<Definition> = (0..60).map(|number| tool(&format!("t{number}"), "")).collect();
        let (called, tried) = tried(&tools, Duration::from_secs(60));
        assert_eq!((called.len(), tried.troubles.len()), (61, 122));
        assert!(called.last().is_some_and(|last| last.len() > 30), "{called:?}");
        assert_eq!(tried.troubles.last().unwrap(), "a tool that it never offered: another");
    }

    #[test]
    fn tools_that_are_not_run_have_a_reason() {
        let named = |schema: &str| {
            format!(
                r#"{{"type":"object","required":["a"],"additionalProperties":false,"properties":{{"a":{schema}}}}}"#
            )
        };
        let tools = [
            tool("hard", &named(r#"{"type":"string","pattern":"^x{100}$"}"#)),
            tool("long", &named(r#"{"type":"string","minLength":1000}"#)),
            tool("good", &named(r#"{"type":"string","minLength":900}"#)),
        ];
        let (called, tried) = tried(&tools, Duration::from_secs(60));
        assert_eq!((called.len(), called[0].as_str()), (2, "good"));
        let why: Vec<(&str, &str)> = tried.not_tried.iter().map(|tool| (&*tool.tool, &*tool.why)).collect();
        assert_eq!(why[0], ("hard", "no small arguments were found that match its schema"));
        assert!(why[1].0 == "long" && why[1].1.ends_with("are larger than the 1000 bytes of a call"), "{why:?}");
        assert_eq!(tried.troubles[0].chars().count(), "good ".len() + ARGUMENTS_SHOWN_MAX + "...: one thing".len());
    }

    #[test]
    fn quoted_text_is_one_line_and_cut_with_its_escapes() {
        assert_eq!(quoted("{\"a\":1}", 7), "{\"a\":1}");
        assert_eq!(quoted("abcdefgh", 7), "abcdefg...");
        assert_eq!(quoted("a\nb\nc\nd", 7), "a\\nb\\nc...");
        assert_eq!(quoted(&"\u{202e}".repeat(1000), 9), "\\u{202e}\\...");
    }
}
