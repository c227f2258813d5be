//! Guests that never return, in any exported function: S01, S02, S04, S05, S07, S23.

use portcullis::plugins::Contract;
use portcullis::{Cancellation, Code, LimitKind};
use portcullis_tests::Attack;
use std::time::Duration;

/// The time limit in these tests: long enough to start, short enough for a test.
const TIME: Duration = Duration::from_millis(500);

macro_rules! end_in_time {
    ($($guest:ident)+) => {$(
        in_every_contract! { tokio::test => $guest; }

        pub(crate) async fn $guest(contract: Contract) {
            let reply = Attack::by(contract, stringify!($guest)).within(TIME).ends(Code::Limit(LimitKind::Time)).await;
            assert!(reply.usage.run.wall >= TIME, "it was stopped early, after {:?}", reply.usage.run.wall);
        }
    )+};
}

end_in_time! {
    loop_in_execute
    loop_in_realloc
    loop_in_post_return
    sleep_in_execute
    clock_storm
    bulk_fill
}

/// The time limit applies before a guest is instantiated. In `describe` the guest does not loop. A call that is
/// cancelled before it begins makes the guest loop in its start function.
pub(crate) async fn loop_in_start_of_a_call(contract: Contract) {
    let attack = Attack::by(contract, "loop_in_start_of_a_call").within(TIME);
    let host = attack.open().await;
    assert_eq!(attack.call(&host).await.code, Code::Completed);
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let reply = host.call(attack.request().cancellation(cancellation)).await;
    assert_eq!(reply.code, Code::Cancelled);
    assert!(reply.usage.run.wall < TIME, "the grace period ended it: {:?}", reply.usage.run.wall);
    attack.leaves_no_trace(&host).await;
}

/// Time in the host counts as wall-clock time and not as CPU time. Time in the guest counts as both.
async fn a_sleeping_guest_costs_no_cpu_time(contract: Contract) {
    let sleeping = Attack::by(contract, "sleep_in_execute").within(TIME).ends(Code::Limit(LimitKind::Time)).await;
    assert!(sleeping.usage.run.cpu < TIME / 5, "{:?}", sleeping.usage.run.cpu);
    let looping = Attack::by(contract, "loop_in_execute").within(TIME).ends(Code::Limit(LimitKind::Time)).await;
    assert!(looping.usage.run.cpu > TIME / 10, "{:?}", looping.usage.run.cpu);
}

in_every_contract! {
    tokio::test =>
        loop_in_start_of_a_call
        a_sleeping_guest_costs_no_cpu_time;
}
