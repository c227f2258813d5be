//! A call that runs on a task of its own, with its own streams of events and text.

use crate::call;
use crate::events::Events;
use crate::host::Host;
use crate::reply::Reply;
use crate::request::Request;
use crate::stream::TextStream;
use portcullis_sandbox::{BoxFuture, Cancellation};
use std::fmt;
use std::sync::Arc;
use tokio::task::JoinSet;

impl Host {
    /// Starts a call on a task of its own. The call is the same as that of [`Host::call`]. Await it for its reply.
    ///
    /// The events and the text of the call are its own, also if the request is cloned and started again. Streams that
    /// the request itself has ([`Request::watched`], [`Request::streamed`]) get nothing of this call.
    ///
    /// ```no_run
    /// # async fn example(host: portcullis::Host) {
    /// use portcullis::Request;
    ///
    /// let mut call = host.start(Request::new("files.read", r#"{"path":"README.md"}"#));
    /// let mut text = call.text();
    /// while let Some(piece) = text.next().await {
    ///     print!("{}", portcullis::text::Lines(&piece));
    /// }
    /// let reply = call.await;
    /// println!("{}", reply.code);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(&self, request: Request) -> Call {
        let (request, events) = request.watched();
        let (mut request, text) = request.streamed();
        let record = call::begin(&self.0, &mut request);
        let (id, tool, cancellation) = (record.id().to_owned(), request.tool.clone(), Cancellation::new());
        let (host, cancelled) = (Arc::clone(&self.0), cancellation.clone());
        let mut task = JoinSet::new();
        task.spawn(async move { call::go_until(&host, request, record, &cancelled).await });
        Call { id, tool, cancellation, events: Some(events), text: Some(text), task }
    }
}

/// A call that was started with [`Host::start`]. Awaiting it returns the reply. Dropping it ends the call, which is
/// recorded as cancelled, and so does dropping the future that awaits it.
#[must_use = "dropping the call ends it"]
pub struct Call {
    id: String,
    tool: String,
    cancellation: Cancellation,
    /// The streams, until they are taken.
    events: Option<Events>,
    text: Option<TextStream>,
    /// The one task of the call. It is aborted when this is dropped.
    task: JoinSet<Reply>,
}

impl Call {
    /// Returns the id of the call, which the audit log, the events and the reply have too.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Takes the events of this call, from its beginning. The stream ends with the call. It can be taken once: later
    /// calls return a stream that has ended.
    pub fn events(&mut self) -> Events {
        self.events.take().unwrap_or_else(Events::ended)
    }

    /// Takes the text that the tool writes while it runs. The stream ends with the call. It can be taken once: later
    /// calls return a stream that has ended.
    pub fn text(&mut self) -> TextStream {
        self.text.take().unwrap_or_else(TextStream::ended)
    }

    /// Cancels the call, as the cancellation of its request does. The reply still comes.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }

    async fn reply(mut self) -> Reply {
        // Nobody can take them any more, so nothing has to be kept for them.
        drop((self.events.take(), self.text.take()));
        match self.task.join_next().await {
            Some(Ok(reply)) => reply,
            Some(Err(_)) | None => call::broken(self.id, self.tool),
        }
    }
}

impl IntoFuture for Call {
    type Output = Reply;
    type IntoFuture = BoxFuture<'static, Reply>;

    fn into_future(self) -> BoxFuture<'static, Reply> {
        Box::pin(self.reply())
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Call").field("id", &self.id).field("tool", &self.tool).finish_non_exhaustive()
    }
}
