//! Measures calls over MCP through the real program, against a server of the same library whose tool does nothing.

mod burst;
mod empty;
mod peers;
mod pipe;

pub(crate) use empty::serve as serve_empty;
pub(crate) use pipe::{Era, Pipe};

use crate::cores::keep_to;
use crate::policies;
use crate::real_program::real_program;
use crate::rounds::{Block, Row, block, paired, row, summarize};
use crate::work::gather;
use anyhow::{Context, Result, ensure};
use peers::Cores;
pub(crate) use peers::Peer;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The argument that makes this program run as the server whose tool does nothing.
pub(crate) const EMPTY_SERVER: &str = "empty-mcp-server";

/// The variable with the program of another gateway, to measure beside this one. Its arguments are the command of the
/// server, whose tools it must serve over pipes under their own names.
const OTHER_GATEWAY: &str = "PORTCULLIS_BENCH_GATEWAY";

/// Calls of one variant per round: about thirty milliseconds.
const CALLS_PER_BLOCK: usize = 300;

/// Calls of a block with many calls in flight.
const CALLS_IN_FLIGHT_PER_BLOCK: usize = 1500;

/// Calls that are in flight at one time.
const IN_FLIGHT: usize = 64;

/// A call, and a text that its result must contain.
struct Work {
    name: &'static str,
    tool: &'static str,
    arguments: String,
    answer: &'static str,
}

fn works() -> [Work; 3] {
    let denied = serde_json::json!({ "text": format!("denied {}", "x".repeat(93)) }).to_string();
    let echo = serde_json::json!({ "text": "x".repeat(100) }).to_string();
    [
        Work { name: "json", tool: "json__summarize", arguments: orders(), answer: "3 orders, 2 kinds" },
        Work { name: "echo", tool: "json__echo", arguments: echo, answer: "xxxx" },
        // All of the host's own work, including both audit entries, without a sandbox.
        Work { name: "echo, denied", tool: "json__echo", arguments: denied, answer: "policy denies" },
    ]
}

fn orders() -> String {
    let orders: Vec<_> = ["apple", "pear", "apple"]
        .iter()
        .enumerate()
        .map(|(at, item)| serde_json::json!({ "item": item, "count": at + 1 }))
        .collect();
    serde_json::json!({ "orders": orders }).to_string()
}

/// Measures every call in both protocol eras, and many concurrent calls over HTTP, with all cores and with one.
pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let site = Site::new(scratch.path(), guests)?;
    measure_stdio(&site, Cores::All, show)?;
    let burst = burst::measure(site.serve("http", &["--http", "127.0.0.1:0", "--no-auth"]), &orders())?;
    let failures = burst.failures();
    show(burst);
    ensure!(failures == 0, "{failures} of the concurrent calls failed");
    // The last, because it cannot be undone.
    keep_to(1)?;
    measure_stdio(&site, Cores::One, show)
}

/// Measures calls over pipes, against the server whose tool does nothing and against those of other libraries.
fn measure_stdio(site: &Site, cores: Cores, show: &mut impl FnMut(Row)) -> Result<()> {
    let state = |name: &str| format!("{name}-{cores:?}");
    for era in [Era::Legacy, Era::Modern] {
        let floor = RefCell::new(Pipe::begin(empty_server()?, era)?);
        let ours = RefCell::new(Pipe::begin(site.serve(&state(era.name()), &["--stdio"]), era)?);
        for work in works() {
            let through = |pipe: &RefCell<Pipe>, answer: &str| -> Result<Block> {
                let mut pipe = pipe.borrow_mut();
                block(CALLS_PER_BLOCK, || pipe.call(work.tool, &work.arguments, answer))
            };
            let [floor, ours] = paired([&|| through(&floor, empty::ANSWER), &|| through(&ours, work.answer)])?;
            show(row(format!("{}, {}{} / empty tool over stdio", work.name, era.name(), cores.words()), &floor, &ours));
        }
    }
    let [work, ..] = works();
    let ours = RefCell::new(Pipe::begin(site.serve(&state("peers"), &["--stdio"]), Era::Legacy)?);
    for peer in Peer::all() {
        let other = RefCell::new(Pipe::begin(peer.command(), Era::Legacy)?);
        let alone = |pipe: &RefCell<Pipe>, calls: usize| -> Result<Block> {
            let mut pipe = pipe.borrow_mut();
            block(calls, || pipe.call(work.tool, &work.arguments, work.answer))
        };
        let many = |pipe: &RefCell<Pipe>, calls: usize| -> Result<Block> {
            let time = pipe.borrow_mut().calls_in_flight(work.tool, &work.arguments, (calls, IN_FLIGHT))?;
            Ok(summarize(&[time / u32::try_from(calls)?]))
        };
        let calls = CALLS_PER_BLOCK / peer.slower;
        let [theirs, mine] = paired([&|| alone(&other, calls), &|| alone(&ours, CALLS_PER_BLOCK)])?;
        show(row(format!("json{} / {}", cores.words(), peer.name), &theirs, &mine));
        let calls = CALLS_IN_FLIGHT_PER_BLOCK / peer.slower;
        let [theirs, mine] = paired([&|| many(&other, calls), &|| many(&ours, CALLS_IN_FLIGHT_PER_BLOCK)])?;
        show(row(format!("json, {IN_FLIGHT} in flight{} / {}", cores.words(), peer.name), &theirs, &mine));
    }
    Ok(())
}

/// Measures a call of a server's tool through the real program, against the same call directly over pipes.
pub(crate) fn measure_upstream(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let site = Site::new(scratch.path(), guests)?;
    let program = std::env::current_exe()?;
    let policy = format!("{}\n[server.other]\ncommand = [{program:?}, {EMPTY_SERVER:?}]\n", policies::OF_A_SERVER);
    std::fs::write(&site.policy, policy).context("cannot write the policy")?;
    for era in [Era::Legacy, Era::Modern] {
        let direct = RefCell::new(Pipe::begin(empty_server()?, era)?);
        let ours = RefCell::new(Pipe::begin(site.serve(era.name(), &["--stdio"]), era)?);
        for (name, arguments) in [("small", "{}".to_owned()), ("json", orders())] {
            let through = |pipe: &RefCell<Pipe>, tool: &str| -> Result<Block> {
                let mut pipe = pipe.borrow_mut();
                block(CALLS_PER_BLOCK, || pipe.call(tool, &arguments, empty::ANSWER))
            };
            let [direct, ours] = paired([&|| through(&direct, "empty"), &|| through(&ours, "other__empty")])?;
            show(row(format!("{name}, {} / the server itself", era.name()), &direct, &ours));
        }
    }
    std::env::var_os(OTHER_GATEWAY).map_or(Ok(()), |gateway| measure_gateway(Path::new(&gateway), show))
}

/// Measures the same call through another gateway. Only in the older era, which all of them speak.
fn measure_gateway(gateway: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let mut command = Command::new(gateway);
    command.arg(std::env::current_exe()?).arg(EMPTY_SERVER);
    let direct = RefCell::new(Pipe::begin(empty_server()?, Era::Legacy)?);
    let other = RefCell::new(Pipe::begin(command, Era::Legacy)?);
    let through = |pipe: &RefCell<Pipe>| -> Result<Block> {
        let mut pipe = pipe.borrow_mut();
        block(CALLS_PER_BLOCK / 10, || pipe.call("empty", "{}", empty::ANSWER))
    };
    let [direct, other] = paired([&|| through(&direct), &|| through(&other)])?;
    show(row("small, through another gateway / the server itself".to_owned(), &direct, &other));
    Ok(())
}

/// Returns the command that runs this program as the server whose tool does nothing.
fn empty_server() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(EMPTY_SERVER);
    Ok(command)
}

/// The plugins, the policy, and a directory for state.
struct Site {
    program: PathBuf,
    plugins: PathBuf,
    policy: PathBuf,
    scratch: PathBuf,
}

impl Site {
    fn new(scratch: &Path, guests: &Path) -> Result<Self> {
        let program = real_program("mcp")?;
        let plugins = gather(scratch, &[guests.join("json.wasm")])?;
        let policy = scratch.join("policy.toml");
        std::fs::write(&policy, policies::JSON).context("cannot write the policy")?;
        Ok(Self { program, plugins, policy, scratch: scratch.to_owned() })
    }

    /// Returns the command that runs the real program with its own state directory.
    fn serve(&self, state: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--json").arg("--plugins").arg(&self.plugins).arg("--policy").arg(&self.policy);
        command.arg("--state").arg(self.scratch.join(format!("state-{state}"))).arg("serve");
        // The first call may have to wait for its plugin to be compiled.
        command.args(["--start-wait", "60"]).args(arguments);
        command
    }
}
