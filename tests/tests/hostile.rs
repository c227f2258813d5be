//! Hostile guests, one per limit and per attack. If a guest in `guests/` has no test with its name, the program does
//! not compile.
//!
//! `Attack` contains the assertions for every attack: the outcome, the time, one complete and valid audit record, and a
//! good plugin that still works on the same host.

#![allow(clippy::disallowed_methods, reason = "tests make the files that a host has to withstand")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

/// Each of these is one test per version of the contract, because an attack must have the same outcome in all of them.
macro_rules! in_every_contract {
    ($($test:meta => $($name:ident)+;)+) => {$($(
        mod $name {
            use portcullis::plugins::Contract;

            #[$test]
            async fn v0_1() {
                super::$name(Contract::V0_1).await;
            }

            #[$test]
            async fn v0_2() {
                super::$name(Contract::V0_2).await;
            }
        }
    )+)+};
}

/// A call of this guest ends with this code.
macro_rules! ends {
    ($($(#[$attribute:meta])* $guest:ident => $code:expr;)+) => {$(
        in_every_contract! { tokio::test => $guest; }

        $(#[$attribute])*
        pub(crate) async fn $guest(contract: portcullis::plugins::Contract) {
            portcullis_tests::Attack::by(contract, stringify!($guest)).ends($code).await;
        }
    )+};
}

/// This guest is refused at load with this error and text.
macro_rules! refused {
    ($($(#[$attribute:meta])* $guest:ident => $reason:pat, $says:literal;)+) => {$(
        in_every_contract! { tokio::test => $guest; }

        $(#[$attribute])*
        pub(crate) async fn $guest(contract: portcullis::plugins::Contract) {
            let attack = portcullis_tests::Attack::by(contract, stringify!($guest));
            let says = attack.refused(|error| matches!(error, $reason)).await;
            assert!(says.contains($says), "{says}");
        }
    )+};
}

#[path = "hostile/review.rs"]
mod review;

#[path = "hostile/time.rs"]
mod time;

#[path = "hostile/fairness.rs"]
mod fairness;

#[path = "hostile/memory.rs"]
mod memory;

#[path = "hostile/handles.rs"]
mod handles;

#[path = "hostile/answers.rs"]
mod answers;

#[path = "hostile/output.rs"]
mod output;

#[path = "hostile/words.rs"]
mod words;

#[path = "hostile/state.rs"]
mod state;

#[path = "hostile/cancel.rs"]
mod cancel;

#[path = "hostile/describe.rs"]
mod describe;

#[path = "hostile/manifests.rs"]
mod manifests;

#[path = "hostile/imports.rs"]
mod imports;

#[path = "hostile/files.rs"]
mod files;

#[path = "hostile/compile.rs"]
mod compile;

/// Every guest has a test with its name.
mod complete {
    use crate::hostile::review::*;
    use crate::hostile::words::*;
    use crate::hostile::{
        answers::*, cancel::*, describe::*, handles::*, imports::*, memory::*, output::*, state::*, time::*,
    };

    macro_rules! assert_tested {
        ($guest:ident) => {
            #[allow(unused_imports, reason = "only its existence matters")]
            use self::$guest as _;
        };
    }
    portcullis_tests::foreach_guest!(assert_tested);
}
