//! The instances of plugins that sessions keep between their calls.
//!
//! An idle instance occupies the place in the engine's pool that its call had, so keeping instances needs no more
//! memory than running as many calls. A call that finds no free place takes that of an idle instance.

use crate::catalog::{Catalog, Plugin};
use crate::request::Request;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{InstanceLifetime, Principal};
use portcullis_sandbox::IdleInstance;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::sleep;

/// How often the idle times are checked while there are idle instances. An instance may stay for this much longer.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The idle instances of a host, and the places of its running calls.
pub(crate) struct KeptInstances(Arc<Mutex<InstancePlaces>>);

struct InstancePlaces {
    /// Maximum running calls and idle instances together.
    places: usize,
    running: usize,
    /// The longest idle one first.
    idle: Vec<KeptInstance>,
    /// Whether a task checks the idle times.
    is_swept: bool,
}

/// An idle instance.
struct KeptInstance {
    of: InstanceOwner,
    instance: IdleInstance,
    expires: Instant,
}

/// Whose instance it is. No other call may use it.
pub(crate) struct InstanceOwner {
    principal: Principal,
    session: Arc<str>,
    /// The plugin, as one policy binds it. A new policy or a new file makes another one.
    plugin: Weak<Plugin>,
}

/// The place of a running call. Dropping it frees the place.
pub(crate) struct RunningPlace(Option<Arc<Mutex<InstancePlaces>>>);

impl InstanceOwner {
    /// Returns the owner of the instance that a call may use, or `None` if the call needs a fresh sandbox. A call that
    /// another tool makes needs one, because its limits are those that are left to that tool.
    pub(crate) fn of(request: &Request, plugin: &Arc<Plugin>) -> Option<Self> {
        if plugin.grants.instance == InstanceLifetime::Call || request.parent.is_some() {
            return None;
        }
        let origin = &request.origin;
        let (principal, session) = (origin.principal.clone(), Arc::clone(&origin.session));
        Some(Self { principal, session, plugin: Arc::downgrade(plugin) })
    }

    fn is(&self, other: &Self) -> bool {
        self.principal == other.principal && self.session == other.session && Weak::ptr_eq(&self.plugin, &other.plugin)
    }

    fn is_current(&self, catalog: &Catalog) -> bool {
        let current =
            |plugin: Arc<Plugin>| catalog.plugins.get(&plugin.name).is_some_and(|one| Arc::ptr_eq(one, &plugin));
        self.plugin.upgrade().is_some_and(current)
    }
}

impl KeptInstances {
    /// Creates the places of an engine's pool.
    pub(crate) fn new(places: u32) -> Self {
        let places = InstancePlaces { places: places as usize, running: 0, idle: Vec::new(), is_swept: false };
        Self(Arc::new(Mutex::new(places)))
    }

    /// Takes a place for a call, and the idle instance of its owner, if there is one.
    pub(crate) fn begin(&self, owner: Option<&InstanceOwner>) -> (RunningPlace, Option<IdleInstance>) {
        let mut places = self.places();
        let found = owner.and_then(|owner| places.idle.iter().position(|idle| idle.of.is(owner)));
        let found = found.map(|index| places.idle.remove(index));
        places.running += 1;
        let displaced = places.make_room();
        drop(places);
        // The pool has no room for the call's store before this is dropped.
        drop(displaced);
        let place = RunningPlace(Some(Arc::clone(&self.0)));
        // The sweep may not have removed an expired instance yet.
        (place, found.filter(|idle| idle.expires > Instant::now()).map(|idle| idle.instance))
    }

    /// Drops the instances of plugins that a catalog does not have. A new policy binds every plugin again.
    pub(crate) fn keep_only(&self, catalog: &Catalog) {
        let mut places = self.places();
        let dropped: Vec<_> = places.idle.extract_if(.., |idle| !idle.of.is_current(catalog)).collect();
        drop(places);
        // Dropping an instance frees its memory, so it happens outside the lock.
        drop(dropped);
    }

    /// Returns the number of idle instances.
    pub(crate) fn idle(&self) -> usize {
        self.places().idle.len()
    }

    fn places(&self) -> MutexGuard<'_, InstancePlaces> {
        self.0.lock_recovered()
    }
}

impl InstancePlaces {
    /// Removes idle instances until the running calls have their places. Begins with the longest idle one of the
    /// principal that has the most, so that no one can take the places of others.
    fn make_room(&mut self) -> Vec<KeptInstance> {
        let mut removed = Vec::new();
        while self.running + self.idle.len() > self.places && !self.idle.is_empty() {
            let count = |of: &InstanceOwner| self.idle.iter().filter(|idle| idle.of.principal == of.principal).count();
            // The first one wins among equals, and it is the longest idle.
            let next = (0..self.idle.len()).rev().max_by_key(|index| count(&self.idle[*index].of)).unwrap_or(0);
            removed.push(self.idle.remove(next));
        }
        removed
    }
}

impl RunningPlace {
    /// Keeps the instance of a call in its place, until the next call of its owner, or until the idle time has passed.
    /// Drops it if the owner has another one, or if its plugin is not in the catalog any more.
    pub(crate) fn keep(
        mut self,
        owner: InstanceOwner,
        instance: IdleInstance,
        idle_time: Duration,
        catalog: &watch::Sender<Arc<Catalog>>,
    ) {
        let Some(shared) = &self.0 else { return };
        let mut places = shared.lock_recovered();
        // Compared under the lock, so that either `keep_only` finds the instance, or this sees the new catalog.
        if places.idle.iter().any(|idle| idle.of.is(&owner)) || !owner.is_current(&catalog.borrow()) {
            drop(places);
            // The place becomes free only afterwards.
            drop(instance);
            return;
        }
        // The place passes to the idle instance. `self.0` is taken below, so that `drop` does not free it again.
        places.running -= 1;
        places.idle.push(KeptInstance { of: owner, instance, expires: Instant::now() + idle_time });
        let begins_sweep = !std::mem::replace(&mut places.is_swept, true);
        drop(places);
        if let Some(shared) = self.0.take().filter(|_| begins_sweep) {
            tokio::spawn(sweep(Arc::downgrade(&shared)));
        }
    }
}

impl Drop for RunningPlace {
    fn drop(&mut self) {
        if let Some(places) = &self.0 {
            places.lock_recovered().running -= 1;
        }
    }
}

/// Drops instances whose idle time has passed, until there are none.
async fn sweep(places: Weak<Mutex<InstancePlaces>>) {
    loop {
        sleep(SWEEP_INTERVAL).await;
        let Some(places) = places.upgrade() else { return };
        let mut held = places.lock_recovered();
        let now = Instant::now();
        let expired: Vec<_> = held.idle.extract_if(.., |idle| idle.expires <= now).collect();
        // Decided under the lock: an instance that is kept after this begins a new sweep.
        held.is_swept = !held.idle.is_empty();
        let is_over = !held.is_swept;
        drop(held);
        drop(expired);
        if is_over {
            return;
        }
    }
}
