//! What a guest can do after its call is cancelled, with and without a grace period.

use super::rig::{Rig, Run};
use super::text::pieces;
use portcullis_sandbox::{Cancellation, Stop};
use serde_json::json;

/// Repetitions of a measurement, of which the lowest counts, because a busy machine can increase it.
const TRIES: usize = 5;

/// Minimum ratio between a guest with a grace period and one without. The grace period is twenty ticks.
const FACTOR: usize = 4;

/// Returns how often a guest writes after its call was cancelled at its first piece.
async fn pieces_after(cancel: impl Fn(&Cancellation, usize) + Send + Sync + 'static) -> usize {
    let rig = Rig::new();
    let cancellation = rig.cancellation.clone();
    let on_piece = move |number| {
        cancel(&cancellation, number);
        Ok(())
    };
    let run = rig.on_piece(on_piece).run("ticks", &json!({})).await;
    assert_eq!(run.stop(), &Stop::Cancelled);
    run.taker.told().pieces.len() - 1
}

async fn fewest_after(cancel: impl Fn(&Cancellation, usize) + Clone + Send + Sync + 'static) -> usize {
    let mut fewest = usize::MAX;
    for _ in 0..TRIES {
        fewest = fewest.min(pieces_after(cancel.clone()).await);
    }
    fewest
}

#[tokio::test]
async fn without_a_grace_period_a_guest_does_much_less() {
    let with_grace = pieces_after(|cancellation, _| cancellation.cancel()).await;
    let at_once = fewest_after(|cancellation, _| cancellation.cancel_at_once()).await;
    assert!(at_once * FACTOR < with_grace, "{at_once} pieces at once, {with_grace} with grace");
}

#[tokio::test]
async fn a_grace_period_can_be_revoked() {
    let with_grace = pieces_after(|cancellation, _| cancellation.cancel()).await;
    let taken_back = fewest_after(|cancellation, number| match number {
        1 => cancellation.cancel(),
        _ => cancellation.cancel_at_once(),
    })
    .await;
    assert!(taken_back * FACTOR < with_grace, "{taken_back} pieces, {with_grace} with grace");
}

/// Cancels at the first piece. The guest never ends by itself.
async fn stopped_at_once(then: &str) -> Run {
    let rig = Rig::new();
    let cancellation = rig.cancellation.clone();
    let cancel = move |_| {
        cancellation.cancel_at_once();
        Ok(())
    };
    rig.on_piece(cancel).run("pieces", &pieces(&[b"begun"], &json!(then))).await
}

#[tokio::test]
async fn a_guest_that_computes_or_waits_is_stopped_and_its_text_is_kept() {
    for then in ["compute", "wait"] {
        let run = stopped_at_once(then).await;
        assert_eq!(run.stop(), &Stop::Cancelled, "{then}");
        run.had_written("begun");
    }
}

#[tokio::test]
async fn a_cancellation_that_follows_others_adopts_their_grace() {
    let (own, batch, either) = (Cancellation::new(), Cancellation::new(), Cancellation::new());
    let mut rig = Rig::new();
    rig.cancellation = either.clone();
    let cancel = batch.clone();
    let running = rig.on_piece(move |_| {
        cancel.cancel_at_once();
        Ok(())
    });
    let arguments = pieces(&[b"begun"], &json!("wait"));
    let run = tokio::select! {
        biased;
        run = running.run("pieces", &arguments) => run,
        _ = async { tokio::join!(either.follow(&own), either.follow(&batch)) } => panic!("the first was not cancelled"),
    };
    assert_eq!(run.stop(), &Stop::Cancelled);
}
