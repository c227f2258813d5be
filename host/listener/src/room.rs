//! Room for connections: clients without a token do not keep other clients out.
//!
//! Everyone who can reach the address can open connections. If all places are taken, the oldest connection without an
//! authorized request makes room for a new one.

use http::Extensions;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The room for connections.
pub(crate) struct Room {
    permits: Arc<Semaphore>,
    strangers: Mutex<Strangers>,
}

/// The connections without an authorized request so far, the oldest first.
#[derive(Default)]
struct Strangers {
    next: u64,
    connections: BTreeMap<u64, CancellationToken>,
}

/// The place of one connection. Dropping it frees the place.
pub(crate) struct ConnectionPlace {
    room: Arc<Room>,
    number: u64,
    evicted: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

/// The connection on which a request arrived.
#[derive(Clone)]
pub(crate) struct ConnectionId {
    room: Arc<Room>,
    number: u64,
    evicted: CancellationToken,
}

impl Room {
    pub(crate) fn new(connections: usize) -> Arc<Self> {
        Arc::new(Self { permits: Arc::new(Semaphore::new(connections)), strangers: Mutex::default() })
    }

    /// Takes a place. If there is none, evicts the oldest unauthorized connection. If every connection is authorized,
    /// waits until one of them ends.
    pub(crate) async fn enter(self: &Arc<Self>) -> Option<ConnectionPlace> {
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            // An eviction only asks a task to end. The permit comes back when that task drops its place.
            Err(_) => {
                self.evict_oldest();
                Arc::clone(&self.permits).acquire_owned().await.ok()?
            }
        };
        let evicted = CancellationToken::new();
        let mut strangers = self.strangers();
        let number = strangers.next;
        strangers.next += 1;
        strangers.connections.insert(number, evicted.clone());
        drop(strangers);
        Some(ConnectionPlace { room: Arc::clone(self), number, evicted, _permit: permit })
    }

    fn evict_oldest(&self) {
        let mut strangers = self.strangers();
        if let Some((_, evicted)) = strangers.connections.pop_first() {
            // Cancelled under the lock: a request whose connection is gone from the table must also see it as evicted.
            evicted.cancel();
        }
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock_recovered()
    }
}

impl ConnectionPlace {
    /// Returns the handle by which a request of this connection reports that it was authorized.
    pub(crate) fn arrival(&self) -> ConnectionId {
        ConnectionId { room: Arc::clone(&self.room), number: self.number, evicted: self.evicted.clone() }
    }

    /// Waits until the connection is evicted to make room for another.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        // This runs before the permit is released. So a new connection never evicts one that has already ended.
        self.room.strangers().connections.remove(&self.number);
    }
}

impl ConnectionId {
    /// Keeps the connection of an authorized request from being evicted. Returns whether it still has its place.
    #[must_use]
    pub(crate) fn authorize(&self) -> bool {
        // Remove before the check, so that no later eviction finds this connection.
        self.room.strangers().connections.remove(&self.number);
        !self.evicted.is_cancelled()
    }
}

/// Keeps the connection of a request, whose extensions these are, from making room for another one. Call it when the
/// sender has proved who they are. Returns whether the connection still has its place.
#[must_use]
pub fn keep_connection(extensions: &mut Extensions) -> bool {
    // Without an id, no listener of this crate accepted the request, so the answer is no.
    extensions.remove::<ConnectionId>().is_some_and(|connection| connection.authorize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn the_oldest_unauthorized_connection_makes_room_and_an_authorized_one_never_does() {
        let room = Room::new(3);
        let places = [room.enter().await.unwrap(), room.enter().await.unwrap(), room.enter().await.unwrap()];
        assert!(places[0].arrival().authorize());
        assert!(timeout(Duration::ZERO, room.enter()).await.is_err());
        let evicted: Vec<bool> = places.iter().map(|place| place.evicted.is_cancelled()).collect();
        assert_eq!(evicted, [false, true, false]);
        assert!(!places[1].arrival().authorize(), "an evicted connection cannot be authorized any more");
        let [_authorized, evicted, stranger] = places;
        drop(evicted);
        assert!(room.enter().await.unwrap().arrival().authorize());
        assert!(!stranger.evicted.is_cancelled());
    }

    #[tokio::test]
    async fn a_connection_that_ended_is_not_evicted_in_place_of_another() {
        let room = Room::new(2);
        let (first, second) = (room.enter().await.unwrap(), room.enter().await.unwrap());
        drop(first);
        let third = room.enter().await.unwrap();
        assert!(timeout(Duration::ZERO, room.enter()).await.is_err());
        assert!(second.evicted.is_cancelled() && !third.evicted.is_cancelled());
    }
}
