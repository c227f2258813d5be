//! Measures a plugin of twenty megabytes, the conformance plugin in Python: its first call in a new process, a call in
//! a running server, in a fresh sandbox and in the instance of its session, and the memory of many such plugins.

use crate::floor::{Floor, shown};
use crate::mcp::{Era, Peer, Pipe};
use crate::real_program::{finished, put, real_program};
use crate::rounds::{Row, block, paired, row};
use crate::start::SETTLED_AFTER;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The argument that makes this program map the code in a file and make one call, with nothing around it.
pub(crate) const BARE_CALL: &str = "bare-call";

/// The variable with the folder of the components of all languages.
const LANGUAGES: &str = "PORTCULLIS_TEST_LANGUAGES";

/// The plugins of the memory measurement.
const PLUGINS: usize = 20;

/// The plugin's name. Every place that has it gets another name of the same length.
const NAME: &[u8] = b"conformance";

/// Runs of one variant per round. Each starts a process.
const RUNS_PER_BLOCK: usize = 3;

/// Warm calls of one variant per round.
const CALLS_PER_BLOCK: usize = 50;

/// The same plugin, whose instance lives for a session.
const KEPT: &str = "conformkept";

/// Allows the tools that are called.
const POLICY: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
                      [plugin.conformkept]\ninstance = \"session\"\n";

/// The tool that adds two numbers, and the same call of the small guest.
const SUM: (&str, &str, &str) = ("add", r#"{"a":2,"b":2}"#, "4");
const GREETING: (&str, &str, &str) = ("greet", r#"{"name":"Ann"}"#, "Ann");

/// Measures the calls and the memory. The plugins and their code stay in `kept` for the next run, because it takes
/// minutes to compile them.
pub(crate) fn measure(guests: &Path, kept: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let bench = LargeBench::prepare(guests, kept)?;
    let cold = |plugin: &str, (tool, arguments, _): (&str, &str, &str)| {
        let tool = format!("{plugin}.{tool}");
        block(RUNS_PER_BLOCK, || finished(bench.command(&["call", &tool, arguments])))
    };
    let python = bench.name(0);
    let [small, large] = paired([&|| cold("hello", GREETING), &|| cold(&python, SUM)])?;
    show(row("Python, first call of a process / a small plugin".to_owned(), &small, &large));

    let bare = || block(RUNS_PER_BLOCK, || finished(bench.bare_call(SUM)?));
    let [bare, ours] = paired([&bare, &|| cold(&python, SUM)])?;
    show(row("Python, first call of a process / bare deserialize_file and call".to_owned(), &bare, &ours));

    let warm = |plugin: &str, (tool, arguments, answer): (&str, &str, &str)| {
        let (mut served, tool) = (bench.serve()?, format!("{plugin}__{tool}"));
        served.call(&tool, arguments, answer)?;
        block(CALLS_PER_BLOCK, || served.call(&tool, arguments, answer))
    };
    let [small, large] = paired([&|| warm("hello", GREETING), &|| warm(&python, SUM)])?;
    show(row("Python, a call over stdio / a small plugin".to_owned(), &small, &large));

    let [fresh, kept] = paired([&|| warm(&python, SUM), &|| warm(KEPT, SUM)])?;
    show(row("Python, a call over stdio, instance of a session / fresh sandbox".to_owned(), &fresh, &kept));
    for peer in Peer::all().into_iter().filter(Peer::has_sum) {
        let theirs = || {
            let (mut other, (tool, arguments, answer)) = (Pipe::begin(peer.command(), Era::Legacy)?, SUM);
            other.call(tool, arguments, answer)?;
            block(CALLS_PER_BLOCK, || other.call(tool, arguments, answer))
        };
        let [other, ours] = paired([&theirs, &|| warm(&python, SUM)])?;
        show(row(format!("Python, a call over stdio / {}", peer.name), &other, &ours));
        let [other, ours] = paired([&theirs, &|| warm(KEPT, SUM)])?;
        show(row(format!("Python, a call over stdio, instance of a session / {}", peer.name), &other, &ours));
    }

    let mut served = bench.serve()?;
    let (tool, arguments, answer) = SUM;
    served.call(&format!("{python}__{tool}"), arguments, answer)?;
    let one = served.memory()?;
    for number in 1..PLUGINS {
        served.call(&format!("{}__{tool}", bench.name(number)), arguments, answer)?;
    }
    let many = served.memory()?;
    show(Row::kibibytes(format!("anonymous memory, {PLUGINS} Python plugins / one"), one.anonymous, many.anonymous));
    show(Row::kibibytes(format!("resident memory, {PLUGINS} Python plugins / one"), one.resident, many.resident));
    Ok(())
}

/// Runs the child of a bare call.
pub(crate) fn call_bare(given: &[&str]) -> Result<()> {
    let [code, tool, arguments] = given else { bail!("usage: portcullis-bench {BARE_CALL} CODE TOOL ARGUMENTS") };
    let code = Path::new(code);
    let workspace = code.parent().context("the file is in no directory")?;
    Floor::map(code, workspace).and_then(|bare| bare.call(tool, arguments)).map_err(shown)
}

/// The real program with its plugins.
struct LargeBench {
    program: PathBuf,
    kept: PathBuf,
}

impl LargeBench {
    fn prepare(guests: &Path, kept: &Path) -> Result<Self> {
        let languages = std::env::var_os(LANGUAGES).with_context(|| format!("{LANGUAGES} is not set"))?;
        let component = Path::new(&languages).join("python/conformance.wasm");
        let component = fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
        let bench = Self { program: real_program("large")?, kept: kept.to_owned() };
        fs::create_dir_all(bench.kept.join("plugins"))?;
        put(&bench.file("hello"), &fs::read(guests.join("hello.wasm"))?)?;
        for name in (0..PLUGINS).map(|number| bench.name(number)).chain([KEPT.to_owned()]) {
            put(&bench.file(&name), &renamed(&component, name.as_bytes()))?;
        }
        fs::write(bench.kept.join("policy.toml"), POLICY)?;
        fs::write(bench.bare_code(), Floor::compile(&component).map_err(shown)?)?;
        // The first start compiles. The second one finds files that are old enough to be known by their times.
        finished(bench.command(&["list"]))?;
        std::thread::sleep(SETTLED_AFTER);
        finished(bench.command(&["list"]))?;
        Ok(bench)
    }

    /// Returns the name of a plugin.
    fn name(&self, number: usize) -> String {
        format!("conform{number:04}")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.kept.join("plugins").join(format!("{name}.wasm"))
    }

    /// Returns the file with the code of the Python plugin, as wasmtime's default configuration compiles it.
    fn bare_code(&self) -> PathBuf {
        self.kept.join("bare.cwasm")
    }

    fn bare_call(&self, (tool, arguments, _): (&str, &str, &str)) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(BARE_CALL).arg(self.bare_code()).args([tool, arguments]);
        Ok(command)
    }

    fn serve(&self) -> Result<Pipe> {
        Pipe::begin(self.command(&["serve", "--stdio"]), Era::Legacy)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for (option, place) in [("--plugins", "plugins"), ("--policy", "policy.toml"), ("--state", "state")] {
            command.arg(option).arg(self.kept.join(place));
        }
        command.args(arguments);
        command
    }
}

/// Returns the component with another name of the same length in each place that has its name.
fn renamed(component: &[u8], name: &[u8]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let places: Vec<usize> =
        bytes.windows(NAME.len()).enumerate().filter(|(_, part)| *part == NAME).map(|(at, _)| at).collect();
    for at in places {
        bytes[at..at + NAME.len()].copy_from_slice(name);
    }
    bytes
}
