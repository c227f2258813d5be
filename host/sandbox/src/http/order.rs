//! A permitted request, with everything that sending it needs.

use super::call::{ConnectionSlot, Record};
use super::client::Client;
use http::{HeaderMap, Method};
use portcullis_policy::Destination;
use std::time::Duration;
use tokio::time::Instant;
use wasmtime_wasi_http::{RequestOptions, WasiBody};

/// Maximum time of a request, whatever a policy allows.
const TIME_MAX: Duration = Duration::from_secs(60 * 60);

/// The timeouts of a request. A guest can only shorten them.
pub(super) struct Timing {
    /// The deadline of the whole request.
    pub(super) deadline: Instant,
    pub(super) connect: Option<Duration>,
    pub(super) first_byte: Option<Duration>,
    pub(super) between_bytes: Option<Duration>,
}

impl Timing {
    pub(super) fn new(granted: Duration, options: Option<RequestOptions>) -> Self {
        let options = options.unwrap_or_default();
        Self {
            deadline: Instant::now() + granted.min(TIME_MAX),
            connect: options.connect_timeout,
            first_byte: options.first_byte_timeout,
            between_bytes: options.between_bytes_timeout,
        }
    }

    /// Returns the deadline of a part that begins now.
    pub(super) fn end(&self, part: Option<Duration>) -> Instant {
        let end = part.and_then(|part| Instant::now().checked_add(part));
        end.map_or(self.deadline, |end| end.min(self.deadline))
    }
}

/// A permitted request.
pub(super) struct Order {
    pub(super) client: Client,
    pub(super) destination: Destination,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: WasiBody,
    pub(super) timing: Timing,
    pub(super) record: Record,
    pub(super) slot: ConnectionSlot,
}
