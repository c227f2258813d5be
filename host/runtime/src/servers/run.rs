//! Runs a call of a server's tool: until the server answers, the call's time is over, or its caller does not want the
//! answer any more.

use super::connection::ServerConnection;
use super::deadline::CallDeadline;
use super::error::shown;
use super::grant::ServerGrant;
use super::link::ServerLink;
use super::offers::{self, ServerAction, ServerAsk};
use super::questions::{AskUser, CallQuestions};
use crate::native::ProgressSender;
use portcullis_definitions::manifest::{Answer, Failure};
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Limits, PluginName, ServerQuestions};
use portcullis_sandbox::{Cancellation, LimitKind, Progress, Stop, Traffic, Usage};
use portcullis_upstream::{ServerCall, ServerError, ServerProgress, ServerRequests};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The JSON-RPC code of a request with wrong parameters.
const INVALID_PARAMETERS: i32 = -32602;

/// Maximum time of a call with all of its questions: longer than approval requests are open.
const CALL_TIME_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Everything that one call of a server's tool gets.
pub(crate) struct ServerRun<'a> {
    pub(crate) server: &'a PluginName,
    /// What the server is asked for.
    pub(crate) action: &'a ServerAction,
    pub(crate) has_output_schema: bool,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
    pub(crate) progress: ProgressSender,
    /// Asks a person what the server asks its user.
    pub(crate) user: Arc<dyn AskUser>,
}

/// Runs a call. Returns its answer, which still contains what secrets it may have, and the requests of the server.
pub(crate) async fn run(
    link: &ServerLink,
    grant: ServerGrant<'_>,
    run: ServerRun<'_>,
) -> (Result<Answer, Stop>, Usage, Traffic) {
    let began = Instant::now();
    let (limits, cancellation) = (run.limits, run.cancellation.clone());
    let deadline = CallDeadline::new(began + limits.time);
    let connected = tokio::select! {
        // A cancelled call does not begin.
        biased;
        () = cancellation.cancelled() => Err(Stop::Cancelled),
        connected = link.connection(grant) => Ok(connected),
        () = deadline.passed() => Err(Stop::Limit(LimitKind::Time)),
    };
    let (result, traffic) = match connected {
        Err(stop) => (Err(stop), Traffic::default()),
        Ok(Err(fault)) => {
            let (message, retry_after) = (format!("the server cannot be used: {fault}"), fault.retry_after());
            (Ok(Err(Failure::Unavailable { message, retry_after })), Traffic::default())
        }
        Ok(Ok(connection)) => {
            let result = ask(&connection, grant.policy().questions(), run, &deadline).await;
            (result, connection.take_traffic())
        }
    };
    // Only a sandbox measures processor time and memory.
    (result, Usage { wall: began.elapsed(), cpu: Duration::ZERO, memory_bytes: 0 }, traffic)
}

async fn ask(
    connection: &ServerConnection,
    questions: ServerQuestions,
    run: ServerRun<'_>,
    deadline: &Arc<CallDeadline>,
) -> Result<Answer, Stop> {
    let ServerRun { server, action, has_output_schema, arguments, limits: _, cancellation, progress, user } = run;
    let progress = Arc::new(Mutex::new(Some(progress)));
    // What the server reports after the call has ended reaches no caller.
    let _end = EndOfProgress(Arc::clone(&progress));
    let requests = (questions == ServerQuestions::Ask).then(|| {
        let questions = CallQuestions { user, deadline: Arc::clone(deadline) };
        Arc::new(questions) as Arc<dyn ServerRequests>
    });
    let call = ServerCall {
        // The deadline here can stand still.
        deadline: Instant::now() + CALL_TIME_MAX,
        requests,
        // The call ends when its future is dropped.
        cancellation: CancellationToken::new(),
        has_output_schema,
        on_progress: Some(Box::new(move |report| {
            if let Some(sender) = progress.lock_recovered().as_mut() {
                sender.report(shown_progress(report));
            }
        })),
    };
    let asked = async {
        match action.ask(arguments) {
            ServerAsk::Call(tool, arguments) => connection.client.call(tool, arguments, call).await,
            ServerAsk::Offer(offer) => {
                connection.client.offer(offer).await.map(|answer| offers::marked(server, answer))
            }
        }
    };
    let answered = tokio::select! {
        biased;
        () = deadline.passed() => return Err(Stop::Limit(LimitKind::Time)),
        // An answer that is there counts, even if the call was cancelled at the same moment.
        answered = asked => answered,
        // Dropping `asked` cancels its request at the server, whether it calls a tool or asks for an offer.
        () = cancellation.cancelled() => return Err(Stop::Cancelled),
    };
    match answered {
        Ok(answer) => Ok(answer),
        Err(error) => failed(connection, error).await,
    }
}

/// Returns what a call without an answer of the server ends with.
async fn failed(connection: &ServerConnection, error: ServerError) -> Result<Answer, Stop> {
    if let Some(fault) = connection.take_login_fault() {
        return Ok(Err(Failure::Unavailable { message: shown(&fault), retry_after: None }));
    }
    match error {
        ServerError::Timeout => Err(Stop::Limit(LimitKind::Time)),
        ServerError::Cancelled => Err(Stop::Cancelled),
        ServerError::ResultTooLarge { .. } => Err(Stop::Limit(LimitKind::Transfer)),
        ServerError::Closed(reason) => {
            let mut message = format!("the connection to the server ended during the call: {}", shown(&reason));
            if let Some(end) = connection.end().await {
                message = format!("{message}: {end}");
            }
            Ok(Err(Failure::Unavailable { message, retry_after: None }))
        }
        error @ ServerError::NotSent(_) => Ok(Err(Failure::Unavailable { message: shown(&error), retry_after: None })),
        ServerError::Refused { code: INVALID_PARAMETERS, message } => Ok(Err(Failure::InvalidArguments(message))),
        error => Ok(Err(Failure::Failed(shown(&error)))),
    }
}

fn shown_progress(report: ServerProgress) -> Progress {
    let fraction = report.total.filter(|total| *total > 0.0).map(|total| (report.progress / total) as f32);
    Progress { title: report.message, fraction, ..Progress::default() }
}

/// Ends the reports of a call when it is dropped.
struct EndOfProgress(Arc<Mutex<Option<ProgressSender>>>);

impl Drop for EndOfProgress {
    fn drop(&mut self) {
        let sender = self.0.lock_recovered().take();
        drop(sender);
    }
}
