//! Starts a program, writes what it prints into the answer, and says how it ended.

use std::io::Write;
use std::time::{Duration, Instant};

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{ExitReport, Missing, RunningEvent};

use crate::hidden;

/// The interval at which to check for a timeout and for a cancellation. A person notices a longer one.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The time to wait for the end of a program that was killed. The host needs milliseconds for it.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Maximum number of characters of a command in a title.
const LABEL_CHARACTERS_MAX: usize = 60;

/// Maximum number of refusals in an answer. A longer list does not help a model to correct the command.
const REFUSALS_MAX: usize = 20;

/// How the host begins the reason that a program lacks a host.
const MISSING_HOST: &str = "no network to ";

/// What to run.
pub(crate) struct Request<'a> {
    /// The key of the dependency.
    pub(crate) key: &'static str,
    /// The command, for the title.
    pub(crate) label: &'a str,
    /// The number of seconds after which to end the program.
    pub(crate) timeout: Option<u32>,
    /// The directory to start in.
    pub(crate) directory: Option<String>,
    /// The text for stdin.
    pub(crate) stdin: Option<String>,
    /// What the program lacks for this run.
    pub(crate) needs: Option<Missing>,
}

/// Returns the one thing that the arguments ask for.
pub(crate) fn needs(
    host: Option<String>,
    read: Option<String>,
    write: Option<String>,
) -> Result<Option<Missing>, Failure> {
    let host = host.map(Missing::Destination);
    let (read, write) = (read.map(Missing::ReadableDirectory), write.map(Missing::WritableDirectory));
    let mut asked = [host, read, write].into_iter().flatten();
    match (asked.next(), asked.next()) {
        (needed, None) => Ok(needed),
        (_, Some(_)) => Err(Failure::invalid(
            "give one of `needs_host`, `needs_read` and `needs_write`, because a person allows one thing at a time",
        )),
    }
}

/// How a program ended.
enum Outcome {
    Ended(ExitReport),
    /// The tool killed it after its timeout. There is no report if the host did not send one in time.
    TimedOut(Option<ExitReport>),
}

impl Outcome {
    /// Returns the host and the port that the program lacked, if it failed because of the first one.
    fn refused_host(&self) -> Option<String> {
        let Self::Ended(report) = self else { return None };
        if report.is_success() {
            return None;
        }
        let (request, why) = report.refused.first()?.split_once(": ")?;
        let url = request.split_once(' ')?.1;
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split('/').next()?;
        let port = match (authority.rsplit_once(':'), scheme) {
            (Some((_, port)), _) if port.bytes().all(|byte| byte.is_ascii_digit()) => "",
            (_, "http") => ":80",
            (..) => ":443",
        };
        // Other refusals are of limits and methods, which no approval changes.
        why.starts_with(MISSING_HOST).then(|| format!("{authority}{port}"))
    }
}

impl Request<'_> {
    /// Runs the program with these arguments, and writes its output while it runs.
    pub(crate) fn execute(self, arguments: Vec<String>, context: &Context) -> Result<Success<String>, Failure> {
        let mut launch = Launch::new(arguments).merged();
        if let Some(directory) = &self.directory {
            launch = launch.directory(directory);
        }
        if let Some(stdin) = &self.stdin {
            launch = launch.input(stdin.as_bytes());
        }
        let label = label(self.label);
        if let Some(needs) = &self.needs {
            launch = launch.needs(needs.clone());
        }
        context.check_cancelled()?;
        let program = context.program(self.key)?;
        let running = program.start(&launch)?;
        context.progress(Progress::title(format!("Running {label}")));
        let mut answer = context.writer()?;
        let (mut outcome, mut is_line_open) = self.follow(running, &mut answer, context)?;
        // A run can ask for one thing only, so one that has asked already is not repeated.
        if let Some(needs) = outcome.refused_host().filter(|_| self.needs.is_none())
            // Without an approval, the first run is the answer.
            && let Ok(running) = program.start(&launch.needs(Missing::Destination(needs.clone())))
        {
            let (ending, _) = self.ending(&outcome);
            let line_break = if is_line_open { "\n" } else { "" };
            writeln!(answer, "{line_break}{}A person allowed {needs} for one more run:", ending.text)?;
            context.progress(Progress::title(format!("Running {label} again")));
            (outcome, is_line_open) = self.follow(running, &mut answer, context)?;
        }
        let (ending, metadata) = self.ending(&outcome);
        let line_break = if is_line_open { "\n" } else { "" };
        let text = format!("{line_break}{}", ending.text);
        Ok(Success::new(text).title(format!("Ran {label}: {}", ending.title)).metadata(metadata))
    }

    /// Copies the output into the answer until the program has ended. Also returns whether its last line is open.
    fn follow(
        &self,
        mut running: Running,
        answer: &mut impl Write,
        context: &Context,
    ) -> Result<(Outcome, bool), Failure> {
        let started = Instant::now();
        let time_max = self.timeout.map(|seconds| Duration::from_secs(seconds.into()));
        let (mut is_line_open, mut killed_at) = (false, None::<Instant>);
        loop {
            if context.is_cancelled() {
                running.kill();
                return Err(Failure::Cancelled);
            }
            if killed_at.is_none() && time_max.is_some_and(|max| started.elapsed() >= max) {
                running.kill();
                killed_at = Some(Instant::now());
            }
            match running.next_event(Some(CHECK_INTERVAL))? {
                RunningEvent::Stdout(bytes) | RunningEvent::Stderr(bytes) => {
                    answer.write_all(&bytes)?;
                    // A watcher of the call sees the output while the program runs.
                    answer.flush()?;
                    is_line_open = bytes.last() != Some(&b'\n');
                }
                RunningEvent::Ended(report) if killed_at.is_some() => {
                    return Ok((Outcome::TimedOut(Some(report)), is_line_open));
                }
                RunningEvent::Ended(report) => return Ok((Outcome::Ended(report), is_line_open)),
                RunningEvent::Elapsed if killed_at.is_some_and(|killed_at| killed_at.elapsed() >= KILL_WAIT) => {
                    return Ok((Outcome::TimedOut(None), is_line_open));
                }
                RunningEvent::Elapsed => {}
            }
        }
    }

    fn ending(&self, outcome: &Outcome) -> (Ending, Value) {
        match outcome {
            Outcome::Ended(report) => {
                let (title, metadata) = match &report.exit {
                    Exit::Code(code) => (format!("exit code {code}"), json!({ "exit": code })),
                    Exit::Signal(signal) => {
                        (format!("ended by signal {signal}"), json!({ "exit": null, "signal": signal }))
                    }
                    Exit::Stopped(reason) => (format!("stopped: {reason}"), json!({ "exit": null, "stopped": reason })),
                };
                Ending::new(title, metadata, Some(report))
            }
            Outcome::TimedOut(report) => {
                let reason = format!("the timeout of {} s is over", self.timeout.unwrap_or_default());
                let metadata = json!({ "exit": null, "stopped": reason });
                Ending::new(format!("stopped: {reason}"), metadata, report.as_ref())
            }
        }
    }
}

/// What an answer says about the end of a program.
struct Ending {
    /// The last lines of the answer.
    text: String,
    /// A few words for people.
    title: String,
}

impl Ending {
    fn new(title: String, mut metadata: Value, report: Option<&ExitReport>) -> (Self, Value) {
        let Some(report) = report else { return (Self { text: format!("[{title}]\n"), title }, metadata) };
        let milliseconds = u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX);
        metadata["milliseconds"] = milliseconds.into();
        metadata["left-processes"] = report.left_processes.into();
        let mut text = String::new();
        match report.left_processes {
            0 => {}
            1 => text.push_str("1 background process was ended.\n"),
            number => text.push_str(&format!("{number} background processes were ended.\n")),
        }
        for refused in report.refused.iter().take(REFUSALS_MAX) {
            text.push_str(&format!("The sandbox refused: {refused}\n"));
        }
        if let Some(more) = report.refused.len().checked_sub(REFUSALS_MAX).filter(|more| *more > 0) {
            text.push_str(&format!("The sandbox refused {more} more.\n"));
        }
        let seconds = report.duration.as_secs_f64();
        text.push_str(&format!("[{title}, {seconds:.1} s]\n"));
        (Self { text, title }, metadata)
    }
}

/// Returns the first line of a command for a title, without characters that a reader does not see.
fn label(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let is_long = line.chars().count() > LABEL_CHARACTERS_MAX || command.trim().lines().nth(1).is_some();
    let visible = line.chars().take(LABEL_CHARACTERS_MAX).filter(|character| !hidden::is_hidden(*character));
    let visible: String = visible.map(|character| if character == '\t' { ' ' } else { character }).collect();
    if is_long { format!("{visible}…") } else { visible }
}
