//! The loader of plugins, and the limits on concurrent loads.

use super::directory::PluginDirectories;
use super::file::FileError;
use super::load_error::LoadError;
use super::observer::Observer;
use crate::audit::AuditWriter;
use crate::caught::caught;
use crate::metrics::CodeCacheCounters;
use crate::servers::ServerChanges;
use portcullis_ledger::logins::ServerLogins;
use portcullis_ledger::pins::GeneratedPins;
use portcullis_sandbox::{BoxFuture, CodeStore, Compiler, DESCRIBE_SLOTS, Engine};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Maximum plugins that are compiled at the same time, if the machine has that many cores. A worker needs 600 MB for
/// CPython, and uses all cores for part of its time.
const COMPILATIONS_MAX: usize = 8;

/// Everything that is needed to load plugins.
pub(crate) struct Loader {
    pub(crate) engine: Engine,
    pub(crate) compiler: Compiler,
    pub(crate) store: Arc<CodeStore>,
    /// The directory of the [`CodeCache`](super::CodeCache) of the user's other commands.
    pub(crate) examined_code: Option<PathBuf>,
    pub(crate) plugins: PluginDirectories,
    pub(crate) audit: Arc<AuditWriter>,
    pub(crate) pins: Arc<GeneratedPins>,
    pub(crate) logins: Arc<ServerLogins>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) slots: LoadSlots,
    /// Counts the changes of servers.
    pub(crate) server_changes: ServerChanges,
    pub(crate) code_cache: CodeCacheCounters,
}

/// Limits how much loading runs at the same time.
pub(crate) struct LoadSlots {
    /// Limits the files that are in memory while they load in the background.
    pub(super) files: Semaphore,
    pub(super) compilations: Semaphore,
    pub(super) descriptions: Semaphore,
}

impl Loader {
    /// Creates a loader that has loaded nothing.
    pub(crate) fn new(
        (engine, compiler): (Engine, Compiler),
        (store, examined_code): (Arc<CodeStore>, Option<PathBuf>),
        plugins: PluginDirectories,
        (audit, pins, logins): (Arc<AuditWriter>, Arc<GeneratedPins>, Arc<ServerLogins>),
        observer: Arc<dyn Observer>,
    ) -> Self {
        let (slots, server_changes, code_cache) = Default::default();
        Self {
            engine,
            compiler,
            store,
            examined_code,
            plugins,
            audit,
            pins,
            logins,
            observer,
            slots,
            server_changes,
            code_cache,
        }
    }
}

impl Default for LoadSlots {
    fn default() -> Self {
        let descriptions = Semaphore::new(DESCRIBE_SLOTS as usize);
        Self { files: Semaphore::new(compilations()), compilations: Semaphore::new(compilations()), descriptions }
    }
}

/// Returns how many plugins are compiled at the same time: one per core.
pub(super) fn compilations() -> usize {
    available_parallelism().map_or(1, usize::from).min(COMPILATIONS_MAX)
}

/// Maximum items that one core works on alone. Starting a thread costs about as much as restoring this many plugins.
const ITEMS_ALONE_MAX: usize = 32;

/// Runs work on each item, on as many cores as are worth it. Returns the results in order. Blocks.
pub(super) fn on_all_cores<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(compilations()).max(ITEMS_ALONE_MAX);
    if items.len() <= share {
        return items.into_iter().map(work).collect();
    }
    let mut items = items.into_iter();
    let shares: Vec<Vec<T>> =
        std::iter::from_fn(|| Some(items.by_ref().take(share).collect()).filter(|share: &Vec<T>| !share.is_empty()))
            .collect();
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(move || share.into_iter().map(work).collect::<Vec<R>>()))
            .collect();
        let results = threads.into_iter().map(|thread| match thread.join() {
            Ok(results) => results,
            // The panic goes on here, as if this thread had done the work.
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.flatten().collect()
    })
}

/// Runs long work on a thread that may block. Checking and mapping a plugin of 20 MB takes a good part of a second,
/// which would block a worker of the async runtime.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::Io(io::Error::other(error)).into()),
    }
}

/// Runs a step of loading one file or one server. A panic, such as one of the embedder's observer, is an error of that
/// file or server, and does not keep others from loading.
pub(super) async fn caught_step<'a, T>(
    begin: impl FnOnce() -> BoxFuture<'a, Result<T, LoadError>>,
) -> Result<T, LoadError> {
    caught(begin).await.unwrap_or_else(|panic| Err(FileError::Io(io::Error::other(panic)).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WithCauses;

    #[tokio::test]
    async fn a_panic_of_a_step_is_an_error_that_the_next_reload_tries_again() {
        assert_eq!(caught_step(|| Box::pin(async { Ok(7) })).await.unwrap(), 7);
        let panics = async {
            tokio::task::yield_now().await;
            panic!("no such luck")
        };
        let error = caught_step::<()>(|| Box::pin(panics)).await.unwrap_err();
        assert!(WithCauses(&error).to_string().contains("it panicked: no such luck"), "{error}");
        assert!(error.may_pass());
    }
}
