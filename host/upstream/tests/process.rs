//! Servers as processes.

use portcullis_definitions::manifest::{Answer, Output};
use portcullis_upstream::{
    ConnectError, ElicitationReply, RefuseRequests, ReplyFuture, RequestKinds, ServerCall, ServerClient, ServerError,
    ServerLimits, ServerReply, ServerRequest, ServerRequests, ServerStreams, connect,
};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

/// Memory that a test may take more than it did, in bytes. Other tests can run in the same process.
pub(crate) const MEMORY_MARGIN: usize = 160 * 1024 * 1024;

/// A running server. It is killed when this is dropped.
pub(crate) struct ServerProcess {
    child: Child,
}

impl ServerProcess {
    /// Starts the hostile server in a mode.
    pub(crate) fn hostile(mode: &str) -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/hostile.py");
        let mut command = command("python3");
        command.arg(script).arg(mode);
        Self::start(command)
    }

    /// Starts the server of the modern era.
    pub(crate) fn modern() -> Self {
        let mut command = command(installed("PORTCULLIS_TEST_PYTHON_MODERN"));
        command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/modern.py"));
        Self::start(command)
    }

    /// Starts a server from an installed npm package.
    pub(crate) fn node(package: &str, arguments: &[&str]) -> Self {
        let script = installed("PORTCULLIS_TEST_SERVER_MODULES").join(package).join("dist/index.js");
        let mut command = command(installed("PORTCULLIS_TEST_NODE"));
        command.arg(script).args(arguments);
        Self::start(command)
    }

    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self { child: command.spawn().expect("the server starts") }
    }

    /// Returns the streams for the client.
    pub(crate) fn streams(&mut self) -> ServerStreams<ChildStdout, ChildStdin> {
        ServerStreams {
            output: self.child.stdout.take().expect("its output is a pipe"),
            input: self.child.stdin.take().expect("its input is a pipe"),
        }
    }

    /// Reads the first line of standard output.
    pub(crate) async fn first_line(&mut self) -> String {
        let mut line = String::new();
        let output = self.child.stdout.take().expect("its output is a pipe");
        BufReader::new(output).read_line(&mut line).await.expect("it writes text");
        line.trim().to_owned()
    }

    /// Connects with some limits.
    pub(crate) async fn connect(&mut self, limits: ServerLimits) -> Result<ServerClient, ConnectError> {
        self.connect_for(limits, Arc::new(RefuseRequests::default())).await
    }

    /// Connects with some limits, and something that replies to the server.
    pub(crate) async fn connect_for(
        &mut self,
        limits: ServerLimits,
        requests: Arc<dyn ServerRequests>,
    ) -> Result<ServerClient, ConnectError> {
        connect(self.streams(), limits, requests).await
    }

    /// Waits until the server has exited, and returns what it wrote to standard error.
    pub(crate) async fn errors(mut self) -> String {
        let mut errors = String::new();
        let mut from = self.child.stderr.take().expect("its errors are a pipe");
        let read = tokio::time::timeout(Duration::from_secs(10), from.read_to_string(&mut errors));
        read.await.expect("it exits").expect("it writes text");
        errors
    }
}

/// Starts the hostile server in a mode, and connects.
pub(crate) async fn hostile(mode: &str) -> (ServerClient, ServerProcess) {
    let mut server = ServerProcess::hostile(mode);
    let client = server.connect(limits()).await.expect("the client connects");
    (client, server)
}

/// Returns the limits of most tests: the usual ones, with shorter times.
pub(crate) fn limits() -> ServerLimits {
    ServerLimits {
        connect_time: Duration::from_secs(20),
        write_time: Duration::from_secs(2),
        reply_time: Duration::from_secs(5),
        list_time: Duration::from_secs(20),
        ..ServerLimits::default()
    }
}

/// Calls the tool `run` of the hostile server.
pub(crate) async fn run(client: &ServerClient) -> Result<Answer, ServerError> {
    client.call("run", Map::new(), within(Duration::from_secs(30))).await
}

/// Returns a call with a deadline.
pub(crate) fn within(time: Duration) -> ServerCall {
    ServerCall {
        deadline: Instant::now() + time,
        cancellation: CancellationToken::new(),
        has_output_schema: false,
        on_progress: None,
        requests: None,
    }
}

/// Returns the arguments of a call.
pub(crate) fn arguments(arguments: Value) -> Map<String, Value> {
    match arguments {
        Value::Object(arguments) => arguments,
        other => panic!("{other} is not an object"),
    }
}

/// Returns the text of an answer.
#[track_caller]
pub(crate) fn text(answer: Result<Answer, ServerError>) -> String {
    match answer.expect("there is an answer").expect("the tool succeeded").output {
        Output::Text(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

/// Returns how much memory this process uses, in bytes.
pub(crate) fn memory() -> usize {
    status("VmRSS:")
}

/// Returns the most memory that this process has ever used, in bytes.
pub(crate) fn peak_memory() -> usize {
    status("VmHWM:")
}

#[expect(clippy::disallowed_methods, reason = "the kernel's counts for this process have no handle")]
fn status(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the kernel counts it");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

#[expect(clippy::disallowed_methods, reason = "a test starts the program that it tests with")]
pub(crate) fn command(program: impl Into<PathBuf>) -> Command {
    Command::new(program.into())
}

/// Returns the place of what `cargo xtask test upstream` installs.
#[expect(clippy::disallowed_methods, reason = "`cargo xtask test` passes the places of servers in variables")]
pub(crate) fn installed(variable: &str) -> PathBuf {
    let place = std::env::var_os(variable);
    PathBuf::from(place.unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test upstream`")))
}

/// A user called Ada, who answers every question with her name.
#[derive(Default)]
pub(crate) struct AskedUser {
    pub(crate) requests: Mutex<Vec<ServerRequest>>,
}

impl ServerRequests for AskedUser {
    fn supported(&self) -> RequestKinds {
        RequestKinds { elicitation: true, ..RequestKinds::default() }
    }

    fn reply(&self, request: ServerRequest) -> ReplyFuture<'_> {
        self.requests.lock().unwrap().push(request);
        let reply = ElicitationReply::Accepted(json!({"name": "Ada"}));
        Box::pin(std::future::ready(ServerReply::Elicited(reply)))
    }
}

/// Calls the tool `grow` of the modern server until a change is reported. A subscription has no acknowledgement here,
/// so the first change can come before it.
pub(crate) async fn grow(client: &ServerClient) {
    let mut changes = client.changed();
    let changed = async {
        loop {
            let _ = client.call("grow", Map::new(), within(Duration::from_secs(30))).await;
            if tokio::time::timeout(Duration::from_millis(200), changes.changed()).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a change is reported");
}
