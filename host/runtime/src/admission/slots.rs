//! The run slots of a host, shared fairly. Free slots go to waiting principals in turn, and within a principal to its
//! plugins in turn. No principal gets all slots, and no plugin gets all slots of a principal.

use super::applicant::Applicant;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{PluginName, Principal};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::oneshot;

/// One in this many slots is reserved for others. With an eighth, one busy principal has most of the host, and another
/// one can start immediately.
const RESERVED_PART: u32 = 8;

/// Number of slots below which none is reserved. One of three would be too many.
const RESERVING_SLOTS_MIN: u32 = 4;

/// Number of principals above which idle ones are removed.
const IDLE_PRINCIPALS_MAX: usize = 1024;

/// Number of waiting calls below which calls that have stopped waiting are not removed.
const SWEPT_WAITING_MIN: usize = 32;

/// The run slots of a host.
#[derive(Clone)]
pub(super) struct RunSlots(Arc<Mutex<SlotTable>>);

/// The principal and the plugin that a slot counts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotKey {
    /// The root principal, because a sub-agent counts for its root.
    principal: Principal,
    plugin: PluginName,
}

/// A run slot. Dropping it hands it to the next call.
pub(super) struct RunSlot {
    slots: RunSlots,
    key: SlotKey,
}

struct SlotTable {
    all: u32,
    free: u32,
    /// Maximum slots of one principal.
    of_principal: u32,
    /// Maximum slots of one plugin for one principal.
    of_plugin: u32,
    principals: HashMap<Principal, PrincipalSlots>,
    /// The principals with waiting calls. The next slot goes to the first one that may have it.
    turns: VecDeque<Principal>,
}

#[derive(Default)]
struct PrincipalSlots {
    running: u32,
    plugins: HashMap<PluginName, PluginSlots>,
    /// The plugins with calls that wait.
    turns: VecDeque<PluginName>,
}

#[derive(Default)]
struct PluginSlots {
    running: u32,
    waiting: VecDeque<oneshot::Sender<RunSlot>>,
    /// The length of `waiting` at which it is swept next.
    sweep_at: usize,
}

impl SlotKey {
    pub(super) fn of(applicant: &Applicant<'_>) -> Self {
        Self { principal: applicant.principal.root(), plugin: applicant.plugin.clone() }
    }
}

impl RunSlots {
    pub(super) fn new(calls: u32) -> Self {
        let of_principal = share(calls);
        Self(Arc::new(Mutex::new(SlotTable {
            all: calls,
            free: calls,
            of_principal,
            of_plugin: share(of_principal),
            principals: HashMap::new(),
            turns: VecDeque::new(),
        })))
    }

    /// Maximum slots of one plugin for one principal.
    pub(super) fn of_plugin(&self) -> usize {
        self.table().of_plugin as usize
    }

    /// Returns the slots that calls hold, and all slots.
    pub(super) fn usage(&self) -> (u32, u32) {
        let table = self.table();
        (table.all.saturating_sub(table.free), table.all)
    }

    /// Waits for a slot. Dropping the future stops waiting.
    pub(super) async fn take(&self, key: &SlotKey) -> RunSlot {
        loop {
            let waiting = {
                let mut table = self.table();
                if table.take(key) {
                    return RunSlot { slots: self.clone(), key: key.clone() };
                }
                table.enqueue(key)
            };
            // The sender stays in the table until it is answered, so this does not fail.
            if let Ok(slot) = waiting.await {
                return slot;
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, SlotTable> {
        self.0.lock_recovered()
    }
}

impl RunSlot {
    /// Makes the slot count for another plugin of the same principal. Returns false, and changes nothing, if any call
    /// waits for a slot or the plugin has its maximum.
    pub(super) fn exchange(&mut self, key: &SlotKey) -> bool {
        let is_exchanged = self.slots.table().exchange(&self.key, key);
        if is_exchanged {
            self.key.clone_from(key);
        }
        is_exchanged
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        let next = self.slots.table().hand_over(&self.key);
        if let Some((key, waiting)) = next {
            // The table is unlocked by now. If the call has stopped waiting, this drops the slot, which locks the table
            // and hands the slot over again.
            drop(waiting.send(Self { slots: self.slots.clone(), key }));
        }
    }
}

impl SlotTable {
    /// Takes a slot if one is free for this key. This overtakes no call, because no waiting call may have a free slot.
    fn take(&mut self, key: &SlotKey) -> bool {
        let (of_principal, of_plugin) = (self.of_principal, self.of_plugin);
        if self.free == 0 {
            return false;
        }
        let principal = self.principal(&key.principal);
        if principal.running >= of_principal {
            return false;
        }
        let plugin = principal.plugins.entry(key.plugin.clone()).or_default();
        if plugin.running >= of_plugin {
            return false;
        }
        plugin.running += 1;
        principal.running += 1;
        self.free -= 1;
        true
    }

    /// Counts a slot for another plugin of the same principal. No call may wait, because it could have the slot.
    fn exchange(&mut self, from: &SlotKey, to: &SlotKey) -> bool {
        if !self.turns.is_empty() || from.principal != to.principal {
            return false;
        }
        let of_plugin = self.of_plugin;
        if from.plugin == to.plugin {
            return true;
        }
        let principal = self.principal(&to.principal);
        let next = principal.plugins.entry(to.plugin.clone()).or_default();
        if next.running >= of_plugin {
            return false;
        }
        next.running += 1;
        if let Some(plugin) = principal.plugins.get_mut(&from.plugin) {
            plugin.running = plugin.running.saturating_sub(1);
        }
        true
    }

    fn enqueue(&mut self, key: &SlotKey) -> oneshot::Receiver<RunSlot> {
        let (sender, receiver) = oneshot::channel();
        let principal = self.principal(&key.principal);
        let is_first = principal.turns.is_empty();
        let plugin = principal.plugins.entry(key.plugin.clone()).or_default();
        plugin.push(sender);
        if !principal.turns.contains(&key.plugin) {
            principal.turns.push_back(key.plugin.clone());
        }
        if is_first && !self.turns.contains(&key.principal) {
            self.turns.push_back(key.principal.clone());
        }
        receiver
    }

    /// Takes a slot for the call whose turn it is.
    fn next(&mut self) -> Option<(SlotKey, oneshot::Sender<RunSlot>)> {
        for _ in 0..self.turns.len() {
            if self.free == 0 {
                return None;
            }
            let name = self.turns.pop_front()?;
            let (of_principal, of_plugin) = (self.of_principal, self.of_plugin);
            let Some(principal) = self.principals.get_mut(&name) else { continue };
            let next = if principal.running < of_principal { principal.next(of_plugin) } else { None };
            if !principal.turns.is_empty() {
                self.turns.push_back(name.clone());
            }
            if let Some((plugin, waiting)) = next {
                self.free -= 1;
                return Some((SlotKey { principal: name, plugin }, waiting));
            }
        }
        None
    }

    /// Releases a slot, and takes it for the call whose turn it is. Both happen under one lock, so that a call that has
    /// just arrived cannot get the slot first. One released slot is never enough for two waiting calls.
    fn hand_over(&mut self, key: &SlotKey) -> Option<(SlotKey, oneshot::Sender<RunSlot>)> {
        self.free += 1;
        if let Some(principal) = self.principals.get_mut(&key.principal) {
            principal.running = principal.running.saturating_sub(1);
            if let Some(plugin) = principal.plugins.get_mut(&key.plugin) {
                plugin.running = plugin.running.saturating_sub(1);
            }
        }
        self.next()
    }

    fn principal(&mut self, name: &Principal) -> &mut PrincipalSlots {
        if self.principals.len() >= IDLE_PRINCIPALS_MAX && !self.principals.contains_key(name) {
            self.principals.retain(|_, principal| principal.running > 0 || !principal.turns.is_empty());
        }
        self.principals.entry(name.clone()).or_default()
    }
}

impl PrincipalSlots {
    /// Takes a slot for the next of its calls that may have one. A plugin without waiting calls loses its turn.
    fn next(&mut self, of_plugin: u32) -> Option<(PluginName, oneshot::Sender<RunSlot>)> {
        for _ in 0..self.turns.len() {
            let name = self.turns.pop_front()?;
            let Some(plugin) = self.plugins.get_mut(&name) else { continue };
            let may_run = plugin.running < of_plugin;
            let next = if may_run { plugin.next_waiting() } else { None };
            if !plugin.waiting.is_empty() {
                self.turns.push_back(name.clone());
            }
            if let Some(waiting) = next {
                plugin.running += 1;
                self.running += 1;
                return Some((name, waiting));
            }
        }
        None
    }
}

impl PluginSlots {
    /// Adds a waiting call. Calls that have stopped waiting would stay until their turn, so they are removed each time
    /// the queue has doubled. The amortized cost per call is constant.
    fn push(&mut self, waiting: oneshot::Sender<RunSlot>) {
        if self.waiting.len() >= self.sweep_at.max(SWEPT_WAITING_MIN) {
            self.waiting.retain(|waiting| !waiting.is_closed());
            self.sweep_at = self.waiting.len().saturating_mul(2);
        }
        self.waiting.push_back(waiting);
    }

    fn next_waiting(&mut self) -> Option<oneshot::Sender<RunSlot>> {
        loop {
            let waiting = self.waiting.pop_front()?;
            if !waiting.is_closed() {
                return Some(waiting);
            }
        }
    }
}

/// Returns the part of some slots that one principal or one plugin may have.
fn share(slots: u32) -> u32 {
    if slots < RESERVING_SLOTS_MIN { slots } else { slots - (slots / RESERVED_PART).max(1) }
}

impl std::fmt::Debug for RunSlot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RunSlot({:?})", self.key)
    }
}

#[cfg(test)]
mod tests;
