//! A program that runs as an MCP server, as long as the host needs it. No call owns it, so it has no time limit, and
//! its traffic belongs to no call until the host takes it.

use super::running::{serve_network, until_ended};
use super::{Launch, Program, ProgramSetup};
use crate::host_memory::HostMemory;
use crate::http::{NetworkCall, PluginSecrets, Proxy, ProxyRefusals, Traffic};
use portcullis_confine::{ProgramExit, ProgramReport, RunningProgram};
use portcullis_policy::Limits;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// How long a server may run, and how much CPU time it may use: 30 days. Then it ends, and starts again when it is
/// needed. The confinement has no endless run.
const SERVER_TIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How much of the end of a server's standard error is kept, in bytes: a stack trace.
const LOG_BYTES_MAX: usize = 16 * 1024;

/// What a server is started with.
pub struct ServerStart {
    /// The program, with its directories and its environment.
    pub setup: ProgramSetup,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The limits of the plugin. The memory that the host holds for the server's connections is limited like that of a
    /// call.
    pub limits: Limits,
    /// The secrets to search for in what is recorded of its requests.
    pub secrets: Arc<PluginSecrets>,
}

/// A server that runs. Dropping it kills the program, and everything that it started.
pub struct ServerProcess {
    /// To its standard input. `None` once it was taken.
    pub stdin: Option<pipe::Sender>,
    /// From its standard output. `None` once it was taken.
    pub stdout: Option<pipe::Receiver>,
    ended: watch::Receiver<Option<ProgramReport>>,
    log: Arc<Mutex<VecDeque<u8>>>,
    /// Keeps the end of the standard error.
    log_keeper: Option<AbortOnDropHandle<()>>,
    network: Arc<NetworkCall>,
    /// Kills the program when it is dropped.
    _guard: DropGuard,
}

impl ServerProcess {
    /// Starts a server.
    ///
    /// # Errors
    /// Why the program does not start, in words.
    pub async fn start(start: ServerStart) -> Result<Self, String> {
        let ServerStart { mut setup, arguments, limits, secrets } = start;
        (setup.limits.time, setup.limits.cpu_time) = (SERVER_TIME, SERVER_TIME);
        let program = Program::new(setup);
        let launch = Launch { arguments, environment: Vec::new(), directory: None, merge: false };
        let running = program.start_confined(launch).await?;
        let network = Arc::new(NetworkCall::endless(Some(secrets)));
        let proxy = Proxy {
            clients: program.clients(),
            call: Arc::clone(&network),
            memory: HostMemory::new(&limits),
            refusals: ProxyRefusals::default(),
        };
        Self::new(running, proxy).ok_or_else(|| "the program has no streams".to_owned())
    }

    fn new(mut program: RunningProgram, proxy: Proxy) -> Option<Self> {
        let streams = program.take_streams()?;
        let network = Arc::clone(&proxy.call);
        let proxied = serve_network(&mut program, proxy);
        let log = Arc::new(Mutex::new(VecDeque::new()));
        let log_keeper =
            streams.stderr.map(|stderr| AbortOnDropHandle::new(tokio::spawn(keep_end(stderr, Arc::clone(&log)))));
        let (send, ended) = watch::channel(None);
        let kill = CancellationToken::new();
        let killed = kill.clone();
        tokio::spawn(async move {
            let report = until_ended(&program, &killed).await;
            drop(proxied);
            send.send_replace(Some(report));
        });
        let (stdin, stdout) = (Some(streams.stdin), Some(streams.stdout));
        Some(Self { stdin, stdout, ended, log, log_keeper, network, _guard: kill.drop_guard() })
    }

    /// Waits until the program and everything that it started has ended. Returns how it ended, in words.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let report = ended.wait_for(Option::is_some).await;
        match report.ok().and_then(|report| report.as_ref().map(|report| report.exit.clone())) {
            Some(ProgramExit::Code(code)) => format!("it exited with the code {code}"),
            Some(ProgramExit::Signal(signal)) => format!("the signal {signal} ended it"),
            Some(ProgramExit::Stopped(why)) => why,
            None => "it ended".to_owned(),
        }
    }

    /// Waits until the server has closed its standard error, for at most this time. Returns the end of what it has
    /// printed there. Untrusted text.
    pub async fn last_words(&mut self, at_most: Duration) -> String {
        if let Some(keeper) = self.log_keeper.take() {
            // What was printed until then is kept in any case.
            let _ = timeout(at_most, keeper).await;
        }
        self.log()
    }

    /// Returns the end of what the server has printed to its standard error until now. Untrusted text.
    pub fn log(&self) -> String {
        let log = self.log.lock_recovered();
        let bytes: Vec<u8> = log.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Takes the requests that the server has made since the last time, for the audit log.
    pub fn take_traffic(&self) -> Traffic {
        self.network.take_traffic()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.network.end();
    }
}

/// Keeps the end of what a server prints, until it ends.
async fn keep_end(stderr: pipe::Receiver, log: Arc<Mutex<VecDeque<u8>>>) {
    // All of it is read, because a server that prints into a full pipe would stop.
    let mut block = vec![0; 4096];
    loop {
        if stderr.readable().await.is_err() {
            return;
        }
        match stderr.try_read(&mut block) {
            Ok(0) => return,
            Ok(count) => {
                let mut log = log.lock_recovered();
                log.extend(&block[..count]);
                let excess = log.len().saturating_sub(LOG_BYTES_MAX);
                log.drain(..excess);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
