//! The program as a server or several that share a ledger, with the tools that the suite needs, and a thread that
//! changes their plugins.

use crate::conformance::balancer::Balancer;
use portcullis::plugins::Contract;
use portcullis_tests::{Manifest, Site, built_guest_of, guest, program};
use portcullis_tests_postgres::{Server, address_at, is_installed};
use std::collections::BTreeSet;
use std::fs;
use std::io::{PipeReader, Read as _, pipe};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The rights of the tools. Tools that no rule allows need approval.
const POLICY: &str = r#"
[defaults]
decision = "ask"

[approvals]
repeats = 1000000

[limits]
# The suite starts a job of a minute, to cancel it.
time = "90 s"
# No approver answers where the suite declares that its client cannot be asked.
approval-time = "5 s"

[plugin.conformance]
directory.switch = { path = "switch", access = "read-write" }

[[rule]]
tool = "conformance.{greet,slow_compute,failing_job,protocol_error_job,json_schema_2020_12_tool}"
decision = "allow"

[[rule]]
tool = "conformance.test_{simple_text,*_content*,embedded_resource,error_handling,x_mcp_header}"
decision = "allow"

[[rule]]
tool = "conformance.test_{tool_with_progress,reconnection,logging_tool,trigger_tool_change}"
decision = "allow"

# It may run, and asks in its middle.
[[rule]]
tool = "conformance.confirm_delete"
when = { filename = "**" }
decision = "allow"
"#;

/// The plugin that is added and removed.
const LATE: &str = "late.wasm";
/// Interval at which the thread checks for a requested change.
const LOOK: Duration = Duration::from_millis(10);
/// Timeout for the program to compile its plugins and listen, on a loaded machine.
const START: Duration = Duration::from_secs(120);

/// How many servers share a ledger.
const REPLICAS: usize = 3;
/// The database of their ledger.
const DATABASE: &str = "ledger";

/// One server, or several behind a load balancer. Stopped on drop.
pub(crate) struct Service {
    programs: Vec<Child>,
    said: Arc<Mutex<String>>,
    url: String,
    over: Arc<AtomicBool>,
    operator: Option<JoinHandle<()>>,
    _balancer: Option<Balancer>,
    _database: Option<Server>,
    site: Site,
}

impl Service {
    /// Starts the program on a free address.
    #[track_caller]
    pub(crate) fn start() -> Self {
        let mut service = Self::prepared();
        service.run(&["--state".into(), "state".into()], &[]);
        service.url = service.wait_for_urls(1).remove(0);
        service
    }

    /// Starts several programs with one ledger, behind a load balancer without session affinity. Returns `None` on a
    /// machine without PostgreSQL.
    #[track_caller]
    pub(crate) fn replicated() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let mut service = Self::prepared();
        let database = Server::start().unwrap();
        database.create(DATABASE).unwrap();
        fs::write(service.site.path("key"), "5a".repeat(32)).unwrap();
        let mut balancer = Balancer::new();
        let name = balancer.address().to_string();
        for number in 0..REPLICAS {
            let (directory, address) = (format!("state-{number}"), address_at(database.port(), DATABASE));
            let state = ["--state", &directory, "--state", &address, "--ledger-key", "key"].map(str::to_owned);
            service.run(&state, &["--allow-host", &name]);
        }
        let addresses = service.wait_for_urls(REPLICAS);
        let addresses = addresses.iter().map(|url| url.split('/').nth(2).unwrap().parse().unwrap());
        balancer.pass_to(addresses.collect());
        service.url = format!("http://{name}/mcp");
        (service._balancer, service._database) = (Some(balancer), Some(database));
        Some(service)
    }

    fn prepared() -> Self {
        let site = Site::new();
        fs::remove_file(site.plugins().join("good.wasm")).unwrap();
        site.plugin("conformance", &built_guest_of(Contract::V0_2, "conformance"));
        fs::write(site.path("policy.toml"), POLICY).unwrap();
        let switch = site.directory("switch");
        let over = Arc::new(AtomicBool::new(false));
        let operator = thread::spawn({
            let (over, late) = (Arc::clone(&over), site.plugins().join(LATE));
            move || operate(&over, &switch, &late)
        });
        let (said, programs, operator) = (Arc::default(), Vec::new(), Some(operator));
        Self { programs, said, url: String::new(), over, operator, _balancer: None, _database: None, site }
    }

    /// Starts a program with its state in these places.
    #[track_caller]
    fn run(&mut self, state: &[String], more: &[&str]) {
        let (output, input) = pipe().unwrap();
        let mut program = Command::new(program());
        program.current_dir(self.site.path("")).env_clear().env("HOME", self.site.path("home")).stdin(Stdio::null());
        program.args(["--plugins", "plugins", "--policy", "policy.toml"]).args(state);
        program.args(["serve", "--http", "127.0.0.1:0", "--no-auth", "--tool-names", "short"]);
        program.args(["--start-wait", "60"]);
        program.args(["--client-answers", "person", "--task-after", "0.3"]).args(more);
        program.stdout(input.try_clone().unwrap()).stderr(input);
        self.programs.push(program.spawn().unwrap());
        // Drop the command, which holds the other end of the pipe: the pipe must end when the program does.
        drop(program);
        listen(output, &self.said);
    }

    /// Returns the server's address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the output of the programs.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    #[track_caller]
    fn wait_for_urls(&mut self, count: usize) -> Vec<String> {
        let deadline = Instant::now() + START;
        loop {
            let said = self.said();
            // The last line may still be incomplete.
            let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let words = whole.split_whitespace().filter(|word| word.starts_with("http://127.0.0.1:"));
            let urls: BTreeSet<String> = words.map(str::to_owned).collect();
            if urls.len() >= count {
                return urls.into_iter().collect();
            }
            let ended = self.programs.iter_mut().any(|program| program.try_wait().unwrap().is_some());
            assert!(!ended && Instant::now() < deadline, "the program does not listen:\n{said}");
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for program in &mut self.programs {
            // If the program has exited by itself, the test has already failed.
            let _ = program.kill();
            let _ = program.wait();
        }
        if let Some(operator) = self.operator.take() {
            let _ = operator.join();
        }
    }
}

/// Collects the program's output until it ends.
fn listen(mut output: PipeReader, said: &Arc<Mutex<String>>) {
    let said = Arc::clone(said);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            said.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    });
}

/// Adds or removes the plugin for every file that a tool creates in the switch's directory.
fn operate(over: &AtomicBool, switch: &Path, late: &Path) {
    let plugin = guest("good", &Manifest::of("late"));
    let mut seen = 0;
    while !over.load(Ordering::Relaxed) {
        let files = fs::read_dir(switch).map_or(seen, Iterator::count);
        for _ in seen..files {
            if late.exists() {
                fs::remove_file(late).unwrap();
            } else {
                // The file is complete before it gets its name.
                let partial = late.with_extension("partial");
                fs::write(&partial, &plugin).unwrap();
                fs::rename(partial, late).unwrap();
            }
        }
        seen = files;
        thread::sleep(LOOK);
    }
}
