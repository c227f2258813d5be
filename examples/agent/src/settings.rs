//! The settings on the command line and in the environment. The only file that reads either.

use anyhow::Context;
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum time for one answer of a model in seconds: a day.
const SECONDS_MAX: u64 = 24 * 60 * 60;

/// The end of the `--help` text.
const HELP: &str = "\
Environment:
  OPENAI_BASE_URL  the address of the model's API, such as http://127.0.0.1:11434/v1
  OPENAI_MODEL     the name of the model
  OPENAI_API_KEY   the API key, if it needs one

Exit codes:
  0    the task is done
  1    the model or the host failed
  2    the command line or the environment is wrong
  3    the model did not finish
  130  interrupted";

/// A small agent. It works on a task with a model that has OpenAI's Chat Completions API, and with the tools of plugins
/// under a policy.
#[derive(Debug, Parser)]
#[command(name = "portcullis-agent", after_help = HELP)]
pub(crate) struct Settings {
    /// The directory of the plugins.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: PathBuf,
    /// The policy file.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: PathBuf,
    /// The directory of the audit log and the approvals; by default that of the `portcullis` program.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// How many plugin tools the model sees: those that fit the task best.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) tools: usize,
    /// Maximum time for one answer of the model, in seconds.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    seconds: u64,
    /// The task.
    pub(crate) task: String,
}

/// The model and its API.
pub(crate) struct Model {
    /// The address that `chat/completions` is added to.
    pub(crate) base: String,
    /// Its name.
    pub(crate) name: String,
    /// The API key, if it needs one.
    pub(crate) key: Option<String>,
}

impl Settings {
    /// Returns the maximum time for one answer of the model.
    pub(crate) fn answer_time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Returns the state directory. The default is that of the `portcullis` program, so that `portcullis approvals` and
    /// `portcullis audit` include this agent.
    ///
    /// # Errors
    /// None was named, and the user has no home.
    pub(crate) fn state(&self) -> anyhow::Result<PathBuf> {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let usual = || {
            let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
            data.map(|data| data.join("portcullis"))
        };
        let state = self.state.clone().or_else(|| variable("PORTCULLIS_STATE").map(PathBuf::from)).or_else(usual);
        state.context("HOME is not set: pass a directory with --state")
    }
}

impl Model {
    /// Reads the settings of the model from the environment.
    ///
    /// # Errors
    /// The address or the name is not set.
    pub(crate) fn of_environment() -> anyhow::Result<Self> {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        Ok(Self {
            base: text("OPENAI_BASE_URL").context("set OPENAI_BASE_URL to the address of the model's API")?,
            name: text("OPENAI_MODEL").context("set OPENAI_MODEL to the name of the model")?,
            key: text("OPENAI_API_KEY"),
        })
    }
}

/// Reads a variable. Treats an empty one as unset.
#[expect(clippy::disallowed_methods, reason = "the command line is where variables become settings")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
