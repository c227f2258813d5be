//! What an attacker runs: servers that behave badly and a resolver that lies, all on the loopback address. Each keeps
//! what it saw, so that a test can say that it saw nothing.

mod behaviour;
mod certificates;
mod dns;
mod frames;
mod server;
mod wire;

pub use behaviour::{Answer, Behaviour};
pub use certificates::Authority;
pub use dns::{Dns, Zone};
pub use frames::{FrameKind, frame, opening};
pub use server::{Seen, Server};

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, Runtime};

/// Servers run beside the tests, not in the runtimes that these make and block.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(1).thread_name("servers").enable_all().build().unwrap()
});

/// A test that fails while it looks at what a server saw does not take the server along.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
