//! Guests that compute forever next to other work: S06, S01 in parallel, S55.

use portcullis::plugins::Contract;
use portcullis::{Code, LimitKind, Request};
use portcullis_tests::Attack;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// On a runtime with one thread, other host tasks run while a guest loops.
async fn a_loop_does_not_starve_the_only_thread(contract: Contract) {
    let attack = Attack::by(contract, "loop_in_execute").within(Duration::from_millis(600));
    let host = attack.open().await;
    let ended = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&ended);
    let ticks = tokio::spawn(async move {
        let (mut ticks, mut interval) = (0_u32, tokio::time::interval(Duration::from_millis(20)));
        while !seen.load(Ordering::Acquire) {
            interval.tick().await;
            ticks += 1;
        }
        ticks
    });
    let reply = attack.call(&host).await;
    ended.store(true, Ordering::Release);
    assert_eq!(reply.code, Code::Limit(LimitKind::Time));
    let ticks = ticks.await.unwrap();
    assert!(ticks >= 10, "the other task ran {ticks} times in 600 ms");
}

/// With eight loops on two workers, a good call completes before any loop ends.
async fn eight_loops_on_two_workers_leave_room_for_a_good_call(contract: Contract) {
    let attack = Attack::by(contract, "loop_in_execute").within(Duration::from_secs(3));
    let host = attack.site().builder(&attack.policy()).calls(9).open().await.unwrap();
    let mut loops = JoinSet::new();
    for _ in 0..8 {
        let (host, request) = (host.clone(), attack.request());
        loops.spawn(async move { host.call(request).await.code });
    }
    tokio::task::yield_now().await;
    let began = Instant::now();
    let reply = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed);
    assert!(began.elapsed() < Duration::from_secs(2), "the good call took {:?}", began.elapsed());
    assert!(loops.try_join_next().is_none(), "the good call ended before the loops");
    assert!(loops.join_all().await.iter().all(|code| *code == Code::Limit(LimitKind::Time)));
    attack.leaves_no_trace(&host).await;
}

/// With more calls than run slots, each call waits for a slot. A call that waits longer than its time limit is
/// rejected.
async fn a_call_without_a_place_is_told_so(contract: Contract) {
    let attack = Attack::by(contract, "sleep_in_execute").within(Duration::from_millis(400));
    let host = attack.site().builder(&attack.policy()).calls(1).open().await.unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..12 {
        let (host, request) = (host.clone(), attack.request());
        calls.spawn(async move { host.call(request).await.code });
    }
    let codes = calls.join_all().await;
    assert!(codes.contains(&Code::Limit(LimitKind::Time)), "{codes:?}");
    assert!(codes.contains(&Code::Busy), "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Code::Busy | Code::Limit(LimitKind::Time))), "{codes:?}");
    attack.leaves_no_trace(&host).await;
}

in_every_contract! {
    tokio::test(flavor = "current_thread") =>
        a_loop_does_not_starve_the_only_thread;
    tokio::test(flavor = "multi_thread", worker_threads = 2) =>
        eight_loops_on_two_workers_leave_room_for_a_good_call;
    tokio::test =>
        a_call_without_a_place_is_told_so;
}
