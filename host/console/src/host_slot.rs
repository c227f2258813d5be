//! The host of the console's process: it runs approved calls whose own process has ended, and knows the tools and the
//! policy. The console works without it, because a policy that cannot be used must not keep people from answering.

use portcullis::Host;
use tokio::sync::{Mutex, mpsc, oneshot};

/// Waiting requests for a host. One is enough, because they take turns.
const REQUESTS_MAX: usize = 1;

/// Where the console gets its host from.
pub struct HostSource {
    open: Mutex<Option<Host>>,
    requests: Option<mpsc::Sender<HostRequest>>,
}

/// Receives requests to open a host.
#[derive(Debug)]
pub struct HostRequests(mpsc::Receiver<HostRequest>);

/// A request to open a host.
#[derive(Debug)]
pub struct HostRequest(oneshot::Sender<Result<Host, String>>);

impl HostRequests {
    /// Waits for the next request.
    pub async fn next(&mut self) -> Option<HostRequest> {
        self.0.recv().await
    }
}

impl HostRequest {
    /// Answers the request with a host, or with the reason why there is none.
    pub fn answer(self, host: Result<Host, String>) {
        // If the page was closed meanwhile, no one needs the host now.
        drop(self.0.send(host));
    }
}

impl std::fmt::Debug for HostSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HostSource").finish_non_exhaustive()
    }
}

impl HostSource {
    /// Uses a host that is open already.
    pub fn of(host: Host) -> Self {
        Self { open: Mutex::new(Some(host)), requests: None }
    }

    /// Opens the host when a page needs it. If that fails, the next page tries again.
    pub fn on_request() -> (Self, HostRequests) {
        let (sender, receiver) = mpsc::channel(REQUESTS_MAX);
        (Self { open: Mutex::new(None), requests: Some(sender) }, HostRequests(receiver))
    }

    /// Returns the host.
    ///
    /// # Errors
    /// It cannot be opened, for this reason.
    pub(crate) async fn get(&self) -> Result<Host, String> {
        // Hold the lock until the host is open. Other pages then wait for this host and do not request another.
        let mut open = self.open.lock().await;
        if let Some(host) = &*open {
            return Ok(host.clone());
        }
        let stopped = || "the console is stopping".to_owned();
        let (answer, answered) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(HostRequest(answer)).await.map_err(|_| stopped())?;
        let host = answered.await.map_err(|_| stopped())??;
        *open = Some(host.clone());
        Ok(host)
    }

    /// Returns the host if it is open already.
    pub(crate) fn opened(&self) -> Option<Host> {
        // While the host is being opened, this page is shown without it. It must not wait.
        self.open.try_lock().ok().and_then(|open| open.clone())
    }
}
