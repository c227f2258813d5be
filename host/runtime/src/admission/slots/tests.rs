//! Tests of the run slots.

use super::*;
use std::future::Future;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};

fn key(principal: &str, plugin: &str) -> SlotKey {
    SlotKey { principal: principal.parse().unwrap(), plugin: plugin.parse().unwrap() }
}

/// The order in which calls that wait for the one slot get it.
async fn order(waiting: &[(&str, &str)]) -> Vec<String> {
    let slots = RunSlots::new(1);
    let first = slots.take(&key("first", "first")).await;
    let got = Arc::new(Mutex::new(Vec::new()));
    let mut calls = Vec::new();
    for (principal, plugin) in waiting {
        let (slots, got, key) = (slots.clone(), Arc::clone(&got), key(principal, plugin));
        calls.push(tokio::spawn(async move {
            let slot = slots.take(&key).await;
            got.lock().unwrap().push(format!("{} {}", key.principal, key.plugin));
            drop(slot);
        }));
        // One thread: it now waits.
        tokio::task::yield_now().await;
    }
    drop(first);
    for call in calls {
        call.await.unwrap();
    }
    Arc::into_inner(got).unwrap().into_inner().unwrap()
}

#[tokio::test]
async fn a_slot_goes_to_each_principal_in_turn_and_within_it_to_each_plugin() {
    let waiting = [
        ("alice", "files"),
        ("alice", "files"),
        ("alice", "files"),
        ("alice", "web"),
        ("bob", "files"),
        ("bob", "files"),
        ("carol", "web"),
    ];
    let turns = ["alice files", "bob files", "carol web", "alice web", "bob files", "alice files", "alice files"];
    assert_eq!(order(&waiting).await, turns);
}

#[tokio::test]
async fn calls_that_stopped_waiting_are_not_kept_and_the_next_one_gets_the_slot() {
    let slots = RunSlots::new(1);
    let key = key("alice", "files");
    let first = slots.take(&key).await;
    let mut kept = pin!(slots.take(&key));
    let mut context = Context::from_waker(Waker::noop());
    assert!(kept.as_mut().poll(&mut context).is_pending());
    for _ in 0..10 * SWEPT_WAITING_MIN {
        assert!(pin!(slots.take(&key)).poll(&mut context).is_pending());
    }
    let waiting = slots.table().principals[&key.principal].plugins[&key.plugin].waiting.len();
    assert!(waiting <= 2 * SWEPT_WAITING_MIN, "{waiting}");
    drop(first);
    assert!(matches!(kept.poll(&mut context), Poll::Ready(_)));
}

/// Takes a slot without waiting.
fn taken(slots: &RunSlots, principal: &str) -> Option<RunSlot> {
    taken_for(slots, &key(principal, "plugin"))
}

fn taken_for(slots: &RunSlots, key: &SlotKey) -> Option<RunSlot> {
    match pin!(slots.take(key)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(slot) => Some(slot),
        Poll::Pending => None,
    }
}

#[test]
fn neither_a_plugin_nor_a_principal_gets_all_slots() {
    let slots = RunSlots::new(8);
    let [files, web] = ["files", "web"].map(|plugin| key("alice", plugin));
    let mut context = Context::from_waker(Waker::noop());
    let of_plugin: Vec<RunSlot> = (0..8).map_while(|_| taken_for(&slots, &files)).collect();
    assert_eq!(of_plugin.len(), 6);
    let of_principal = taken_for(&slots, &web).unwrap();
    assert!(taken_for(&slots, &web).is_none(), "the last slot is for another principal");
    let other = taken(&slots, "bob").unwrap();
    let (mut of_files, mut of_web) = (pin!(slots.take(&files)), pin!(slots.take(&web)));
    assert!(of_files.as_mut().poll(&mut context).is_pending());
    assert!(of_web.as_mut().poll(&mut context).is_pending());
    // A slot that becomes free does not lift the maximum of a principal or of a plugin.
    drop(other);
    assert!(of_web.as_mut().poll(&mut context).is_pending());
    drop(of_principal);
    assert!(of_files.as_mut().poll(&mut context).is_pending());
    assert!(of_web.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_slot_is_exchanged_if_no_call_waits_and_the_plugin_may_have_one_more() {
    let slots = RunSlots::new(8);
    let [files, web, of_bob] = [key("alice", "files"), key("alice", "web"), key("bob", "web")];
    let mut slot = taken_for(&slots, &files).unwrap();
    assert!(!slot.exchange(&of_bob), "it is of another principal");
    assert!(slot.exchange(&web) && slot.exchange(&files) && slot.exchange(&files));
    let of_web: Vec<RunSlot> = (0..6).map_while(|_| taken_for(&slots, &web)).collect();
    assert_eq!(of_web.len(), 6);
    assert!(!slot.exchange(&web), "the plugin has its maximum");
    drop(of_web);
    let others: Vec<RunSlot> = (0..7).map_while(|at| taken(&slots, &format!("other{at}"))).collect();
    assert_eq!(others.len(), 7);
    let mut waiting = pin!(slots.take(&of_bob));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(!slot.exchange(&web), "another call waits for a slot");
    drop(slot);
    assert!(waiting.as_mut().poll(&mut context).is_ready(), "the slot goes to the call that waits");
}

/// However a new call races with the end of another one, the call that waits is next.
#[test]
fn a_new_call_does_not_overtake_one_that_waits() {
    for _ in 0..2000 {
        let slots = RunSlots::new(1);
        let (held, first) = (taken(&slots, "a").unwrap(), key("b", "plugin"));
        let mut waiting = pin!(slots.take(&first));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let barrier = Barrier::new(2);
        let overtaken = std::thread::scope(|scope| {
            let late = scope.spawn(|| {
                barrier.wait();
                (0..100).find_map(|_| taken(&slots, "c"))
            });
            barrier.wait();
            drop(held);
            late.join().unwrap()
        });
        assert!(overtaken.is_none());
        assert!(waiting.as_mut().poll(&mut context).is_ready());
    }
}
