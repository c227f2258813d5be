//! Loads plugins in the background while the host serves the others, with one task per file. A result waits here until
//! a reload puts it into the catalog.

use super::beside::Beside;
use super::contents::{Catalog, RefusedPlugin};
use super::file::{self, FileError, Seen, Sighting};
use super::load::{CachedPlugin, read};
use super::load_error::LoadError;
use super::load_signal::LoadSignal;
use super::loader::{Loader, caught_step};
use super::plugin::Plugin;
use super::plugin_file::PluginBytes;
use crate::caught::caught;
use cap_std::fs::Dir;
use portcullis_policy::PluginName;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_sandbox::BoxFuture;
use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Stops the background loads when it is dropped with the host.
pub(crate) struct BackgroundLoading(pub(crate) Arc<BackgroundLoads>);

/// The files that load in the background.
pub(crate) struct BackgroundLoads {
    loader: Arc<Loader>,
    loads: Mutex<Loads>,
    /// Notified each time that a load ends or is taken from the list.
    changed: LoadSignal,
}

#[derive(Default)]
struct Loads {
    /// The loads, by file name.
    files: BTreeMap<String, BackgroundLoad>,
    /// The number of loads that have begun.
    begun: u64,
    /// The task that puts what has loaded into the catalog.
    admission: Option<AbortHandle>,
    /// Whether the host is closed, so that no more loads begin.
    closed: bool,
}

/// One file that loads, or has loaded and is not in the catalog yet. Drop it only when the lock of all files is free:
/// dropping waits for the task, and the task may wait for that lock.
struct BackgroundLoad {
    plugin: PluginName,
    /// The sighting of the file when the load began.
    sighting: Sighting,
    /// The number of this load. Another load of the same file has another number.
    number: u64,
    /// Whether the observer was told about it.
    told: bool,
    running: RunningLoad,
    task: AbortHandle,
    ended: Option<Arc<EndedLoad>>,
}

/// The result of reading and loading a file, and the time it took.
struct LoadResult {
    sighting: Option<Sighting>,
    loaded: Result<Plugin, LoadError>,
    took: Duration,
}

/// A load that its task polls, and that can be ended at once from elsewhere. Aborting the task alone would leave the
/// compile worker alive if the process ended before the task was polled again.
#[derive(Clone)]
struct RunningLoad(Arc<Mutex<Option<BoxFuture<'static, LoadResult>>>>);

/// A file whose background load has ended.
pub(crate) struct EndedLoad {
    pub(crate) file: String,
    pub(crate) plugin: PluginName,
    pub(crate) sighting: Option<Sighting>,
    /// The plugin without its grants, or why it is refused.
    pub(crate) loaded: Result<Plugin, Arc<LoadError>>,
    pub(crate) took: Duration,
    number: u64,
}

impl RunningLoad {
    fn new(load: impl Future<Output = LoadResult> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::pin(load)))))
    }

    /// Ends the load, and kills its compile worker.
    fn end(&self) {
        drop(self.0.lock_recovered().take());
    }
}

impl Future for RunningLoad {
    /// `None` if the load was stopped.
    type Output = Option<LoadResult>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Held during the poll, so that `end` drops the load between two polls and not in the middle of one.
        let mut load = self.0.lock_recovered();
        match load.as_mut().map(|load| load.as_mut().poll(context)) {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(result)) => {
                *load = None;
                Poll::Ready(Some(result))
            }
            None => Poll::Ready(None),
        }
    }
}

impl Drop for BackgroundLoad {
    fn drop(&mut self) {
        self.running.end();
        self.task.abort();
    }
}

impl Drop for BackgroundLoading {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl BackgroundLoads {
    /// Creates an empty set of loads.
    pub(crate) fn new(loader: &Arc<Loader>) -> Arc<Self> {
        Arc::new(Self { loader: Arc::clone(loader), loads: Mutex::default(), changed: LoadSignal::default() })
    }

    /// Returns the plugin of a file that was read, if it need not be compiled. Otherwise it begins to load in the
    /// background, in place of an earlier load of the same file.
    ///
    /// # Errors
    /// The file is refused without compiling it.
    pub(crate) async fn load(
        self: &Arc<Self>,
        directory: &Arc<Dir>,
        file: &str,
        content: &Arc<PluginBytes>,
    ) -> Result<Option<Plugin>, LoadError> {
        match caught_step(|| Box::pin(self.loader.load_cached(file, content))).await? {
            CachedPlugin::Loaded(plugin) => Ok(Some(*plugin)),
            CachedPlugin::Unmade(_) => {
                self.begin(directory, file, file::plugin_name(file)?, content);
                Ok(None)
            }
        }
    }

    /// Begins to load a file. Its bytes are read again at its turn, so that waiting files take no memory.
    fn begin(self: &Arc<Self>, directory: &Arc<Dir>, file: &str, plugin: PluginName, content: &PluginBytes) {
        let mut loads = self.locked();
        // The host can be told to stop loading while a reload is still under way.
        if loads.closed {
            return;
        }
        loads.begun += 1;
        let number = loads.begun;
        let load =
            Arc::clone(&self.loader).load_in_turn(Arc::clone(directory), file.to_owned(), content.beside.clone());
        let (this, name, running) = (Arc::clone(self), file.to_owned(), RunningLoad::new(load));
        let polled = running.clone();
        // The lock is held until the load is in the list, so a task that ends at once finds its entry in `end`.
        let task = tokio::spawn(async move {
            if let Some(result) = polled.await {
                this.end(&name, number, result);
            }
        });
        let (sighting, task) = (content.sighting, task.abort_handle());
        let load = BackgroundLoad { plugin, sighting, number, told: false, running, task, ended: None };
        let replaced = loads.files.insert(file.to_owned(), load);
        drop(loads);
        // Dropping waits for a poll of the replaced load, so it happens outside the lock.
        drop(replaced);
    }

    /// Stores the result of a load until it is in the catalog.
    fn end(&self, file: &str, number: u64, LoadResult { sighting, loaded, took }: LoadResult) {
        // The file may have changed meanwhile. Its entry then belongs to a newer load, and this result is out of date.
        if let Some(load) = self.locked().files.get_mut(file).filter(|load| load.number == number) {
            let (file, plugin, loaded) = (file.to_owned(), load.plugin.clone(), loaded.map_err(Arc::new));
            load.ended = Some(Arc::new(EndedLoad { file, plugin, sighting, loaded, took, number }));
        }
        self.changed.notify();
    }

    /// Stops all loads, and begins no more.
    pub(crate) fn close(&self) {
        let mut loads = self.locked();
        loads.closed = true;
        let (files, admission) = (std::mem::take(&mut loads.files), loads.admission.take());
        drop(loads);
        drop(files);
        if let Some(admission) = admission {
            admission.abort();
        }
    }

    /// Registers the task that puts loaded plugins into the catalog, so that closing the host stops it.
    pub(crate) fn admitted_by(&self, task: AbortHandle) {
        let mut loads = self.locked();
        if loads.closed {
            task.abort();
        }
        loads.admission = Some(task);
    }

    /// Waits until all loads have ended, for at most this long.
    pub(crate) async fn settled(&self, at_most: Duration) {
        let settled = || self.locked().files.values().all(|load| load.ended.is_some());
        // What is not ready by then keeps loading.
        let _ = timeout(at_most, self.changed.until(settled)).await;
    }

    /// Waits until a load has ended whose result is not in the catalog yet.
    pub(crate) async fn any_ended(&self) {
        self.changed.until(|| self.locked().files.values().any(|load| load.ended.is_some())).await;
    }

    /// Returns the ended loads that are not in the catalog yet. They stay here until [`Self::forget`].
    pub(crate) fn ended(&self) -> Vec<Arc<EndedLoad>> {
        self.locked().files.values().filter_map(|load| load.ended.clone()).collect()
    }

    /// Puts the ended loads into the catalog of a host that is being opened.
    pub(crate) fn enter(&self, catalog: &mut Catalog, seen: &mut Seen) -> Vec<Arc<EndedLoad>> {
        let ended = self.ended();
        for load in &ended {
            seen.extend(load.sighting.map(|sighting| (load.file.clone(), sighting)));
            match &load.loaded {
                // Binding changes the plugin with `Arc::get_mut`, so the catalog needs an `Arc` that no load shares.
                Ok(plugin) => drop(catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin.unbound()))),
                Err(error) => {
                    catalog.refused.push(RefusedPlugin { file: load.file.clone(), error: Arc::clone(error) });
                }
            }
        }
        self.forget(&ended);
        ended
    }

    /// Forgets loads that are now in the catalog.
    pub(crate) fn forget(&self, ended: &[Arc<EndedLoad>]) {
        let is_one = |load: &BackgroundLoad| ended.iter().any(|ended| ended.number == load.number);
        drop(self.take(|_, load| is_one(load)));
    }

    /// Stops loading a file.
    pub(crate) fn stop(&self, file: &str) {
        drop(self.take(|name, _| name == file));
    }

    /// Stops loading files that no longer exist.
    pub(crate) fn keep(&self, is_there: impl Fn(&str) -> bool) {
        drop(self.take(|file, _| !is_there(file)));
    }

    /// Removes some files from the list. Drop them after the lock is released.
    fn take(&self, is_one: impl Fn(&str, &BackgroundLoad) -> bool) -> Vec<BackgroundLoad> {
        let mut loads = self.locked();
        let files = std::mem::take(&mut loads.files);
        let (taken, kept): (BTreeMap<_, _>, _) = files.into_iter().partition(|(file, load)| is_one(file, load));
        loads.files = kept;
        drop(loads);
        // `settled` does not wait for these any more, and no end of a load wakes it.
        self.changed.notify();
        taken.into_values().collect()
    }

    /// Returns the sighting of a file from when its load began.
    pub(crate) fn sighting(&self, file: &str) -> Option<Sighting> {
        self.locked().files.get(file).map(|load| load.sighting)
    }

    /// Returns the names of the plugins that load, or that have loaded and are not in the catalog yet.
    pub(crate) fn plugins(&self) -> Vec<PluginName> {
        self.locked().files.values().map(|load| load.plugin.clone()).collect()
    }

    /// Tells the observer about new loads. Leaves out files that were refused and are tried again.
    pub(crate) fn tell_begun(&self, is_tried_again: impl Fn(&str, [u8; 32]) -> bool) {
        let mut begun = Vec::new();
        for (file, load) in &mut self.locked().files {
            if !load.told && !is_tried_again(file, load.sighting.sha256) {
                begun.push(load.plugin.clone());
            }
            load.told = true;
        }
        // The observer is code of the embedder, so it runs without the lock.
        if !begun.is_empty() {
            self.loader.observer.loading(&begun);
        }
    }

    /// Tells the observer about the results of ended loads, according to the catalog that they are in.
    pub(crate) fn tell_ended<'a>(&self, ended: impl IntoIterator<Item = &'a Arc<EndedLoad>>, catalog: &Catalog) {
        for load in ended {
            match catalog.refusal_of(&load.file) {
                Some(refused) => self.loader.observer.refused(&load.plugin, &refused.error, load.took),
                None => self.loader.observer.ready(&load.plugin, load.took),
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Loads> {
        self.loads.lock_recovered()
    }
}

impl Loader {
    /// Loads a file at its turn. If that panics, the file is refused.
    async fn load_in_turn(self: Arc<Self>, directory: Arc<Dir>, file: String, beside: Beside) -> LoadResult {
        // The semaphore is never closed.
        let slot = self.slots.files.acquire().await;
        // The reported time does not include the wait for the slot.
        let began = Instant::now();
        // After an uncaught panic, the plugin would count as loading forever.
        let loaded = caught(|| Box::pin(self.read_and_load(&directory, &file, beside))).await;
        drop(slot);
        let (sighting, loaded) =
            loaded.unwrap_or_else(|panic| (None, Err(FileError::Io(io::Error::other(panic)).into())));
        LoadResult { sighting, loaded, took: began.elapsed() }
    }

    /// Reads and loads a file, compiling it if necessary.
    async fn read_and_load(
        &self,
        directory: &Arc<Dir>,
        file: &str,
        beside: Beside,
    ) -> (Option<Sighting>, Result<Plugin, LoadError>) {
        match read(directory, file, beside).await {
            Ok(content) => (Some(content.sighting), self.load(file, &content).await),
            Err(error) => (None, Err(error.into())),
        }
    }
}
