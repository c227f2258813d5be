//! The tool calls of the client, which this transport runs itself.
//!
//! The library would make a task for each request and for each response, and wake threads for the messages between
//! them. Here a call begins on the thread that has read it. If it ends at once, no other thread is involved. A lone
//! call that has to wait, for a server for example, goes on in the task that reads messages. It becomes a task of its
//! own when the next call is read, or if it computes for long. Of several calls that were read together, another thread
//! takes half.

use super::in_flight::{CallInFlight, InFlight, NotLetIn};
use super::output::{ClientOutput, encode};
use crate::server::Server;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, ClientRequest, GetExtensions, GetMeta, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{Peer, RequestContext, Service};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::task::unconstrained;

/// Time after which the rest of the calls that were read together begin as tasks, and a lone call becomes one. A short
/// call takes a small part of it. The responses to those that have ended wait as long.
const TURN_TIME_MAX: Duration = Duration::from_millis(1);

/// What it takes to run the calls of a session: set when the session has begun. Clones share it.
#[derive(Clone, Default)]
pub(super) struct CallSession(Arc<OnceLock<SessionParts>>);

struct SessionParts {
    server: Server,
    peer: Peer<RoleServer>,
}

impl CallSession {
    /// Lets the transport run calls from now on. Until then, the library runs them.
    pub(super) fn begin(&self, server: Server, peer: Peer<RoleServer>) {
        // It is set once, because a transport has one session.
        let _ = self.0.set(SessionParts { server, peer });
    }
}

/// The calls that the task which reads messages runs.
pub(super) struct ToolCalls {
    session: CallSession,
    in_flight: InFlight,
    output: ClientOutput,
    /// The calls that have not begun, in the order in which they were read.
    read: Vec<ToolCall>,
    /// A call that has begun and waits.
    lone: Option<ToolCall>,
}

impl ToolCalls {
    pub(super) fn new(session: CallSession, in_flight: InFlight, output: ClientOutput) -> Self {
        Self { session, in_flight, output, read: Vec::new(), lone: None }
    }

    /// Returns whether no call waits to begin.
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// Adds a call that was read. Gives it back if the library must run it, because the session has not begun.
    ///
    /// # Errors
    /// Too many requests are in flight, or one with the same id.
    pub(super) fn add(
        &mut self,
        id: &RequestId,
        request: CallToolRequest,
    ) -> Result<Option<CallToolRequest>, NotLetIn> {
        let Some(parts) = self.session.0.get() else { return Ok(Some(request)) };
        let (server, mut cx) = (parts.server.clone(), RequestContext::new(id.clone(), parts.peer.clone()));
        let in_flight = self.in_flight.begin_call(id, &cx.ct)?;
        let mut request = ClientRequest::CallToolRequest(request);
        // The metadata first, because it is kept in the extensions.
        std::mem::swap(&mut cx.meta, request.get_meta_mut());
        std::mem::swap(&mut cx.extensions, request.extensions_mut());
        let run = async move { server.handle_request(request, cx).await };
        self.read.push(ToolCall { run: Box::pin(run), id: id.clone(), in_flight });
        Ok(None)
    }

    /// Begins all calls that were read.
    pub(super) fn begin(&mut self) {
        let mut near = std::mem::take(&mut self.read);
        if near.is_empty() {
            return;
        }
        self.release();
        if near.len() == 1 {
            near.drain(..).for_each(|call| self.begin_alone(call));
            return;
        }
        let (far, output) = (near.split_off(near.len() / 2), self.output.clone());
        tokio::spawn(async move { begin_in_turn(far, &output) });
        // A worker keeps the last task that it was given for itself. This one takes that place, so that another
        // worker is woken and can take the calls.
        tokio::spawn(async {});
        begin_in_turn(near, &self.output);
    }

    /// Begins a call, and keeps it if it waits. A task of its own would wake another thread.
    fn begin_alone(&mut self, mut call: ToolCall) {
        let began = Instant::now();
        match call.poll_first() {
            Poll::Ready(line) => self.output.push_response(&line),
            Poll::Pending => {
                self.lone = Some(call);
                if began.elapsed() >= TURN_TIME_MAX {
                    self.release();
                }
            }
        }
    }

    /// Lets the call that waits go on as a task of its own. The task polls it, so no wake-up is lost.
    pub(super) fn release(&mut self) {
        if let Some(call) = self.lone.take() {
            tokio::spawn(finish(call, self.output.clone()));
        }
    }

    /// Lets the call that waits go on, for as long as this is polled. This is cancel safe.
    pub(super) async fn go_on(&mut self) -> Infallible {
        poll_fn(|cx| {
            if let Some(call) = &mut self.lone {
                let began = Instant::now();
                match call.poll(cx) {
                    Poll::Ready(line) => {
                        // It counts until its response is queued.
                        self.output.push_response(&line);
                        self.lone = None;
                    }
                    Poll::Pending if began.elapsed() >= TURN_TIME_MAX => self.release(),
                    Poll::Pending => {}
                }
            }
            Poll::Pending
        })
        .await
    }
}

type Run = Pin<Box<dyn Future<Output = Result<ServerResult, ErrorData>> + Send>>;

/// One call.
struct ToolCall {
    run: Run,
    id: RequestId,
    in_flight: CallInFlight,
}

/// Begins calls one after the other, and writes the responses of those that end at once together.
fn begin_in_turn(calls: Vec<ToolCall>, output: &ClientOutput) {
    // Calls that have ended count until their responses are queued. Else the output could be closed before that.
    let (began, mut lines, mut ended) = (Instant::now(), Vec::new(), Vec::new());
    for mut call in calls {
        if began.elapsed() < TURN_TIME_MAX
            && let Poll::Ready(line) = call.poll_first()
        {
            lines.extend(line);
            ended.push(call);
        } else {
            // The task polls it again, so no wake-up since the first poll is lost.
            tokio::spawn(finish(call, output.clone()));
        }
    }
    output.push_response(&lines);
}

async fn finish(mut call: ToolCall, output: ClientOutput) {
    let line = poll_fn(|cx| call.poll(cx)).await;
    output.push_response(&line);
}

impl ToolCall {
    /// Polls the call for the first time. No thread is woken for it, and it does not use up the budget of the task that
    /// reads messages.
    fn poll_first(&mut self) -> Poll<Vec<u8>> {
        pin!(unconstrained(poll_fn(|cx| self.poll(cx)))).poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Polls the call. Returns the line with its response, which is empty if the client no longer waits.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        // A panic must not end the session of the other calls.
        let polled = catch_unwind(AssertUnwindSafe(|| self.run.as_mut().poll(cx)));
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => result,
            Err(_) => Err(ErrorData::internal_error("the server failed while it served this request", None)),
        };
        // The id is free before the response is written, because the client may use it again as soon as it has that.
        if !self.in_flight.answer() {
            return Poll::Ready(Vec::new());
        }
        let id = self.id.clone();
        let message = match result {
            Ok(result) => ServerJsonRpcMessage::response(result, id),
            Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
        };
        Poll::Ready(encode(&message).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::EmptyResult;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, duplex};
    use tokio::runtime::Handle;
    use tokio::sync::Notify;
    use tokio_util::sync::CancellationToken;

    /// Timeout of a wait that ends at once. It only makes a test fail.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn call(in_flight: &InFlight, id: i64, run: impl Future<Output = ()> + Send + 'static) -> ToolCall {
        let id = RequestId::Number(id);
        let in_flight = in_flight.begin_call(&id, &CancellationToken::new()).unwrap();
        let run = async move {
            run.await;
            Ok(ServerResult::EmptyResult(EmptyResult {}))
        };
        ToolCall { run: Box::pin(run), id, in_flight }
    }

    /// Begins these calls on a runtime with two workers. Returns what the client reads.
    fn answers(calls: impl FnOnce(&InFlight) -> Vec<ToolCall>) -> String {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let (sender, read) = channel();
        let (near, mut far) = duplex(1 << 16);
        let in_flight = InFlight::default();
        let calls = calls(&in_flight);
        runtime.spawn(async move {
            let output = ClientOutput::new(Box::new(near), CancellationToken::new());
            let mut all = ToolCalls::new(CallSession::default(), in_flight.clone(), output.clone());
            all.read = calls;
            all.begin();
            in_flight.calls_ended().await;
            output.close().await;
        });
        runtime.spawn(async move {
            let mut text = String::new();
            let _ = far.read_to_string(&mut text).await;
            let _ = sender.send(text);
        });
        let text = read.recv_timeout(PATIENCE);
        // A call that blocks its thread must not keep the test from ending.
        runtime.shutdown_background();
        text.expect("the calls wait for each other")
    }

    #[test]
    fn calls_that_were_read_together_run_on_two_threads() {
        let barrier = Arc::new(Barrier::new(2));
        let text = answers(|in_flight| {
            let meet = |barrier: Arc<Barrier>| async move {
                barrier.wait();
            };
            (1..=2).map(|id| call(in_flight, id, meet(Arc::clone(&barrier)))).collect()
        });
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[tokio::test]
    async fn a_lone_call_that_waits_makes_no_task_until_the_next_one_is_read() {
        let (near, far) = duplex(1 << 16);
        let mut far = BufReader::new(far).lines();
        let in_flight = InFlight::default();
        let output = ClientOutput::new(Box::new(near), CancellationToken::new());
        let mut all = ToolCalls::new(CallSession::default(), in_flight.clone(), output);
        let wakes: [Arc<Notify>; 3] = Default::default();
        let waits = |id: usize| {
            let wake = Arc::clone(&wakes[id]);
            call(&in_flight, id as i64, async move { wake.notified().await })
        };
        let tasks = || Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        all.read.push(waits(0));
        all.begin();
        assert_eq!(tasks(), before);
        wakes[0].notify_one();
        let line = tokio::select! {
            line = far.next_line() => line.unwrap().unwrap(),
            never = all.go_on() => match never {},
        };
        assert!(line.contains("\"id\":0"), "{line}");
        for id in [1, 2] {
            all.read.push(waits(id));
            all.begin();
        }
        assert_eq!(tasks(), before + 1);
        wakes[1].notify_one();
        let line = far.next_line().await.unwrap().unwrap();
        assert!(line.contains("\"id\":1"), "{line}");
    }

    #[test]
    fn a_call_that_waits_holds_up_no_other_and_a_panic_is_an_error_of_its_own_call() {
        let notify = Arc::new(Notify::new());
        let text = answers(|in_flight| {
            let (waits, wakes) = (Arc::clone(&notify), Arc::clone(&notify));
            vec![
                call(in_flight, 1, async move { waits.notified().await }),
                call(in_flight, 2, async { panic!("a test of a panic") }),
                call(in_flight, 3, async move { wakes.notify_one() }),
            ]
        });
        let mut lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.sort_by_key(|line| line["id"].as_i64());
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0]["result"].is_object() && lines[2]["result"].is_object(), "{text}");
        assert_eq!(lines[1]["error"]["code"], -32603, "{text}");
    }
}
