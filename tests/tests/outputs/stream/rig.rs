//! One run of the guest `output`, in a plugin named `scribe`, and everything that its caller receives.

use portcullis_definitions::manifest::{Answer, Failure, Output, Success};
use portcullis_policy::{Access, HttpBinding, Limits};
use portcullis_sandbox::{
    Ask, BoxFuture, CallContext, CallHost, Cancellation, Client, Code, Compiler, Directory, Effects, Engine,
    EngineConfig, Handles, Network, OutputFull, Progress, Ran, RunSetup, Stop, ToolCall, Traffic,
};
use portcullis_tests::built_guest;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::OnceCell;

/// What a caller received.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The sizes of the pieces, in bytes.
    pub(crate) pieces: Vec<usize>,
    /// The text of all pieces.
    pub(crate) text: Vec<u8>,
    /// The effects of a dropped run.
    pub(crate) effects: Option<Effects>,
    pub(crate) traffic: Option<Traffic>,
    pub(crate) progress: Vec<Progress>,
}

impl Told {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.text).expect("the pieces are UTF-8")
    }
}

type OnPiece = Box<dyn Fn(usize) -> Result<(), OutputFull> + Send + Sync>;
type OnProgress = Box<dyn Fn() + Send + Sync>;

/// A caller that records what it receives.
pub(crate) struct Taker {
    told: Mutex<Told>,
    on_piece: OnPiece,
    on_progress: OnProgress,
}

impl Taker {
    fn new() -> Self {
        Self { told: Mutex::default(), on_piece: Box::new(|_| Ok(())), on_progress: Box::new(|| ()) }
    }

    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap()
    }
}

impl CallHost for Taker {
    fn report(&self, progress: Progress) {
        self.told().progress.push(progress);
        (self.on_progress)();
    }

    fn ask(&self, _: Ask) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(Err("no approver is present".to_owned())))
    }

    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        let pieces = {
            let mut told = self.told();
            told.pieces.push(bytes.len());
            told.text.extend_from_slice(bytes);
            told.pieces.len()
        };
        (self.on_piece)(pieces)
    }

    fn traffic(&self, traffic: Traffic) {
        assert!(self.told().traffic.replace(traffic).is_none(), "told twice");
    }

    fn effects(&self, effects: Effects) {
        assert!(self.told().effects.replace(effects).is_none(), "told twice");
    }
}

/// The settings of one run.
pub(crate) struct Rig {
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
    handles: Handles,
    taker: Taker,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
        Self { limits, cancellation: Cancellation::new(), handles: Handles::none(), taker: Taker::new() }
    }

    /// Sets what the caller does with each piece, by its number.
    pub(crate) fn on_piece(mut self, act: impl Fn(usize) -> Result<(), OutputFull> + Send + Sync + 'static) -> Self {
        self.taker.on_piece = Box::new(act);
        self
    }

    /// Sets what the caller does with each progress report.
    pub(crate) fn on_progress(mut self, act: impl Fn() + Send + Sync + 'static) -> Self {
        self.taker.on_progress = Box::new(act);
        self
    }

    /// Grants a directory.
    pub(crate) fn workspace(mut self, path: &Path) -> Self {
        let directory = Directory::open(path, Access::ReadWrite).unwrap();
        self.handles.directory_key("workspace".into(), Some(directory));
        self
    }

    /// Grants an HTTP client.
    pub(crate) fn client(mut self, network: &Network, binding: HttpBinding, base: &Path) -> Self {
        let binding = Arc::new(binding);
        let client = Client::new(network, Arc::clone(&binding), base.to_path_buf()).unwrap();
        self.handles.client_key("api".into(), Some(binding), Some(client));
        self
    }

    /// Runs a tool to its end.
    pub(crate) async fn run(self, tool: &str, arguments: &Value) -> Run {
        let (taker, running) = self.begin(tool, arguments);
        Run { ran: running.await, taker }
    }

    /// Returns a run that has not started, and its caller.
    fn begin<'a>(self, tool: &'a str, arguments: &Value) -> (Arc<Taker>, impl Future<Output = Ran<Answer>> + use<'a>) {
        let Self { limits, handles, cancellation, taker } = self;
        let taker = Arc::new(taker);
        let (context, arguments) = (context(Arc::clone(&taker)), arguments.to_string());
        let running = async move {
            let setup = RunSetup { code: code().await, limits: &limits, handles, context, cancellation };
            engine().await.execute(ToolCall { tool, arguments: &arguments }, setup).await
        };
        (taker, running)
    }

    /// Runs a tool until it reports progress, and then drops the run.
    pub(crate) async fn drop_at_progress(mut self, tool: &str, arguments: &Value) -> Arc<Taker> {
        let reported = Arc::new(tokio::sync::Notify::new());
        let notify = Arc::clone(&reported);
        self.taker.on_progress = Box::new(move || notify.notify_one());
        let (taker, running) = self.begin(tool, arguments);
        tokio::select! {
            ran = running => panic!("it ended: {:?}", ran.result),
            () = reported.notified() => {}
        }
        taker
    }

    /// Runs the review of a call.
    pub(crate) async fn review(self, tool: &str) -> Ran<portcullis_definitions::manifest::Verdict> {
        let (handles, context, cancellation) = (Handles::none(), context(Arc::new(self.taker)), Cancellation::new());
        let setup = RunSetup { code: code().await, limits: &self.limits, handles, context, cancellation };
        engine().await.review(ToolCall { tool, arguments: "{}" }, setup).await
    }
}

/// A run that has ended.
pub(crate) struct Run {
    pub(crate) ran: Ran<Answer>,
    pub(crate) taker: Arc<Taker>,
}

impl Run {
    #[track_caller]
    pub(crate) fn success(&self) -> &Success {
        match &self.ran.result {
            Ok(Ok(success)) => success,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn failure(&self) -> &Failure {
        match &self.ran.result {
            Ok(Err(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn stop(&self) -> &Stop {
        self.ran.result.as_ref().expect_err("the run was stopped")
    }

    /// Asserts that the caller received exactly this text.
    #[track_caller]
    pub(crate) fn answers(&self, text: &str) {
        assert_eq!(self.success().output, Output::Text(String::new()));
        self.had_written(text);
    }

    /// Asserts what the caller received, however the run ended.
    #[track_caller]
    pub(crate) fn had_written(&self, text: &str) {
        let told = self.taker.told();
        assert_eq!(told.text(), text);
        assert_eq!(self.ran.streamed, text.len() as u64);
    }
}

fn context(host: Arc<Taker>) -> CallContext {
    CallContext {
        id: "call".into(),
        session: "session".into(),
        message: None,
        agent: None,
        host,
        approval_time: Duration::from_millis(1),
    }
}

/// The default limits, with memory for a text that is too large to be returned.
fn largest() -> Limits {
    Limits { memory_bytes: 256 << 20, ..Limits::default() }
}

async fn engine() -> &'static Engine {
    static ENGINE: OnceCell<Engine> = OnceCell::const_new();
    let start =
        || async { Engine::new(&EngineConfig { calls: 16, largest: largest(), store_value_bytes: 0 }).unwrap() };
    ENGINE.get_or_init(start).await
}

async fn code() -> &'static Code {
    static CODE: OnceCell<Code> = OnceCell::const_new();
    let compile = || async {
        let artefact = Compiler::InProcess.compile(&built_guest("output")).await.unwrap();
        Code::load(engine().await, &artefact).unwrap()
    };
    CODE.get_or_init(compile).await
}
