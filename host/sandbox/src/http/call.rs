//! State that the requests of one call share: their log, their budget, and the secrets to search for.

use super::addresses::CallAddresses;
use super::client::Client;
use super::error::{HttpFailure, RequestRefusal, bounded};
use super::redact::Redactor;
use super::socket::{Holder, close};
use super::watch::PluginSecrets;
use super::{Exchange, Traffic};
use crate::host_memory::{HostMemory, MemoryCharge};
use portcullis_policy::recovery::RecoverMutex;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Instant;

/// Maximum requests of a call that the audit log contains in full.
const EXCHANGES_MAX: usize = 32;

/// Maximum concurrent connections of a call: enough for a plugin that fetches concurrently.
pub(super) const CONNECTIONS_MAX: usize = 8;

/// Maximum concurrent connections of a server, for all calls of it.
const SERVER_CONNECTIONS_MAX: usize = 32;

/// Maximum memory of a connection, in bytes: 256 KiB read ahead, 128 KiB of a request's body, 64 KiB of headers, the
/// buffers of TLS and HTTP, and one step of decoding, which is at most 1 MiB.
const CONNECTION_BYTES: usize = 1536 * 1024;

/// The recorded error of a request that the end of the call aborted.
const CUT_OFF: &str = "the call ended first";

/// The network side of a call.
#[derive(Default)]
pub(crate) struct NetworkCall {
    state: Mutex<NetworkCallState>,
    /// `None` if the plugin has no client and the host has no secrets.
    secrets: Option<Arc<PluginSecrets>>,
    /// Whether this is the traffic of a server, which lasts as long as the host. Only its requests per minute are
    /// limited.
    is_endless: bool,
}

#[derive(Default)]
struct NetworkCallState {
    traffic: Traffic,
    /// The number of requests that were taken from the beginning of the traffic.
    taken: usize,
    refusal: Option<String>,
    /// Number of requests by client.
    spent: Vec<(usize, u32)>,
    connections: usize,
    /// The sockets that may be open.
    sockets: Vec<Weak<Holder>>,
    ended: bool,
    addresses: CallAddresses,
}

impl NetworkCall {
    pub(crate) fn new(secrets: Option<Arc<PluginSecrets>>) -> Self {
        Self { state: Mutex::default(), secrets, is_endless: false }
    }

    /// Makes the traffic of a server.
    pub(crate) fn endless(secrets: Option<Arc<PluginSecrets>>) -> Self {
        Self { is_endless: true, ..Self::new(secrets) }
    }

    fn state(&self) -> MutexGuard<'_, NetworkCallState> {
        self.state.lock_recovered()
    }

    /// Begins the record of a request.
    pub(super) fn record(self: &Arc<Self>, method: &str, url: &str) -> Record {
        let mut state = self.state();
        // A guest must not read the reason of an earlier request as that of this one.
        state.refusal = None;
        let index = state.traffic.exchanges.len();
        if index >= EXCHANGES_MAX {
            state.traffic.more += 1;
            return Record { call: Arc::clone(self), index: None };
        }
        let index = state.taken + index;
        state.traffic.exchanges.push(Exchange {
            method: bounded(method),
            url: bounded(url),
            status: None,
            error: None,
            is_sent: false,
            sent_bytes: 0,
            received_bytes: 0,
        });
        Record { call: Arc::clone(self), index: Some(index) }
    }

    /// Returns why the host refused or aborted the last request.
    pub(super) fn refusal(&self) -> Option<String> {
        self.state().refusal.clone()
    }

    /// Takes one request out of the call's budget for a client.
    pub(super) fn spend(&self, client: &Client) -> Result<(), RequestRefusal> {
        if self.is_endless {
            return Ok(());
        }
        let limit = client.binding().limits.requests;
        let mut state = self.state();
        let place = match state.spent.iter().position(|(known, _)| *known == client.identity()) {
            Some(place) => place,
            None => {
                state.spent.push((client.identity(), 0));
                state.spent.len() - 1
            }
        };
        let (_, spent) = &mut state.spent[place];
        if *spent >= limit {
            return Err(RequestRefusal::Requests(limit));
        }
        *spent += 1;
        Ok(())
    }

    /// Returns the cached addresses of a name.
    pub(super) fn kept_addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        self.state().addresses.get(name, Instant::now())
    }

    /// Caches the addresses of a name for the call's next request to it.
    pub(super) fn keep_addresses(&self, name: &str, addresses: &[IpAddr]) {
        self.state().addresses.keep(name, addresses, Instant::now());
    }

    /// Acquires one of the call's concurrent connections.
    pub(super) fn slot(self: &Arc<Self>, memory: &HostMemory) -> Result<ConnectionSlot, RequestRefusal> {
        let mut state = self.state();
        let max = if self.is_endless { SERVER_CONNECTIONS_MAX } else { CONNECTIONS_MAX };
        if state.connections >= max {
            return Err(RequestRefusal::Connections(max));
        }
        let charge = memory.charge(CONNECTION_BYTES)?;
        state.connections += 1;
        Ok(ConnectionSlot { call: Arc::clone(self), _charge: charge })
    }

    /// Registers a socket. Returns `false` if the call has ended.
    pub(super) fn hold(&self, socket: &Arc<Holder>) -> bool {
        let mut state = self.state();
        state.sockets.retain(|known| known.strong_count() > 0);
        // `end` takes the same lock: it either closes this socket, or has ended the call before.
        state.sockets.push(Arc::downgrade(socket));
        !state.ended
    }

    /// Closes every socket of the call. The tasks that use them were already told to end, but may take a moment.
    pub(crate) fn end(&self) {
        let sockets = {
            let mut state = self.state();
            state.ended = true;
            std::mem::take(&mut state.sockets)
        };
        for socket in sockets.iter().filter_map(Weak::upgrade) {
            close(&socket);
        }
    }

    /// Opens all secrets of the plugin, so that the host searches what it receives from now on for them.
    pub(super) async fn open_secrets(&self) {
        if let Some(secrets) = &self.secrets {
            secrets.open_all().await;
        }
    }

    /// Returns the redactor for what the plugin receives. What a server answers is searched when it leaves the host: to
    /// search here would hold back the end of a message until the next one.
    pub(super) fn incoming(&self) -> Option<Arc<Redactor>> {
        self.secrets.as_ref().filter(|_| !self.is_endless)?.incoming()
    }

    /// Returns the redactor for what the plugin returns or logs. It searches for every secret of the host.
    pub(super) fn outgoing(&self) -> Option<Arc<Redactor>> {
        self.secrets.as_ref()?.outgoing()
    }

    pub(super) fn count_redactions(&self, found: u64) {
        if found > 0 {
            self.state().traffic.redactions += found;
        }
    }

    /// Removes the host's secrets from a text that leaves the host.
    pub(super) fn redact_text(&self, text: String) -> String {
        self.redact(text, Redactor::text)
    }

    /// Like `redact_text`, for bytes.
    pub(super) fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.redact(bytes, |redactor, bytes| redactor.bytes(bytes))
    }

    fn redact<T, B: ?Sized>(&self, found_in: T, search: impl Fn(&Redactor, &B) -> Option<(T, u64)>) -> T
    where
        T: std::borrow::Borrow<B>,
    {
        let Some((redacted, found)) = self.outgoing().and_then(|redactor| search(&redactor, found_in.borrow())) else {
            return found_in;
        };
        self.count_redactions(found);
        redacted
    }

    /// Returns all traffic of the call, for the audit log. Call it when the call has ended.
    pub(crate) fn traffic(&self) -> Traffic {
        // A copy, because the search counts what it finds under the same lock.
        let traffic = self.state().traffic.clone();
        let mut traffic = self.redacted(traffic);
        // What was found just now counts, too.
        traffic.redactions = self.state().traffic.redactions;
        traffic
    }

    /// Takes the traffic up to the first request that has not ended, for the audit log.
    pub(crate) fn take_traffic(&self) -> Traffic {
        let traffic = {
            let mut state = self.state();
            let is_open = |exchange: &Exchange| exchange.status.is_none() && exchange.error.is_none();
            let exchanges = &mut state.traffic.exchanges;
            let ended = exchanges.iter().position(is_open).unwrap_or(exchanges.len());
            let exchanges = exchanges.drain(..ended).collect();
            state.taken += ended;
            let more = std::mem::take(&mut state.traffic.more);
            Traffic { exchanges, more, redactions: std::mem::take(&mut state.traffic.redactions) }
        };
        self.redacted(traffic)
    }

    fn redacted(&self, mut traffic: Traffic) -> Traffic {
        for exchange in &mut traffic.exchanges {
            if exchange.status.is_none() && exchange.error.is_none() {
                exchange.error = Some(CUT_OFF.to_owned());
            }
            // Redact here too: a guest may have learned a secret in another way, and an error may quote a server. A
            // host name is in lower case, so the URL is also searched case-insensitively.
            exchange.method = self.redact_text(std::mem::take(&mut exchange.method));
            exchange.error = exchange.error.take().map(|error| self.redact_text(error));
            let url = self.redact_text(std::mem::take(&mut exchange.url));
            exchange.url = self.redact(url, Redactor::name);
        }
        traffic
    }
}

/// The record of one request.
#[derive(Clone)]
pub(super) struct Record {
    call: Arc<NetworkCall>,
    index: Option<usize>,
}

impl Record {
    pub(super) fn call(&self) -> &Arc<NetworkCall> {
        &self.call
    }

    /// Notes that the server may receive the request from now on.
    pub(super) fn sending(&self) {
        self.change(|exchange| exchange.is_sent = true);
    }

    pub(super) fn status(&self, status: u16) {
        self.change(|exchange| exchange.status = Some(status));
    }

    pub(super) fn sent(&self, bytes: u64) {
        self.change(|exchange| exchange.sent_bytes += bytes);
    }

    pub(super) fn received(&self, bytes: u64) {
        self.change(|exchange| exchange.received_bytes += bytes);
    }

    /// Records a failure, unless there already is one.
    pub(super) fn failed(&self, failure: &HttpFailure) {
        let text = failure.to_string();
        // Also keep the text, because the error codes of `wasi:http` cannot express the reason, and there is no code
        // once the body is being read.
        if matches!(failure, HttpFailure::Refused(_) | HttpFailure::RequestBody(_) | HttpFailure::ResponseBody(_)) {
            self.call.state().refusal = Some(text.clone());
        }
        self.change(|exchange| {
            exchange.error.get_or_insert(text);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Exchange)) {
        let Some(index) = self.index else { return };
        let mut state = self.call.state();
        // What was taken has ended.
        let index = index.checked_sub(state.taken);
        if let Some(exchange) = index.and_then(|index| state.traffic.exchanges.get_mut(index)) {
            change(exchange);
        }
    }
}

/// One connection of a call. Dropping it releases the connection.
pub(super) struct ConnectionSlot {
    call: Arc<NetworkCall>,
    _charge: MemoryCharge,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.call.state().connections -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_policy::Limits;

    #[test]
    fn the_connections_of_a_call_are_limited_and_a_dropped_one_can_be_used_again() {
        let call = Arc::new(NetworkCall::default());
        let memory = HostMemory::new(&Limits::default());
        let mut slots: Vec<ConnectionSlot> = (0..CONNECTIONS_MAX).map(|_| call.slot(&memory).unwrap()).collect();
        assert!(matches!(call.slot(&memory), Err(RequestRefusal::Connections(CONNECTIONS_MAX))));
        slots.pop();
        assert!(call.slot(&memory).is_ok());
    }

    #[test]
    fn a_connection_is_charged_to_the_calls_host_memory_until_it_is_closed() {
        let call = Arc::new(NetworkCall::default());
        let memory = HostMemory::new(&Limits { host_memory_bytes: CONNECTION_BYTES, ..Limits::default() });
        let slot = call.slot(&memory).unwrap();
        assert!(matches!(call.slot(&memory), Err(RequestRefusal::HostMemory(_))));
        drop(slot);
        assert!(call.slot(&memory).is_ok());
    }

    #[test]
    fn requests_of_a_server_are_taken_once_when_they_have_ended() {
        let call = Arc::new(NetworkCall::endless(None));
        let [first, second, third] = ["https://a/1", "https://a/2", "https://a/3"].map(|url| call.record("GET", url));
        first.status(200);
        third.status(200);
        let urls = |traffic: Traffic| traffic.exchanges.into_iter().map(|one| one.url).collect::<Vec<_>>();
        assert_eq!(urls(call.take_traffic()), ["https://a/1"]);
        first.received(1);
        second.status(201);
        third.received(3);
        let rest = call.take_traffic();
        assert_eq!(
            rest.exchanges.iter().map(|one| (one.status, one.received_bytes)).collect::<Vec<_>>(),
            [(Some(201), 0), (Some(200), 3),]
        );
        assert!(call.take_traffic().exchanges.is_empty());
    }

    #[test]
    fn the_record_of_many_requests_is_short_and_counts_the_rest() {
        let call = Arc::new(NetworkCall::default());
        for _ in 0..EXCHANGES_MAX + 5 {
            call.record("GET", "https://a/").received(1);
        }
        let traffic = call.traffic();
        assert_eq!((traffic.exchanges.len(), traffic.more), (EXCHANGES_MAX, 5));
        assert!(traffic.exchanges.iter().all(|exchange| exchange.error.as_deref() == Some(CUT_OFF)));
    }
}
