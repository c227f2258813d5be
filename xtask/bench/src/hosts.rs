//! Measures hosts that share a ledger: a call without approval with either store, approvals per second of one to eight
//! processes, and how soon a host hears of an answer that another host recorded.

use crate::governed::Governed;
use crate::rounds::{Row, measure_hosts};
use crate::work::{Work, gather};
use anyhow::{Context as _, Result, ensure};
use portcullis::policy::Unattended;
use portcullis::state::{PostgresAddress, StatePlace};
use portcullis::{Answer, Compiler, Host, Outcome, Request};
use portcullis_tests_postgres::Server;
use serde_json::json;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first argument of a process that makes approvals.
pub(crate) const CHILD: &str = "hosts-child";

/// How long the processes make approvals.
const TIME: Duration = Duration::from_secs(4);

/// Calls that a process has open at the same time.
const CALLS_OPEN: usize = 8;

/// Answers of another host that are timed.
const ANSWERS: usize = 40;

/// Clock ticks per second of the system's CPU times, as on every Linux.
const TICKS: f64 = 100.0;

/// The name of the database in the place of a state directory alone.
const NONE: &str = "-";

/// Every call asks.
const ASK: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

/// Two places for the state of one bench.
struct Places {
    scratch: PathBuf,
    server: Server,
}

pub(crate) fn measure(guests: &Path, show: &mut impl FnMut(Row)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let plugins = gather(scratch.path(), &[guests.join("json.wasm")])?;
    let places = Places { scratch: scratch.path().to_owned(), server: Server::start()? };
    places.server.create("calls")?;
    let sqlite = Governed::at(&plugins, scratch.path(), places.directory("sqlite").into())?;
    let postgres = Governed::at(&plugins, scratch.path(), places.shared("postgres", "calls")?)?;
    let arguments = json!({ "text": "hello" }).to_string();
    let echo = Work { name: "echo", plugin: "json", tool: "echo", arguments, outcome: Outcome::Completed };
    show(measure_hosts(&echo, "ledger in PostgreSQL / in SQLite", &sqlite, &postgres)?);
    drop((sqlite, postgres));
    for processes in [1, 2, 4, 8] {
        let (file, _) = places.approvals(&plugins, processes, None)?;
        let database = format!("of{processes}");
        places.server.create(&database)?;
        let (shared, busy) = places.approvals(&plugins, processes, Some(&database))?;
        show(Row::rates(format!("approvals, {processes} processes / in SQLite"), file, shared));
        println!("{:<57} the database used {:.0} % of one core", "", busy * 100.0);
    }
    places.server.create("answers")?;
    let mut times = places.answers(&plugins)?;
    times.sort_unstable();
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "an answer of another host: the call has ended after {median:?} (median), {slowest:?} (slowest of {ANSWERS})"
    );
    Ok(())
}

impl Places {
    fn directory(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    fn shared(&self, name: &str, database: &str) -> Result<StatePlace> {
        place(&self.directory(name), &self.server.address(database), &self.key()?)
    }

    fn key(&self) -> Result<PathBuf> {
        let key = self.scratch.join("key");
        // Written once: another process may read it.
        if !key.exists() {
            std::fs::write(&key, [7; 32])?;
        }
        Ok(key)
    }

    /// Returns the approvals per second of some processes, and the share of a core that the database used.
    fn approvals(&self, plugins: &Path, processes: usize, database: Option<&str>) -> Result<(f64, f64)> {
        let address = database.map_or_else(|| NONE.to_owned(), |database| self.server.address(database));
        let start = |number: usize| -> Result<_> {
            let state = match database {
                Some(database) => self.directory(&format!("{database}-{number}")),
                None => self.directory(&format!("file-{processes}")),
            };
            let mut command = Command::new(std::env::current_exe()?);
            command.arg(CHILD).arg(plugins).arg(&self.scratch).arg(state).arg(&address).arg(self.key()?);
            Ok(command.arg(number.to_string()).stdout(Stdio::piped()).spawn()?)
        };
        let (before, begun) = (self.database_time()?, Instant::now());
        let children = (0..processes).map(start).collect::<Result<Vec<_>>>()?;
        let mut made = 0.0;
        for mut child in children {
            let mut text = String::new();
            child.stdout.take().context("no output")?.read_to_string(&mut text)?;
            ensure!(child.wait()?.success(), "a process failed");
            made += text.trim().parse::<f64>()?;
        }
        let busy = (self.database_time()? - before) / begun.elapsed().as_secs_f64();
        Ok((made / TIME.as_secs_f64(), busy))
    }

    /// Returns the CPU seconds of the database so far.
    fn database_time(&self) -> Result<f64> {
        let mut ticks = 0.0;
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some((name, fields)) = stat.rsplit_once(')') else { continue };
            if !name.ends_with("(postgres") {
                continue;
            }
            let fields: Vec<&str> = fields.split_whitespace().collect();
            let number = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
            let is_server = entry.file_name().to_str() == self.server.process_id().map(|id| id.to_string()).as_deref();
            // User and system time of the process, and for the server those of its ended processes.
            ticks += number(11) + number(12) + if is_server { number(13) + number(14) } else { 0.0 };
        }
        Ok(ticks / TICKS)
    }

    /// Returns how long after an answer on one host its call has ended on another.
    fn answers(&self, plugins: &Path) -> Result<Vec<Duration>> {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(async {
            let open = async |name: &str| -> Result<Host> {
                let builder = Host::builder(plugins, self.shared(name, "answers")?).compiler(Compiler::InProcess);
                Ok(builder.policy_text(ASK, &self.scratch).answered_elsewhere().open().await?)
            };
            let (first, second) = (Arc::new(open("first").await?), open("second").await?);
            let mut times = Vec::new();
            for number in 0..ANSWERS {
                let host = Arc::clone(&first);
                let waiting = tokio::spawn(async move { host.call(request(number)).await.outcome() });
                let question = loop {
                    if let Some(question) = second.approvals().list().await?.questions.pop() {
                        break question;
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                };
                let begun = Instant::now();
                second.approvals().answer(&question.id, &Answer::Yes).await?;
                ensure!(waiting.await? == Outcome::Completed, "the call was refused");
                times.push(begun.elapsed());
            }
            Ok(times)
        })
    }
}

fn request(number: usize) -> Request {
    Request::new("json.echo", json!({ "text": number.to_string() }).to_string())
}

fn place(state: &Path, address: &str, key: &Path) -> Result<StatePlace> {
    let place = StatePlace::from(state);
    Ok(match address {
        NONE => place,
        address => place.ledger_in(PostgresAddress::new(address.to_owned())).ledger_key(key.to_owned()),
    })
}

/// Makes requests, approves them and runs their calls, as one host. Prints how many.
pub(crate) fn work(given: &[&str]) -> Result<()> {
    let [plugins, scratch, state, address, key, number] = given else { anyhow::bail!("six arguments") };
    let place = place(Path::new(state), address, Path::new(key))?;
    let first = number.parse::<usize>()? * 1_000_000;
    let runtime = tokio::runtime::Runtime::new()?;
    let made = runtime.block_on(async {
        let builder = Host::builder(*plugins, place).compiler(Compiler::InProcess).policy_text(ASK, *scratch);
        let host = Arc::new(builder.unattended(Unattended::Pending).open().await?);
        let begun = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..CALLS_OPEN {
            let host = Arc::clone(&host);
            tasks.spawn(async move {
                let mut made = 0_u32;
                while begun.elapsed() < TIME {
                    let reply = host.call(request(first + task * 10_000 + made as usize)).await;
                    let id = reply.approval_request.context("no request")?;
                    host.approvals().answer(&id, &Answer::Yes).await?;
                    ensure!(host.resume(&id).await?.outcome() == Outcome::Completed, "the call was refused");
                    made += 1;
                }
                Ok(made)
            });
        }
        tasks.join_all().await.into_iter().sum::<Result<u32>>()
    })?;
    println!("{made}");
    Ok(())
}
