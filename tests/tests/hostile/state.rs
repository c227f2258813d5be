//! Guests that look for data of an earlier call: S32, S33.

use portcullis::plugins::Contract;
use portcullis::{Code, Request};
use portcullis_tests::Attack;

/// A well-behaved guest, which shows that the frame of all others works.
pub(crate) async fn good(contract: Contract) {
    Attack::by(contract, "good").arguments(r#"{"a":[1,null,"x"]}"#).ends(Code::Completed).await;
}

/// Globals, memory and tables are new in every call, also if the pool reuses a slot.
pub(crate) async fn state_between_calls(contract: Contract) {
    let attack = Attack::by(contract, "state_between_calls");
    let host = attack.open().await;
    for _ in 0..32 {
        assert_eq!(attack.call(&host).await.message, "100");
    }
}

/// A call after a trap works like the first.
pub(crate) async fn trap_on_demand(contract: Contract) {
    let attack = Attack::by(contract, "trap_on_demand");
    let host = attack.open().await;
    for _ in 0..8 {
        let broken = host.call(Request::new("trap-on-demand.run", r#"{"break":true}"#)).await;
        assert_eq!(broken.code, Code::Trapped);
        assert_eq!(attack.call(&host).await.message, "1");
    }
    attack.leaves_no_trace(&host).await;
}

in_every_contract! {
    tokio::test =>
        good
        state_between_calls
        trap_on_demand;
}
