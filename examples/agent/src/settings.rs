//! What the person says on the command line and in the environment. The one file that reads either.

use anyhow::Context;
use clap::Parser;
use portcullis::Compiler;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The word that makes this program a compile worker.
const WORKER: &str = "compile-worker";

/// The longest that anybody waits for one answer of a model, in seconds: a day.
const SECONDS_MAX: u64 = 24 * 60 * 60;

/// What `--help` ends with.
const HELP: &str = "\
Environment:
  OPENAI_BASE_URL  where the model is, such as http://127.0.0.1:11434/v1
  OPENAI_MODEL     its name
  OPENAI_API_KEY   a key, where it needs one

Exit codes:
  0    the task is done
  1    the model or the host failed
  2    the command line or the environment is wrong
  3    the model did not come to an end
  130  interrupted";

/// A small agent: it works on a task with a model that speaks OpenAI's Chat Completions, and with the tools of the
/// plugins in a directory, as far as a policy lets it.
#[derive(Debug, Parser)]
#[command(name = "portcullis-agent", after_help = HELP)]
pub(crate) struct Settings {
    /// The directory of the plugins.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugins: PathBuf,
    /// The policy file.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: PathBuf,
    /// The directory of the record and the approvals; that of the `portcullis` program unless said.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// How many tools of plugins the model is shown: those that fit the task best.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) tools: usize,
    /// How long one answer of the model may take, in seconds.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    seconds: u64,
    /// What is to be done.
    pub(crate) task: String,
}

/// Where the model is.
pub(crate) struct Model {
    /// The address that `chat/completions` is added to.
    pub(crate) base: String,
    /// Its name.
    pub(crate) name: String,
    /// The key, where it needs one.
    pub(crate) key: Option<String>,
}

impl Settings {
    /// How long one answer of the model may take.
    pub(crate) fn answer_time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// The state directory: where the `portcullis` program looks for it, so that `portcullis approvals` and `portcullis
    /// audit` are about this agent too.
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
        state.context("there is no HOME to keep the record in: name a directory with --state")
    }
}

impl Model {
    /// What the environment says of the model.
    ///
    /// # Errors
    /// It does not say where it is, or which it is.
    pub(crate) fn of_environment() -> anyhow::Result<Self> {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        Ok(Self {
            base: text("OPENAI_BASE_URL").context("OPENAI_BASE_URL does not say where the model is")?,
            name: text("OPENAI_MODEL").context("OPENAI_MODEL does not say which model it is")?,
            key: text("OPENAI_API_KEY"),
        })
    }
}

/// Whether this process was started to compile one plugin, and do nothing else.
pub(crate) fn is_compile_worker() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == WORKER)
}

/// Compiles plugins in a process of their own, which has limits on time and memory: this program again.
///
/// # Errors
/// This program cannot find itself.
pub(crate) fn compiler() -> anyhow::Result<Compiler> {
    let program = std::env::current_exe().context("this program cannot find itself, to compile plugins with")?;
    Ok(Compiler::Worker { program, arguments: vec![OsString::from(WORKER)] })
}

/// A variable; an empty one is as good as none.
#[expect(clippy::disallowed_methods, reason = "the command line is where variables become settings")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
