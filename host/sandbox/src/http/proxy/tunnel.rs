//! Tunnels: connections of a program to a server that the host does not read. It decides them by host and port, and
//! limits their bytes and time like those of a request.

use crate::http::body_of;
use crate::http::call::Record;
use crate::http::connect;
use crate::http::error::{HttpFailure, RequestRefusal};
use crate::http::exchange::checked_addresses;
use crate::http::order::Timing;
use crate::http::proxy_setup::Proxy;
use crate::http::tasks::Connection;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Destination, DestinationError};
use std::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use wasmtime_wasi_http::WasiBody;

/// Bytes of one step of a tunnel in one direction.
const STEP_BYTES: usize = 16 * 1024;

/// Returns the destination of a tunnel. Its scheme is https, because that is what tunnels are for.
pub(super) fn destination(uri: &Uri) -> Result<Destination, DestinationError> {
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    Destination::from_parts("https", authority, "/")
}

impl Proxy {
    /// Connects a program with a server. The tunnel goes on as one of `tunnels` after the response.
    pub(super) async fn open_tunnel(
        &self,
        request: Request<Incoming>,
        destination: Result<Destination, RequestRefusal>,
        record: Record,
        tunnels: &Mutex<JoinSet<()>>,
    ) -> Result<Response<WasiBody>, HttpFailure> {
        let client = &self.client_for(&destination).ok_or(RequestRefusal::NoClient)?;
        let destination = destination?;
        client.decide(request.method().as_str(), &destination, &HeaderMap::new())?;
        record.call().spend(client)?;
        client.keep_pace()?;
        let slot = record.call().slot(&self.memory)?;
        let limits = client.binding().limits;
        let timing = Timing::new(limits.time, None);
        let connecting = async {
            let addresses = checked_addresses(client, &destination, record.call()).await?;
            connect::connect(&addresses, timing.deadline).await
        };
        let stream = timeout_at(timing.deadline, connecting).await.map_err(|_| HttpFailure::ConnectTimeout)??;
        let connection = Connection::new(stream, timing.deadline, slot, &record)?;
        // The limit for bytes before a response ends here, because a tunnel has limits of its own.
        connection.response_begins();
        record.status(200);
        let (refusals, url) = (self.refusals.clone(), destination.authority());
        // A task, because hyper upgrades the connection only after it has sent the response below.
        tunnels.lock_recovered().spawn(async move {
            let passed = async {
                let upgraded = hyper::upgrade::on(request).await.map_err(|_| HttpFailure::Incomplete)?;
                let (from_program, to_program) = split(TokioIo::new(upgraded));
                let (from_server, to_server) = split(connection.socket());
                let sent = pass(from_program, to_server, limits.request_bytes, |bytes| record.sent(bytes));
                let received = pass(from_server, to_program, limits.response_bytes, |bytes| record.received(bytes));
                tokio::try_join!(
                    async { sent.await.map_err(|()| HttpFailure::RequestBody(limits.request_bytes)) },
                    async { received.await.map_err(|()| HttpFailure::ResponseBody(limits.response_bytes)) },
                )
            };
            let passed = timeout_at(timing.deadline, passed).await.unwrap_or(Err(HttpFailure::Timeout));
            if let Err(failure) = passed {
                record.failed(&failure);
                refusals.add(format!("CONNECT {url}: {failure}"));
            }
        });
        Ok(Response::new(body_of(Bytes::new())))
    }
}

/// Copies bytes until the end of the source or a failure of either side, which only its owner can judge.
///
/// # Errors
/// The source has more bytes than allowed.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    most: u64,
    count: impl Fn(u64),
) -> Result<(), ()> {
    let (mut block, mut left) = (vec![0; STEP_BYTES], most);
    while let Ok(read @ 1..) = from.read(&mut block).await {
        left = left.checked_sub(read as u64).ok_or(())?;
        count(read as u64);
        if to.write_all(&block[..read]).await.is_err() {
            break;
        }
    }
    // The other side learns that no more comes. If it is gone, nothing is lost.
    let _ = to.shutdown().await;
    Ok(())
}
