//! Step 5: a place among the running calls, and the plugin's code. The store itself is made by the sandbox, with every
//! limit armed, in the moment the code is run.

use super::Rejection;
use super::grant::GrantedCall;
use crate::host::Inner;
use crate::reply::Code;
use portcullis_sandbox::Code as PluginCode;
use tokio::sync::OwnedSemaphorePermit;

/// A granted call that may start now.
pub(crate) struct ReadyCall {
    pub(super) granted: GrantedCall,
    pub(super) code: PluginCode,
    /// The place is free again when this is dropped.
    pub(super) _place: OwnedSemaphorePermit,
}

impl GrantedCall {
    pub(super) async fn instantiate(self, host: &Inner) -> Result<ReadyCall, Rejection> {
        let code = host.code(&self.call.plugin).await?.clone();
        let waiting = host.places.clone().acquire_owned();
        // A place comes free when a call ends, and each ends in its time; who waits longer than that gives way.
        match tokio::time::timeout(self.limits.time, waiting).await {
            Ok(Ok(place)) => Ok(ReadyCall { granted: self, code, _place: place }),
            Ok(Err(_)) | Err(_) => {
                Err(Rejection::new(Code::Busy, "Too many calls are running. Try again when one of them has ended."))
            }
        }
    }
}
