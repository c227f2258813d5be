//! The attacker's servers: misbehaving servers and a false resolver, all on the loopback address. Each records what it
//! received, so that a test can assert that it received nothing.

mod behaviour;
mod certificates;
mod dns;
mod frames;
mod seen;
mod server;
mod wire;

pub use behaviour::{Answer, Behaviour};
pub use certificates::Authority;
pub use dns::{Dns, Zone};
pub use frames::{FrameKind, frame, opening};
pub use seen::Seen;
pub use server::Server;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, Runtime};

/// The runtime of the servers. Tests create and block their own runtimes.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).thread_name("servers").enable_all().build().unwrap()
});

/// Locks a mutex even if it is poisoned: a failed assertion of a test must not stop the server.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
