//! Cancelled calls: S30, and the grace period.

use portcullis::plugins::Contract;
use portcullis::{Cancellation, Code, Reply};
use portcullis_tests::{Attack, outcomes};
use std::time::Duration;

/// Maximum time that a guest can run after a cancellation, with a tolerance for a busy machine.
const STOPPED: Duration = Duration::from_secs(2);

/// Calls a guest and cancels the call shortly afterwards.
async fn cancelled(contract: Contract, guest: &str) -> Reply {
    let attack = Attack::by(contract, guest).within(Duration::from_secs(10));
    let host = attack.open().await;
    let cancellation = Cancellation::new();
    let call = host.call(attack.request().cancellation(cancellation.clone()));
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancellation.cancel();
    };
    let (reply, ()) = tokio::join!(call, cancel);
    assert_eq!(reply.code, Code::Cancelled);
    assert!(reply.usage.run.wall < STOPPED, "{guest} kept running for {:?}", reply.usage.run.wall);
    attack.leaves_no_trace(&host).await;
    reply
}

/// A guest that checks for cancellation ends before the grace period does.
pub(crate) async fn waits_for_cancellation(contract: Contract) {
    cancelled(contract, "waits_for_cancellation").await;
}

/// A guest that does not check is stopped, whether it computes or waits.
async fn a_guest_that_ignores_a_cancel_is_stopped(contract: Contract) {
    let looping = cancelled(contract, "loop_in_execute").await;
    let sleeping = cancelled(contract, "sleep_in_execute").await;
    for reply in [looping, sleeping] {
        assert!(reply.usage.run.wall >= Duration::from_millis(200), "it got no grace: {:?}", reply.usage.run.wall);
    }
}

/// Dropping the future of a call ends the call at any point, and records it.
async fn a_dropped_call_is_recorded_as_cancelled(contract: Contract) {
    for guest in ["loop_in_execute", "sleep_in_execute", "loop_in_realloc", "clock_storm", "bulk_fill"] {
        let attack = Attack::by(contract, guest);
        let host = attack.open().await;
        let mut dropped = 0;
        for milliseconds in [0, 1, 2, 5, 10, 20, 40] {
            let call = host.call(attack.request());
            let ended = tokio::time::timeout(Duration::from_millis(milliseconds), call).await;
            dropped += usize::from(ended.is_err());
        }
        assert!(dropped >= 3, "{guest}: {dropped} calls were dropped");
        let cancelled = outcomes(&host).iter().filter(|outcome| outcome["outcome"] == "cancelled").count();
        assert_eq!(cancelled, dropped, "{guest}");
        attack.leaves_no_trace(&host).await;
    }
}

in_every_contract! {
    tokio::test =>
        waits_for_cancellation
        a_guest_that_ignores_a_cancel_is_stopped;
    tokio::test(flavor = "multi_thread", worker_threads = 2) =>
        a_dropped_call_is_recorded_as_cancelled;
}
