//! Guests that never come back, wherever they are called.

use portcullis::{Code, LimitKind};
use portcullis_tests::Attack;
use std::time::Duration;

#[tokio::test]
pub(crate) async fn loop_in_execute() {
    Attack::by("loop_in_execute").within(Duration::from_millis(500)).ends(Code::Limit(LimitKind::Time)).await;
}
#[tokio::test]
pub(crate) async fn good() {
    Attack::by("clock_storm").within(Duration::from_millis(500)).ends(Code::Limit(LimitKind::Time)).await;
}
