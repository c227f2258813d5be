//! Admission of a call: the counts of its rate limits before it is approved, and then the order of its session and a
//! run slot of the host.
//!
//! The order comes first, so that a call that waits for its session keeps no slot from other sessions. While an
//! approver is asked in the middle of a call, both go to other calls. While a tool makes one call, the call that it
//! makes uses them, if no other call waits for a slot.

mod applicant;
mod lock_file;
mod measured;
mod order;
mod rate_count;
mod rate_counts;
mod runs;
mod slots;

pub(crate) use applicant::Applicant;
use cap_std::fs::Dir;
use lock_file::OrderFiles;
pub(crate) use measured::{AdmissionWaits, measured};
pub(crate) use order::{CallOrder, CallOrderGuard};
use order::{OrderGuard, OrderKey, SessionOrders};
use portcullis_policy::TOOLS_DEPTH_CEILING;
use portcullis_policy::recovery::RecoverMutex;
pub(crate) use rate_counts::{CountedCall, CountedLimit, RateCounts, RateExceeded, UnreportedUse};
pub(crate) use runs::Runs;
use slots::{RunSlot, RunSlots, SlotKey};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum running calls that wait without a run slot, for an approver or for calls that they make. Each keeps its
/// memory, so a host may need the memory of that many more calls. Any further call that asks an approver keeps its slot
/// and its place in the order. Any further call that makes calls gets an error.
pub(crate) const WAITING_RUNS_MAX: u32 = 16;

/// The run slots of a host, the orders of its sessions, and the counts of the policy's rate limits.
pub(crate) struct Admissions {
    orders: SessionOrders,
    slots: RunSlots,
    waiting: Arc<Semaphore>,
    /// A reload keeps them.
    pub(crate) rate_counts: Arc<RateCounts>,
}

/// The run slot, the order and the count that one call holds. Clones of a request share it.
#[derive(Debug, Default)]
pub(crate) struct Admission(Mutex<HeldAdmission>);

#[derive(Debug, Default)]
struct HeldAdmission {
    slot: Option<RunSlot>,
    order: Option<OrderGuard>,
    /// Held while the call waits for an approver or for calls that it makes.
    waiting: Option<OwnedSemaphorePermit>,
    /// The keys to take again after the wait.
    wanted: Option<(OrderKey, SlotKey)>,
    /// The call whose slot and order this call uses.
    lender: Option<Arc<Admission>>,
    /// The call under the rate limits that count it as in progress.
    counted: Option<CountedCall>,
}

/// The guard of a call's run slot. Dropping it releases the slot.
pub(crate) struct Admitted(Arc<Admission>);

/// The guard of a call's place in the order of its session. Dropping it releases the place.
pub(crate) struct OrderUntilOver(Arc<Admission>);

/// Why a call is not admitted.
pub(crate) enum NotAdmitted {
    /// No run slot came free in time.
    Busy,
    /// The lock file of its session cannot be used.
    Io(io::Error),
}

impl Admissions {
    /// Creates `calls` run slots. With `shared`, a state directory, calls also wait for those of their session in other
    /// processes.
    pub(crate) fn new(calls: u32, shared: Option<&Dir>) -> io::Result<Self> {
        Ok(Self {
            orders: SessionOrders::new(shared.map(OrderFiles::open).transpose()?),
            slots: RunSlots::new(calls),
            waiting: Arc::new(Semaphore::new(waiting_runs(calls) as usize)),
            rate_counts: Arc::default(),
        })
    }

    /// Returns the maximum running calls of one plugin for one principal.
    pub(crate) fn calls_of_one(&self) -> usize {
        self.slots.of_plugin()
    }

    /// Returns the run slots that calls hold, and all run slots.
    pub(crate) fn slot_usage(&self) -> (u32, u32) {
        self.slots.usage()
    }

    /// Waits for the order of the call's session, and then for a run slot. Waits for the slot for no longer than
    /// `patience`. The wait for the order has no limit: it lasts as long as the calls before it run, which may be
    /// minutes, and each of them has its own limits. Dropping this ends both waits. A call that a tool makes uses those
    /// that the call of the tool, the `lender`, offers, if it can. Notes in `waits` how long it waited.
    pub(crate) async fn admit(
        &self,
        applicant: Applicant<'_>,
        admission: &Arc<Admission>,
        lender: Option<&Arc<Admission>>,
        patience: Duration,
        waits: &mut AdmissionWaits,
    ) -> Result<Admitted, NotAdmitted> {
        let order = OrderKey::of(&applicant);
        let slot = SlotKey::of(&applicant);
        // From here on, dropping this future releases everything that was taken.
        let admitted = Admitted(Arc::clone(admission));
        if let Some(lender) = lender
            && let Some((lent_slot, lent_order)) = lender.hand_over(&order, &slot)
        {
            let mut held = admission.held();
            (held.slot, held.order, held.waiting) = (Some(lent_slot), Some(lent_order), None);
            (held.wanted, held.lender) = (Some((order, slot)), Some(Arc::clone(lender)));
            drop(held);
            return Ok(admitted);
        }
        let (taken, wait) = measured(self.orders.take(&order)).await;
        waits.order = wait;
        admission.held().order = Some(taken.map_err(NotAdmitted::Io)?);
        // After a timeout, the call keeps its place in the order until `OrderUntilOver` is dropped, at its end.
        let (taken, wait) = measured(tokio::time::timeout(patience, self.slots.take(&slot))).await;
        waits.slot = wait;
        let taken = taken.map_err(|_| NotAdmitted::Busy)?;
        let mut held = admission.held();
        held.slot = Some(taken);
        held.wanted = Some((order, slot));
        drop(held);
        Ok(admitted)
    }

    /// Lends the slot and the order to other calls while an approver is asked. Returns false if too many calls already
    /// wait, so that the call keeps both.
    pub(crate) fn lend(&self, admission: &Admission) -> bool {
        let is_offered = self.offer(admission);
        if is_offered {
            admission.release();
        }
        is_offered
    }

    /// Offers the slot and the order to a call that the tool makes. The call keeps them until then, or until
    /// [`Admission::release`]. Returns false if too many calls already wait.
    pub(crate) fn offer(&self, admission: &Admission) -> bool {
        let mut held = admission.held();
        if held.slot.is_none() {
            return false;
        }
        let Ok(waiting) = Arc::clone(&self.waiting).try_acquire_owned() else { return false };
        held.waiting = Some(waiting);
        true
    }

    /// Takes back what the call has lent. Does nothing if it has lent nothing.
    ///
    /// # Errors
    /// The lock file of its session cannot be used.
    pub(crate) async fn retake(&self, admission: &Admission) -> io::Result<()> {
        let (order, slot, has_order) = {
            let mut held = admission.held();
            if held.slot.is_some() {
                held.waiting = None;
                return Ok(());
            }
            let Some((order, slot)) = held.wanted.clone() else { return Ok(()) };
            (order, slot, held.order.is_some())
        };
        // The order comes before the slot, as in `admit`: a call that waits for its session must not hold a slot.
        if !has_order {
            let order = self.orders.take(&order).await?;
            admission.held().order = Some(order);
        }
        let slot = self.slots.take(&slot).await;
        let mut held = admission.held();
        (held.slot, held.waiting) = (Some(slot), None);
        Ok(())
    }
}

impl Admission {
    /// Returns a guard that releases the call's place in the order, and ends its count. Drop it after everything that
    /// the call leaves behind is in place, not when its tool has run.
    pub(crate) fn until_over(self: &Arc<Self>) -> OrderUntilOver {
        OrderUntilOver(Arc::clone(self))
    }

    /// Keeps what counts the call as in progress, until the admission is over.
    pub(crate) fn count(&self, call: CountedCall) {
        self.held().counted = Some(call);
    }

    /// Stops counting the call as in progress, until [`Admission::resume_count`].
    pub(crate) fn pause_count(&self) {
        if let Some(counted) = &mut self.held().counted {
            counted.pause();
        }
    }

    /// Counts the call as in progress again.
    pub(crate) fn resume_count(&self) {
        if let Some(counted) = &mut self.held().counted {
            counted.resume();
        }
    }

    /// Releases the slot and the order that the call has offered, so that any call can take them. Does nothing if
    /// another call uses them.
    pub(crate) fn release(&self) {
        let mut held = self.held();
        let lent = (held.slot.take(), held.order.take());
        // Drop the slot outside of this lock, because that wakes the next call.
        drop(held);
        drop(lent);
    }

    /// Returns the slot and the order that the call has offered, for a call that its tool makes. `None` if that call
    /// has to wait for its own, such as when another call waits for a slot.
    fn hand_over(&self, order: &OrderKey, slot: &SlotKey) -> Option<(RunSlot, OrderGuard)> {
        let mut held = self.held();
        // Check these before the exchange, which changes the counts of the slot.
        let is_offered = held.waiting.is_some() && held.order.is_some();
        let covers = held.wanted.as_ref().is_some_and(|(own, _)| own.covers(order));
        if !is_offered || !covers || !held.slot.as_mut()?.exchange(slot) {
            return None;
        }
        Some((held.slot.take()?, held.order.take()?))
    }

    /// Takes a slot back from the call that used it, if this call still waits and no other call waits for a slot.
    /// Otherwise, the slot goes to the next call.
    fn take_back_slot(&self, mut slot: RunSlot) {
        let mut held = self.held();
        let own = held.wanted.as_ref().filter(|_| held.waiting.is_some() && held.slot.is_none());
        if own.is_some_and(|(_, own)| slot.exchange(own)) {
            held.slot = Some(slot);
            return;
        }
        drop(held);
        drop(slot);
    }

    /// Takes an order back from the call that used it, if this call still waits.
    fn take_back_order(&self, order: OrderGuard) {
        let mut held = self.held();
        if held.waiting.is_some() && held.order.is_none() {
            held.order = Some(order);
            return;
        }
        drop(held);
        drop(order);
    }

    fn held(&self) -> MutexGuard<'_, HeldAdmission> {
        self.0.lock_recovered()
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut held = self.0.held();
        // Keep the lender: the order goes back to it later, when everything that the call leaves behind is in place.
        let (slot, waiting, lender) = (held.slot.take(), held.waiting.take(), held.lender.clone());
        held.wanted = None;
        // Drop the slot outside of this lock, because that wakes the next call.
        drop(held);
        drop(waiting);
        if let (Some(slot), Some(lender)) = (slot, lender) {
            lender.take_back_slot(slot);
        }
    }
}

impl Drop for OrderUntilOver {
    fn drop(&mut self) {
        let mut held = self.0.held();
        let (order, lender, counted) = (held.order.take(), held.lender.take(), held.counted.take());
        drop(held);
        drop(counted);
        if let (Some(order), Some(lender)) = (order, lender) {
            lender.take_back_order(order);
        }
    }
}

/// Returns how many calls may run at one time, for this many run slots. Some wait without one.
pub(crate) fn runs_max(calls: u32) -> u32 {
    calls + waiting_runs(calls)
}

/// Returns how many calls may wait without a run slot, for this many run slots. With any number, the longest chain of
/// calls in a batch fits, so that tools can call tools even with one run slot.
fn waiting_runs(calls: u32) -> u32 {
    let chain = u32::try_from(TOOLS_DEPTH_CEILING).map_or(WAITING_RUNS_MAX, |chain| chain.saturating_add(1));
    calls.clamp(chain.min(WAITING_RUNS_MAX), WAITING_RUNS_MAX)
}
