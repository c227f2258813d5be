//! The program in a folder of its own, with a policy that names the server of a scenario.

use crate::scenario::Scenario;
use crate::user;
use serde_json::Value;
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// The variable that gives the program the secret of a registered client.
const CLIENT_SECRET: &str = "SUITE_CLIENT_SECRET";

/// Interval at which the user looks for requests.
const APPROVAL_INTERVAL: Duration = Duration::from_millis(50);

/// The folder of a host, with its policy.
pub(crate) struct ScenarioHost {
    root: TempDir,
    client_secret: Option<String>,
    asks_user: bool,
}

/// What the host says about the server of a scenario.
pub(crate) struct ListedSuite {
    /// The names of its tools.
    pub(crate) tools: Vec<String>,
    /// Why the server, or some of its tools, cannot be used.
    pub(crate) refusal: Option<String>,
}

impl ScenarioHost {
    pub(crate) fn new(address: &str, scenario: &Scenario) -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("plugins")).unwrap();
        // The suite listens at `localhost`, which has an address of each family.
        let policy = format!(
            "[server.suite]\nurl = {address:?}\naddresses = [\"127.0.0.0/8\", \"::1/128\"]\n{}{}\
             [[rule]]\ntool = \"suite.*\"\ndecision = \"allow\"\n",
            login(scenario),
            if scenario.asks_user() { "elicitation = \"ask\"\n" } else { "" }
        );
        fs::write(root.path().join("policy.toml"), policy).unwrap();
        let client_secret = scenario.client.as_ref().and_then(|client| client.secret.clone());
        Self { root, client_secret, asks_user: scenario.asks_user() }
    }

    /// Returns the program with arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let program = env::var_os("PORTCULLIS_TEST_BINARY").expect("the test passes the program");
        let mut command = Command::new(program);
        command.current_dir(self.root.path()).env_clear().env("HOME", self.root.path()).stdin(Stdio::null());
        command.envs(self.client_secret.iter().map(|secret| (CLIENT_SECRET, secret)));
        command.args(["--plugins", "plugins", "--policy", "policy.toml", "--state", "state"]).args(arguments);
        command
    }

    /// Connects to the server, and lists its tools.
    pub(crate) fn list(&self) -> ListedSuite {
        let output = self.command(&["--json", "list"]).output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        let entry = |key: &str, name: &str, value: &str| {
            list[key].as_array().unwrap().iter().find(|entry| entry[name] == value)
        };
        let tools = entry("plugins", "name", "suite").and_then(|suite| suite["tools"].as_array());
        let name = |tool: &Value| tool["name"].as_str().unwrap().trim_start_matches("suite.").to_owned();
        let refusal = entry("refused", "file", "server.suite");
        ListedSuite {
            tools: tools.into_iter().flatten().map(name).collect(),
            refusal: refusal.map(|refused| refused["reason"].as_str().unwrap().to_owned()),
        }
    }

    /// Calls a tool, and approves what the server asks the user. An error is what the program prints.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let tool = format!("suite.{tool}");
        let mut command = self.command(&["call", &tool, &arguments.to_string(), "--ask", "wait"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while self.asks_user && child.try_wait().unwrap().is_none() {
            self.approve();
            thread::sleep(APPROVAL_INTERVAL);
        }
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        println!("{tool}: {:?} {text}", output.status.code());
        if output.status.success() { Ok(()) } else { Err(text) }
    }

    /// Approves every open request.
    fn approve(&self) {
        let output = self.command(&["--json", "approvals", "list"]).output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        let requests = list["questions"].as_array().unwrap().iter();
        for request in requests.filter(|request| request["status"] == "pending") {
            let id = request["id"].as_str().unwrap();
            let output = self.command(&["approvals", "approve", id, "--yes"]).output().unwrap();
            println!("approval of {id}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }

    /// Logs in, as a user who agrees to everything. An error is what the program prints.
    pub(crate) async fn log_in(&self) -> Result<(), String> {
        let mut command = self.command(&["login", "suite", "--yes", "--no-browser"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let (mut told, mut line) = (String::new(), String::new());
        while notes.read_line(&mut line).unwrap() > 0 {
            if let Some(page) = line.trim().strip_prefix("open this page: ") {
                println!("the browser shows: {}", user::visit(page).await);
            }
            told.push_str(&std::mem::take(&mut line));
        }
        child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        let status = child.wait().unwrap();
        println!("login: {:?} {told}", status.code());
        if status.success() { Ok(()) } else { Err(told) }
    }
}

/// Returns the line of the policy about logins.
fn login(scenario: &Scenario) -> String {
    match &scenario.client {
        Some(client) => {
            let secret = client.secret.as_ref().map(|_| format!(", client-secret = \"env:{CLIENT_SECRET}\""));
            format!("oauth = {{ client-id = {:?}{} }}\n", client.id, secret.unwrap_or_default())
        }
        None if scenario.logs_in() => "oauth = true\n".to_owned(),
        None => String::new(),
    }
}
