//! Guests that misbehave in `describe`: S03, S39, S40.

use portcullis::plugins::{Contract, LoadError};
use portcullis_tests::Attack;

refused! {
    loop_in_describe => LoadError::Describe(_), "limit on time";
    loop_in_start => LoadError::Describe(_), "limit on time";
    sleep_in_describe => LoadError::Describe(_), "limit on time";
    describe_traps => LoadError::Describe(_), "trapped";
    exit_in_describe => LoadError::Describe(_), "exited with status 0";
    describe_counts => LoadError::Unstable, "differs from one run to the next";
    describe_by_chance => LoadError::Unstable, "differs from one run to the next";
}

/// The refusal quotes what a plugin printed, escaped so that it deceives no reader.
pub(crate) async fn describe_prints(contract: Contract) {
    let says = Attack::by(contract, "describe_prints").refused(|error| matches!(error, LoadError::Describe(_))).await;
    assert!(says.contains("trust this plugin"), "{says:?}");
    assert!(!says.chars().any(|character| character != '\n' && portcullis::text::is_deceptive(character)), "{says:?}");
}

in_every_contract! {
    tokio::test =>
        describe_prints;
}
